"""Which settings a run accepts later; that training really behaves so is tested in test_resume.py."""

import json
from pathlib import Path

import pytest

from glassformer.errors import TrainingError
from glassformer.training.changes import (
    check_forkable,
    check_resumable,
    find_changes,
    override,
    read_overrides,
    read_saved,
)

SETTINGS = {"train.schedule": "cosine", "train.steps": 10, "train.rate": 1e-3, "model.heads": 2, "a.b": [1]}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "settings.json").write_text(json.dumps(SETTINGS))
    return tmp_path


def test_changes_are_found_by_name_and_tuples_are_lists(run: Path) -> None:
    now = SETTINGS | {"a.b": (1,), "train.rate": 1e-4, "train.new": None, "train.other": 1}
    assert find_changes(read_saved(run), now) == {"train.rate": (1e-3, 1e-4), "train.other": (None, 1)}


@pytest.mark.parametrize("name", ["train.save_every", "monitor.every", "task.folder", "train.evaluate_on"])
def test_what_no_loss_depends_on_may_change(run: Path, name: str) -> None:
    check_resumable(run, SETTINGS | {name: "other"})


@pytest.mark.parametrize(
    "name", ["train.rate", "train.steps", "model.heads", "batches.tokens", "task.context"]
)
def test_what_changes_losses_may_not(run: Path, name: str) -> None:
    with pytest.raises(TrainingError, match=f"{name} was"):
        check_resumable(run, SETTINGS | {name: "other"})


def test_steps_may_change_where_the_schedule_does_not_depend_on_them(run: Path) -> None:
    (run / "settings.json").write_text(json.dumps(SETTINGS | {"train.schedule": "constant"}))
    check_resumable(run, SETTINGS | {"train.schedule": "constant", "train.steps": 20})


def test_a_fork_says_whether_other_batches_follow(run: Path) -> None:
    assert not check_forkable(run, SETTINGS | {"train.rate": 1e-4, "batches.prefetch": 0})
    assert check_forkable(run, SETTINGS | {"batches.tokens": 4})
    with pytest.raises(TrainingError, match=r"model.heads was 2 and is 4"):
        check_forkable(run, SETTINGS | {"model.heads": 4})


def test_overrides_change_tables() -> None:
    tables = {"train": {"rate": 1}}
    for name, value in read_overrides(["train.rate=3e-4", "task.name=words"]):
        override(tables, name, value)
    assert tables == {"train": {"rate": 3e-4}, "task": {"name": "words"}}


def test_a_kind_of_model_that_is_unknown_is_a_change_like_others(run: Path) -> None:
    with pytest.raises(TrainingError, match=r"model.kind was 'transformer' and is 'transfomer'"):
        check_resumable(run, SETTINGS | {"model.kind": "transfomer"})
