"""MLflow: the recipe as parameters, curves and heads as metrics, alarms as tags.

In:   what happens in a run.
Out:  a run of MLflow in the experiment MLFLOW_EXPERIMENT_NAME ("glassformer") of MLFLOW_TRACKING_URI. A
      resumed run goes on in the same one.
"""

import os
import re
import time
from collections.abc import Mapping
from posixpath import normpath
from typing import Any

from glassformer.runlog import Event
from glassformer.text.sequences import in_chunks
from glassformer.training.callbacks.callback import CALLBACKS, Callback, HeadMaps, Rows, RunStart

EXPERIMENT = "glassformer"
METRICS, PARAMETERS = 1000, 100  # that one request may have
LONGEST_VALUE = 6000  # characters of a parameter or a tag
REFUSED = re.compile(r"[^\w.\- /]")  # characters in the name of a metric
STATUS = {"finished": "FINISHED", "stopped": "KILLED"}  # what else ends a run is a failure


@CALLBACKS.register("mlflow")
class MLflow(Callback):
    """Writes to a server or a store of MLflow."""

    def __init__(self) -> None:
        import mlflow

        self._mlflow: Any = mlflow
        self._status = "FAILED"

    def on_start(self, run: RunStart) -> None:
        entities = self._mlflow.entities
        self.client = self._mlflow.MlflowClient()
        known = run.recall("mlflow")
        if known is not None:
            self.run = known
            self.client.update_run(known, status="RUNNING")
            return
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", EXPERIMENT)
        experiment = self.client.get_experiment_by_name(name)
        identity = self.client.create_experiment(name) if experiment is None else experiment.experiment_id
        self.run = self.client.create_run(identity, run_name=run.name).info.run_id
        run.remember("mlflow", self.run)
        settings = {**run.settings, **{f"environment.{key}": each for key, each in run.environment.items()}}
        parameters = [entities.Param(key, str(each)[:LONGEST_VALUE]) for key, each in settings.items()]
        for chunk in in_chunks(iter(parameters), PARAMETERS):
            self.client.log_batch(self.run, params=chunk)

    def on_steps(self, rows: Rows) -> None:
        self._log(
            (name, value, step, numbers["time"])
            for step, numbers in rows
            for name, value in numbers.items()
            if name != "time"
        )

    def on_heads(self, step: int, maps: HeadMaps) -> None:
        now = time.time()
        self._log(
            (f"{name}/{place.address}.{head}", value, step, now)
            for place, statistics in maps.items()
            for name, values in statistics.items()
            for head, value in enumerate(values)
        )

    def on_evaluation(self, step: int, split: str, scores: Mapping[str, float]) -> None:
        now = time.time()
        self._log((f"{split}_{name}", score, step, now) for name, score in scores.items())

    def on_event(self, event: Event) -> None:
        self._status = STATUS.get(event.kind, self._status)
        if event.alarm is not None:
            text = f"{event.kind}, step {event.step}: {event.message}"
            self.client.set_tag(self.run, f"alarm.{event.alarm['cause']}", text[:LONGEST_VALUE])

    def on_end(self) -> None:
        self.client.set_terminated(self.run, self._status)

    def _log(self, numbers: Any) -> None:
        """Name, value, step and time of each number."""
        metric = self._mlflow.entities.Metric
        for chunk in in_chunks(numbers, METRICS):
            metrics = [
                metric(clean_name(name), value, int(1000 * moment), step)
                for name, value, step, moment in chunk
            ]
            self.client.log_batch(self.run, metrics=metrics)


def clean_name(name: str) -> str:
    """A name that MLflow takes, `f1.PRP_x24` for `f1.PRP$`: the code of a character keeps names different."""
    name = REFUSED.sub(lambda found: f"_x{ord(found.group()):x}", name)
    return name if normpath(name) == name else name.replace("/", "_x2f")  # it is a path, too
