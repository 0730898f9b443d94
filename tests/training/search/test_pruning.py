"""What ends a trial early."""

from pathlib import Path

import pytest

from glassformer.runlog import read_run
from training.search.searching import RATE, SHORT, look


@pytest.mark.slow
def test_an_alarm_prunes_and_the_recipe_is_never_pruned(recipe: Path) -> None:
    overrides = SHORT | {"monitor.every": 1, "train.steps": 8, "monitor.collapse": 1.0}  # every head is one
    found = look(
        recipe,
        RATE | {"trials": 3, "pruner": "none", "prune_on": ["collapsed_heads"]},
        overrides=overrides,
    )
    own, *others = found.trials
    assert own.state == "complete"
    assert {trial.state for trial in others} == {"pruned"}
    for trial in others:
        assert trial.reason.code == "training.search.pruned_by_alarm"
        log = read_run(recipe.parent / "runs" / f"s-{trial.number:03d}")
        assert log.state == "stopped"
        assert log.last_step < 8
        assert any(alarm.cause == "collapsed_heads" for alarm in log.alarms)


@pytest.mark.slow
def test_a_divergence_prunes(recipe: Path) -> None:
    space = {"train.rate": [5e-3, 1e30], "train.clip": [0.0, 1.0], "trials": 4, "pruner": "none"}
    found = look(recipe, space, overrides=SHORT | {"train.warmup": 0, "train.schedule": "constant"})
    wild = [trial for trial in found.trials if trial.parameters["train.rate"] == 1e30]
    assert wild
    assert {trial.state for trial in wild} == {"pruned"}


@pytest.mark.slow
def test_halving_ends_what_is_behind(recipe: Path) -> None:
    rates = {"train.rate": [5e-3, 1e-7, 2e-7, 3e-7, 4e-7]}
    found = look(recipe, rates | {"trials": 5, "sampler": "random"})
    pruned = [trial for trial in found.trials if trial.state == "pruned"]
    assert pruned
    for trial in pruned:
        assert trial.reason.code == "training.search.pruned"
        assert read_run(recipe.parent / "runs" / f"s-{trial.number:03d}").last_step < 6
