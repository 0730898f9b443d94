"""Searches with tiny networks, for several tests."""

from pathlib import Path
from typing import Any

import pytest

from glassformer.engine.local import LocalEngine
from glassformer.runlog import find_runs, read_run
from glassformer.runlog.search import SearchLog
from glassformer.training.search.search import search

pytest.importorskip("optuna", reason="the extra `search` is not installed")

HEADS = {"model.heads": [1, 2, 3, 4]}
RATE = {"train.rate": {"low": 1e-4, "high": 1e-1, "log": True}}
SHORT = {"train.steps": 6, "train.evaluate_every": 2, "train.save_every": 2, "monitor.every": 0}


engine = LocalEngine(1)  # one for all tests: its process has imported torch


def look(recipe: Path | None, space: dict[str, Any], **options: Any) -> SearchLog:
    usual = {"overrides": SHORT, "name": "s", "silent": True, "engine": engine}
    if recipe is not None:
        usual["runs"] = recipe.parent / "runs"
    return search(recipe, space, **(usual | options))


def check_whole(found: SearchLog, runs: Path) -> None:
    """No trial lost, none doubled; each value is that of its run."""
    numbers = [trial.number for trial in found.trials]
    assert numbers == sorted(set(numbers))
    counted = [trial for trial in found.trials if trial.state != "infeasible"]
    assert len(counted) == found.wanted
    named = [run.run for trial in found.trials for run in trial.runs]
    named += [run.run for each in found.confirmed for run in each.runs]
    assert len(named) == len(set(named))
    assert sorted(named) == sorted(path.name for path in find_runs(runs))
    for trial in found.complete:
        for run in trial.runs:
            log = read_run(runs / run.run)
            assert log.state == "finished"
            assert log.settings["train.seed"] == run.seed
            for name, value in trial.parameters.items():
                assert log.settings[name] == value
            assert run.values["loss"] == min(log.scalars["dev_loss"].values)
            assert len(log.scalars["loss"]) == log.last_step  # every step once
