"""Weights & Biases: the recipe as config, curves and heads as metrics, alarms as alerts.

In:   what happens in a run.
Out:  a run of W&B in the project WANDB_PROJECT ("glassformer"); files are in the folder `wandb` of the run.
      WANDB_MODE=offline sends nothing, `wandb sync` does so later. A resumed run goes on in the same one.
"""

import os
import secrets
from collections.abc import Mapping
from typing import Any

from glassformer.runlog import ALARM, Event
from glassformer.training.callbacks.callback import CALLBACKS, Callback, HeadMaps, Rows, RunStart

PROJECT = "glassformer"
FAILED = 1  # exit codes
STEP = "step"  # W&B's own step must never go back, as ours does in a resumed run


@CALLBACKS.register("wandb")
class WeightsAndBiases(Callback):
    """Writes to W&B."""

    def __init__(self) -> None:
        import wandb

        self._wandb: Any = wandb
        self._code = FAILED

    def on_start(self, run: RunStart) -> None:
        identity = run.recall("wandb")
        if identity is None:
            identity = secrets.token_hex(4)
            run.remember("wandb", identity)
        self.run = self._wandb.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=run.name,
            id=identity,
            resume="allow",
            dir=str(run.folder.resolve()),
            config={**run.settings, "environment": dict(run.environment)},
            settings=self._wandb.Settings(console="off", silent=True),
        )
        self.run.define_metric("*", step_metric=STEP)

    def on_steps(self, rows: Rows) -> None:
        for step, numbers in rows:
            self.run.log({STEP: step} | {name: value for name, value in numbers.items() if name != "time"})

    def on_heads(self, step: int, maps: HeadMaps) -> None:
        numbers = {
            f"{name}/{place.address}.{head}": value
            for place, statistics in maps.items()
            for name, values in statistics.items()
            for head, value in enumerate(values)
        }
        self.run.log({STEP: step} | numbers)

    def on_evaluation(self, step: int, split: str, scores: Mapping[str, float]) -> None:
        self.run.log({STEP: step} | {f"{split}_{name}": score for name, score in scores.items()})

    def on_event(self, event: Event) -> None:
        if event.kind == ALARM:
            self.run.alert(event.topic, f"Step {event.step}: {event.message}")
        elif event.kind in ("finished", "stopped"):
            self._code = 0

    def on_end(self) -> None:
        self.run.finish(exit_code=self._code)
