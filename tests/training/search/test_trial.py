"""What a trial measures, and that it survives its process."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from glassformer.engine.local import LocalEngine
from glassformer.runlog import read_run
from glassformer.training.search.trial import count_seconds
from training.search.searching import look


def test_several_objectives_have_a_front(recipe: Path) -> None:
    space = {"model.width": [4, 8, 16, 32], "model.layers": [1, 2], "trials": 6}
    found = look(recipe, space | {"objectives": ["score", "parameters", "seconds", "tokens"]})
    assert [each.name for each in found.objectives] == ["loss", "parameters", "seconds", "tokens"]
    for trial in found.complete:
        log = read_run(recipe.parent / "runs" / trial.runs[0].run)
        assert trial.runs[0].values["parameters"] == log.environment["parameters"]
        assert trial.runs[0].values["tokens"] == log.scalars["tokens"].values[-1]
        assert trial.runs[0].values["seconds"] == count_seconds(log) > 0
    front = found.pareto
    assert found.best.number in {trial.number for trial in front}

    def values(trial: Any) -> list[float]:
        return [trial.estimate(each.name).mean for each in found.objectives]  # all are to be low

    for trial in found.complete:
        beaten = any(
            values(other) != values(trial)
            and all(a <= b for a, b in zip(values(other), values(trial), strict=True))
            for other in found.complete
        )
        assert beaten == (trial not in front)


@pytest.mark.slow
def test_a_lost_worker_changes_nothing(recipe: Path) -> None:
    """A worker is killed in the middle of a trial: the trial goes on in another one, with the same losses."""
    space = {"model.heads": [2, 4], "trials": 2, "pruner": "none"}
    steps = {"train.steps": 40, "train.evaluate_every": 20, "train.save_every": 5, "monitor.every": 0}
    expected = look(recipe, space, name="calm", overrides=steps)

    class Killing(LocalEngine):
        killed = 0

        def wait(self, seconds: float | None = None) -> Any:
            for key, process in self.processes.items():
                last = recipe.parent / "runs" / f"s-{key.split()[-1].zfill(3)}" / "last"
                if self.killed < 2 and last.exists():
                    os.kill(process, signal.SIGKILL)
                    self.killed += 1
            return super().wait(min(seconds or 0.05, 0.05))

    with Killing(1) as engine:
        found = look(recipe, space, overrides=steps, engine=engine)
        assert engine.killed == 2
    assert [trial.estimate("loss") for trial in found.trials] == [
        trial.estimate("loss") for trial in expected.trials
    ]
