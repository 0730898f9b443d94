"""The protocol of callbacks: what they are told, and that one that fails does not end a run."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from glassformer.errors import ConfigurationError
from glassformer.runlog import ALARM, Event, read_run
from glassformer.training.callbacks.callback import CALLBACKS, Callback, HeadMaps, Rows, RunStart
from glassformer.training.recipe import train
from training.runs import run


class Listener(Callback):
    """Keeps what it is told."""

    heard: list[tuple[str, object]]

    def __init__(self) -> None:
        Listener.heard = []

    def on_start(self, run: RunStart) -> None:
        self.heard.append(("start", (run.step, run.settings["train.steps"], run.environment["parameters"])))

    def on_steps(self, rows: Rows) -> None:
        self.heard += [("step", (step, numbers["loss"])) for step, numbers in rows]

    def on_heads(self, step: int, maps: HeadMaps) -> None:
        self.heard.append(("heads", (step, {place.address: dict(each) for place, each in maps.items()})))

    def on_evaluation(self, step: int, split: str, scores: Mapping[str, float]) -> None:
        self.heard.append(("evaluation", (step, split, scores["loss"])))

    def on_event(self, event: Event) -> None:
        self.heard.append((event.kind, event.step))

    def on_end(self) -> None:
        self.heard.append(("end", None))


class Failing(Listener):
    """Raises at every fourth step of a run."""

    def on_steps(self, rows: Rows) -> None:
        super().on_steps(rows)
        if rows[-1][0] % 4 == 0:
            raise ZeroDivisionError("a mistake of mine")


@pytest.fixture(autouse=True)
def _own_callbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "tensorboard" in CALLBACKS
    things = CALLBACKS._things | {"listener": Listener, "failing": Failing}
    monkeypatch.setattr(CALLBACKS, "_things", things)


def heard(kind: str) -> list[object]:
    return [about for what, about in Listener.heard if what == kind]


@pytest.mark.slow
def test_a_callback_hears_what_the_log_keeps(recipe: Path) -> None:
    folder = run(recipe, "monitor.callbacks=['listener']", "monitor.explode=0.001", "train.average=2")
    log = read_run(folder)
    losses, scores = log.scalars["loss"], log.scalars["dev_loss"]
    assert heard("start") == [(0, 12, log.environment["parameters"])]
    assert heard("step") == list(zip(losses.steps.tolist(), losses.values.tolist(), strict=True))
    told = [(step, loss) for step, split, loss in heard("evaluation") if split == "dev"]
    assert told == list(zip(scores.steps.tolist(), scores.values.tolist(), strict=True))
    assert [split for _, split, _ in heard("evaluation")] == ["dev", "dev", "dev", "averaged"]
    assert [step for step, _ in heard("heads")] == [0, 4, 8, 12]
    assert list(heard("heads")[0][1]) == [place.address for place in log.heads]
    assert heard(ALARM) == [0]
    assert Listener.heard[-2:] == [("finished", 12), ("end", None)]


@pytest.mark.slow
def test_a_callback_that_fails_is_named_once_and_the_run_goes_on(
    recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = recipe.parent / "runs"
    outcome = train(recipe, {"monitor.callbacks": ["failing"]}, runs=runs, name="run")
    assert outcome.ending == "finished"
    events = [event for event in read_run(runs / "run").events if "failing" in event.message]
    sentence = (
        "The callback 'failing' has failed and is called no more; the run goes on. "
        "ZeroDivisionError: a mistake of mine"
    )
    assert [(event.step, event.kind, event.message) for event in events] == [(4, "note", sentence)]
    assert capsys.readouterr().err.count(sentence) == 1
    assert [step for step, _ in heard("step")] == [1, 2, 3, 4]
    assert Listener.heard[-1] == ("end", None)  # so that it can close its files


def test_a_mistyped_name_is_refused_before_the_first_step(recipe: Path) -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'tensorboard'"):
        run(recipe, "monitor.callbacks=['tensorbord']")
    assert not (recipe.parent / "runs" / "run").exists()


@pytest.mark.parametrize("name", ["tensorboard", "mlflow", "wandb"])
def test_a_missing_package_is_named(name: str, recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    monkeypatch.setitem(sys.modules, "mlflow", None)
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ConfigurationError) as error:
        run(recipe, f"monitor.callbacks=['{name}']")
    assert error.value.message.code == "training.callback.not_installed"
    assert error.value.message.parameters["name"] == name


def test_names_in_other_tools_are_kept_with_the_run(tmp_path: Path) -> None:
    start = RunStart(tmp_path, 0, {}, {})
    assert start.recall("mlflow") is None
    start.remember("mlflow", "1")
    start.remember("wandb", "2")
    assert json.loads((tmp_path / "tracking.json").read_text()) == {"mlflow": "1", "wandb": "2"}
    assert RunStart(tmp_path, 5, {}, {}).recall("mlflow") == "1"
