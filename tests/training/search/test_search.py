"""Searches with tiny networks: what they find, and that a kill loses nothing."""

import itertools
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import glassformer as gf
from campaigns import rounds
from forking import CONTEXT, fork_starts
from glassformer.engine import Result
from glassformer.engine.local import LocalEngine
from glassformer.errors import TrainingError
from glassformer.messages import message
from glassformer.runlog.search import TrialRun, find_searches, read_search
from glassformer.tasks.scores import SCORES
from glassformer.training.recipe import read_recipe
from glassformer.training.search import search as searches
from glassformer.training.search.search import search
from glassformer.training.search.trial import TrialOutcome, TrialTask
from training.search.searching import HEADS, RATE, SHORT, check_whole, look


@pytest.mark.slow
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
    for trial in found.complete:  # ended: nothing continues from here, but its best model opens
        folder = runs / trial.runs[0].run
        assert not list(folder.glob("checkpoints/*/training.*"))
        assert gf.load(folder / "best")
        assert gf.load(folder / "last")
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


@pytest.mark.slow
def test_the_same_search_gives_the_same_trials(recipe: Path) -> None:
    space = RATE | {"model.width": [8, 16], "trials": 4, "pruner": "none"}
    first, second = (look(recipe, space, name=name) for name in "ab")
    described = [
        [(trial.parameters, trial.estimate("loss")) for trial in log.trials] for log in (first, second)
    ]
    assert described[0] == described[1]


@pytest.mark.slow
def test_a_grid_is_every_configuration_once(recipe: Path) -> None:
    space = {"model.heads": [1, 2, 3], "model.layers": {"low": 1, "high": 2, "step": 1}}
    found = look(recipe, space | {"sampler": "grid", "trials": 50, "pruner": "none", "keep_states": True})
    trained = [
        (trial.parameters["model.heads"], trial.parameters["model.layers"]) for trial in found.complete
    ]
    assert sorted(trained) == [(1, 1), (1, 2), (2, 1), (2, 2)]
    run = recipe.parent / "runs" / found.complete[0].runs[0].run
    assert list(run.glob("checkpoints/*/training.safetensors"))
    assert found.state == "finished"


@pytest.mark.slow
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
    with pytest.raises(TrainingError) as error:
        look(recipe, HEADS, resume=True, overrides=SHORT | {"train.steps": 8})
    assert error.value.message.code == "training.search.changed"
    assert error.value.message.parameters["names"] == ("train.steps",)
    more = look(None, {"trials": 3}, resume=True, runs=recipe.parent / "runs", overrides=())
    check_whole(more, recipe.parent / "runs")
    assert more.trials[: len(found.trials)] == found.trials


class Told:
    """An engine that trains nothing: every run of the search ends well, every confirming one diverges."""

    slots, cpus, gpus = 1, 1, 0.0

    def __init__(self, diverging: str) -> None:
        self.diverging = diverging
        self.tasks: dict[str, TrialTask] = {}
        self.seen: list[tuple[str, ...]] = []

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self.tasks)

    def submit(self, key: str, _call: Any, task: TrialTask, *, resources: Any) -> None:
        self.tasks[key] = task
        self.seen.append(tuple(name for name, _ in task.seeds))
        self.idle = 3

    def wait(self, seconds: float | None = None) -> Result | None:
        self.idle -= 1
        if seconds is not None and self.idle:
            return None
        key, task = next(iter(self.tasks.items()))
        del self.tasks[key]
        if key.startswith(self.diverging):
            return Result(key, TrialOutcome((), pruned=message("training.search.same_objectives")))
        values = {"loss": 1.0 + task.number}
        return Result(key, TrialOutcome(tuple(TrialRun(name, seed, 6, values) for name, seed in task.seeds)))


def test_a_diverged_confirming_run_is_an_outcome(recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "read_run", lambda _: SimpleNamespace(last_step=4))
    found = look(recipe, HEADS | {"trials": 2, "confirm": 2}, engine=Told("confirmed"))
    assert found.state == "finished"
    (confirmed,) = found.confirmed  # the recipe's own is the best
    assert [(run.step, dict(run.values)) for run in confirmed.runs] == [(4, {}), (4, {})]
    assert confirmed.estimates() == {}


def test_a_configuration_that_diverges_with_another_seed_is_not_the_best(
    recipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "read_run", lambda _: SimpleNamespace(last_step=4))
    found = look(recipe, HEADS | {"trials": 3, "confirm": 1}, engine=Told("confirmed 0"))
    assert found.baseline.number == 0
    assert [each.trial for each in found.unstable] == [0]
    assert found.best.number == min(trial.number for trial in found.complete if trial.number)
    assert [trial.number for trial in found.pareto] == [found.best.number]
    assert [each.trial for each in found.confirmed] == [found.best.number, 0]
    again = read_search("s", recipe.parent / "runs")
    assert (again.best, again.unstable) == (found.best, found.unstable)


def test_a_diverged_baseline_is_not_confirmed(recipe: Path) -> None:
    engine = Told("s trial 0")
    found = look(recipe, HEADS | {"trials": 2, "confirm": 2}, engine=engine)
    assert found.state == "finished"
    assert found.baseline.state == "pruned"
    assert [each.trial for each in found.confirmed] == [found.best.number]
    assert ("s-000-seed2",) not in engine.seen


def test_search_json_is_written_when_something_has_changed(
    recipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Any] = []
    write = searches.write_search
    monkeypatch.setattr(
        searches,
        "write_search",
        lambda log: (written.append((log.own, log.trials, log.finished)), write(log)),
    )
    look(recipe, HEADS | {"trials": 2}, engine=Told("none"))
    assert len(written) > 3
    assert not [True for before, after in itertools.pairwise(written) if before == after]


def test_a_recipe_with_plugins_is_searched(recipe: Path) -> None:
    (recipe.parent / "lowest_score.py").write_text(
        "from glassformer.tasks.scores import own_score\n"
        "@own_score('search_lowest', best='lowest')\n"
        "def compute(*_):\n    return 0.0\n"
    )
    recipe.write_text('plugins = ["lowest_score.py"]\n' + recipe.read_text())
    space = HEADS | {"trials": 1, "objectives": ["score", "search_lowest"]}
    with pytest.raises(KeyError, match="trained"):
        look(recipe, space, engine=Unwilling())
    saved = read_search("s", recipe.parent / "runs")
    assert [each.direction for each in saved.objectives] == ["minimize", "minimize"]
    SCORES.discard("search_lowest")
    trial = read_recipe(recipe.parent / "runs" / "s" / "recipes" / "000.toml")
    assert trial.tables["plugins"]["files"] == [str(recipe.parent / "lowest_score.py")]


class Unwilling(Told):
    def __init__(self) -> None:
        super().__init__("none")

    def submit(self, key: str, _call: Any, task: TrialTask, *, resources: Any) -> None:
        raise KeyError("trained")


def search_on(folder: Path) -> None:
    """Begin a search, or go on with it, in a process of its own."""
    resume = (folder / "runs" / "s" / "search.json").is_file()
    with fork_starts(here=True):
        search(
            None if resume else folder / "tiny.toml",
            {
                "model.heads": [1, 2, 4],
                "train.rate": {"low": 1e-4, "high": 1e-1, "log": True},
                "trials": 6,
                "seeds": 2,
                "confirm": 2,
                "pruner": "none",
            },
            overrides={
                "train.steps": rounds(20, 60),
                "train.evaluate_every": rounds(10, 20),
                "train.save_every": 5,
                "monitor.every": 0,
            },
            resume=resume,
            name="s",
            runs=folder / "runs",
            jobs=2,
            silent=True,
        )


@pytest.mark.long
@pytest.mark.first
def test_kills_lose_and_double_nothing(recipe: Path) -> None:
    """Killed with -9 again and again, at any moment; at the end the trials are whole."""
    folder, draw = recipe.parent, random.Random(7)
    kills, most = 0, rounds(2, 20)
    while True:
        process = CONTEXT.Process(target=search_on, args=(folder,))
        process.start()
        process.join(draw.uniform(0.3, 2.5) if kills < most else 300.0)
        if process.exitcode is not None:
            assert process.exitcode == 0
            break
        process.kill()
        process.join()
        kills += 1
    found = read_search("s", folder / "runs")
    assert kills >= most / 2
    assert found.state == "finished"
    check_whole(found, folder / "runs")
    assert len(found.confirmed) == (1 if found.best.baseline else 2)
