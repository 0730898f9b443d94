"""Searches with tiny networks: what they find, and that a kill loses nothing."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import glassformer as gf
from glassformer.engine.local import LocalEngine
from glassformer.errors import TrainingError
from glassformer.runlog.search import find_searches, read_search
from training.search.searching import HEADS, RATE, SHORT, check_whole, look


def test_a_search_is_trained_recorded_and_read_again(recipe: Path) -> None:
    with LocalEngine(2) as engine:
        found = look(recipe, HEADS | RATE | {"trials": 5, "seeds": 2, "confirm": 2}, engine=engine)
    runs = recipe.parent / "runs"
    assert found.state == "finished"
    check_whole(found, runs)
    assert found.baseline is not None
    assert found.baseline.parameters == {"model.heads": 2, "train.rate": 5e-3}
    assert found.baseline.state == "complete"
    assert found.best is not None
    best = found.best.estimate("loss")
    assert best is not None
    assert best.half is not None
    assert best.count == 2
    assert best.mean == min(trial.estimate("loss").mean for trial in found.complete)
    for trial in found.trials:
        if trial.state == "infeasible":
            assert trial.parameters["model.heads"] == 3
            assert trial.reason.code == "config.uneven_heads"
            assert not trial.runs
    again = read_search("s", runs)
    assert again.rows() == found.rows()
    assert again.confirmed == found.confirmed
    assert find_searches(runs) == (runs / "s",)
    assert {run.seed for each in found.confirmed for run in each.runs} == {3, 4}
    assert len(found.frame) == len(found.trials)
    names = {"loss", "parameters", "seconds", "tokens"}
    assert set(found.gains) == (set() if found.best.baseline else names)
    # the recipe of a trial trains the same network
    number = found.best.number
    copy = gf.train(
        runs / "s" / "recipes" / f"{number:03d}.toml", SHORT, runs=recipe.parent / "again", silent=True
    )
    assert copy.score == found.best.runs[0].values["loss"]


def test_the_same_search_gives_the_same_trials(recipe: Path) -> None:
    space = RATE | {"model.width": [8, 16], "trials": 4, "pruner": "none"}
    first, second = (look(recipe, space, name=name) for name in "ab")
    described = [
        [(trial.parameters, trial.estimate("loss")) for trial in log.trials] for log in (first, second)
    ]
    assert described[0] == described[1]


def test_a_grid_is_every_configuration_once(recipe: Path) -> None:
    space = {"model.heads": [1, 2, 3], "model.layers": {"low": 1, "high": 2, "step": 1}}
    found = look(recipe, space | {"sampler": "grid", "trials": 50, "pruner": "none"})
    trained = [
        (trial.parameters["model.heads"], trial.parameters["model.layers"]) for trial in found.complete
    ]
    assert sorted(trained) == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert found.state == "finished"


def test_a_search_is_resumed_on_purpose_only(recipe: Path) -> None:
    found = look(recipe, HEADS | {"trials": 2})
    with pytest.raises(TrainingError) as error:
        look(recipe, HEADS | {"trials": 2})
    assert error.value.message.code == "training.search.exists"
    with pytest.raises(TrainingError) as error:
        look(recipe, {"model.heads": [1, 2]}, resume=True)
    assert error.value.message.code == "training.search.changed"
    with pytest.raises(TrainingError) as error:
        look(recipe, HEADS, resume=True, name="t")
    assert error.value.message.code == "training.search.none"
    more = look(None, {"trials": 3}, resume=True, runs=recipe.parent / "runs", overrides=())
    check_whole(more, recipe.parent / "runs")
    assert more.trials[: len(found.trials)] == found.trials


PROGRAM = """
import sys
from pathlib import Path
from glassformer.training.search.search import search
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    resume = (folder / "runs" / "s" / "search.json").is_file()
    search(
        None if resume else folder / "tiny.toml",
        {"model.heads": [1, 2, 4], "train.rate": {"low": 1e-4, "high": 1e-1, "log": True},
         "trials": 6, "seeds": 2, "confirm": 2, "pruner": "none"},
        overrides={"train.steps": 60, "train.evaluate_every": 20, "train.save_every": 5, "monitor.every": 0},
        resume=resume, name="s", runs=folder / "runs", jobs=2, silent=True,
    )
"""


@pytest.mark.slow
def test_kills_lose_and_double_nothing(recipe: Path) -> None:
    """Killed with -9 again and again, at any moment; at the end the trials are whole."""
    folder, draw = recipe.parent, random.Random(7)
    kills = 0
    while True:
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder)])
        limit = draw.uniform(2.0, 6.0) if kills < 5 else 300.0
        try:
            assert process.wait(limit) == 0
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    found = read_search("s", folder / "runs")
    assert kills >= 3
    assert found.state == "finished"
    check_whole(found, folder / "runs")
    assert len(found.confirmed) == (1 if found.best.baseline else 2)
