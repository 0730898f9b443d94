"""What a trial measures, and that it survives its process."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from engine import tasks
from glassformer.errors import TrainingError
from glassformer.runlog import is_run, read_run
from glassformer.settings import write_toml
from glassformer.training.recipe import locked, train
from glassformer.training.search import trial as trials
from glassformer.training.search.trial import TrialTask, count_seconds, run_trial
from training.search.searching import HEADS, SHORT, look


@pytest.mark.slow
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


def make_task(recipe: Path) -> TrialTask:
    runs = recipe.parent / "runs"
    return TrialTask(runs / "s", "s", 0, recipe, runs, (("s-000", 1),), ("loss",), None)


@pytest.mark.slow
def test_a_run_of_other_settings_is_not_taken_for_a_trial(recipe: Path) -> None:
    task = make_task(recipe)
    train(recipe, {**SHORT, "train.rate": 0.5}, name="s-000", runs=task.runs, silent=True)
    outcome = run_trial(task)
    assert not outcome.runs
    assert outcome.failed is not None
    assert outcome.failed.code == "training.search.other_run"
    assert "train.rate" in outcome.failed.parameters["names"]
    assert is_run(task.runs / "s-000")


def test_what_is_no_run_is_not_removed(recipe: Path) -> None:
    task = make_task(recipe)
    folder = task.runs / "s-000"
    folder.mkdir(parents=True)
    (folder / "thesis.tex").write_text("years of work")
    outcome = run_trial(task)
    assert outcome.failed is not None
    assert outcome.failed.code == "training.recipe.folder_in_use"
    assert (folder / "thesis.tex").read_text() == "years of work"


def test_a_run_that_another_process_has_just_started_is_not_removed(
    recipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = make_task(recipe)
    folder = task.runs / "s-000"
    train(task.recipe, {"train.seed": 1, "train.steps": 2}, name="s-000", runs=task.runs, silent=True)
    events = folder / "events.jsonl"
    kept = [line for line in events.read_text().splitlines(keepends=True) if '"finished"' not in line]
    events.write_text("".join(kept))
    monkeypatch.setattr(trials, "PATIENCE", 0.0)
    monkeypatch.setattr(trials, "find_incomparable", lambda *_: [])
    monkeypatch.setattr(trials.Checkpoints, "steps", lambda _: [])
    with locked(folder, first=True):
        outcome = run_trial(task)
    assert outcome.failed is not None
    assert outcome.failed.code == "training.recipe.in_use"
    assert is_run(folder)


@pytest.mark.parametrize("ending", ["interrupted", "alarm"])
@pytest.mark.slow
def test_a_run_that_was_stopped_is_no_result(
    recipe: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    task = make_task(recipe)
    train(recipe, SHORT, name="s-000", runs=task.runs, silent=True)
    monkeypatch.setattr(trials, "_train", lambda *_: ending)
    outcome = run_trial(task)
    assert not outcome.runs
    assert outcome.failed is not None
    assert outcome.failed.code == f"training.search.stopped.{ending}"


@pytest.mark.parametrize(
    ("settings", "ending"),
    [
        ({"monitor": {"on_alarm": "stop", "explode": 0.5, "every": 1}}, "alarm"),
        ({"train": {"patience": 1, "rate": 1e-12}}, "no_improvement"),
    ],
)
def test_a_trial_that_is_lost_after_its_run_has_ended_is_not_continued(
    recipe: Path, settings: dict[str, dict[str, Any]], ending: str
) -> None:
    tables = tomllib.loads(recipe.read_text())
    tables["train"] |= {"steps": 6, "evaluate_every": 1, "save_every": 1}
    for table, values in settings.items():
        tables[table] = tables.get(table, {}) | values
    recipe.write_text(write_toml(tables))
    task = make_task(recipe)
    ended = train(task.recipe, {"train.seed": 1}, name="s-000", runs=task.runs, silent=True)
    assert ended.ending == ending
    events = task.runs / "s-000" / "events.jsonl"
    *before, last = events.read_text().splitlines(keepends=True)
    for lines in ([*before, last], before) if ending == "alarm" else ([*before, last],):
        events.write_text("".join(lines))  # the second time it was lost before it wrote that it stops
        outcome = run_trial(task)
        assert read_run(task.runs / "s-000").last_step == ended.step < 6
        assert (outcome.failed is not None) == (ending == "alarm")


def test_a_new_search_needs_names_that_are_free(recipe: Path) -> None:
    runs = recipe.parent / "runs"
    (runs / "s-2layers").mkdir(parents=True)  # no name of a trial
    (runs / "s-012-seed3").mkdir()
    with pytest.raises(TrainingError) as error:
        look(recipe, HEADS)
    assert error.value.message.code == "training.search.runs_exist"
    assert not (runs / "s").exists()


@pytest.mark.slow
def test_a_lost_worker_changes_nothing(recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker is killed in the middle of a trial: the trial goes on in another one, with the same losses."""
    space = {"model.heads": [2, 4], "trials": 2, "pruner": "none"}
    steps = {"train.steps": 40, "train.evaluate_every": 20, "train.save_every": 5, "monitor.every": 0}
    expected = look(recipe, space, name="calm", overrides=steps)
    monkeypatch.setattr("glassformer.training.search.search.run_trial", tasks.train_or_die)
    found = look(recipe, space, overrides=steps)
    assert len(list((recipe.parent / "runs").glob(f"{tasks.DIED}-*"))) == 2
    assert [trial.estimate("loss") for trial in found.trials] == [
        trial.estimate("loss") for trial in expected.trials
    ]
