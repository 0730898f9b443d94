"""What a run reports: alarms, and what TensorBoard gets."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from glassformer.errors import ConfigurationError
from glassformer.runlog import read_run
from glassformer.training.recipe import train
from training.runs import run


def test_alarms_reach_the_log_and_the_terminal(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(recipe, ["monitor.explode=0.001"], runs=recipe.parent, name="loud")
    alarms = read_run(recipe.parent / "loud").alarms
    assert {alarm.topic for alarm in alarms} == {"exploding scores"}
    assert alarms[0].step == 4
    assert (
        "Alarm at step 4, exploding scores: Scores of decoder layer 0, self, head 0"
        in capsys.readouterr().err
    )
    train(recipe, runs=recipe.parent, name="quiet")
    assert read_run(recipe.parent / "quiet").alarms == ()
    assert "Alarm" not in capsys.readouterr().err


def test_tensorboard_gets_what_the_log_gets(recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: dict[str, list[tuple[int, float]]] = {}

    class Board:
        def __init__(self, folder: str) -> None:
            assert Path(folder) == recipe.parent / "runs" / "board" / "tensorboard"

        def add_scalar(self, name: str, value: float, step: int) -> None:
            written.setdefault(name, []).append((step, value))

        def close(self) -> None:
            written["closed"] = []

    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=Board))
    scalars = read_run(run(recipe, "monitor.tensorboard=true", name="board")).scalars
    for name in ("loss", "dev_loss"):
        assert written[name] == list(zip(scalars[name].steps, scalars[name].values, strict=True))
    assert "closed" in written


def test_tensorboard_is_asked_for(recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ConfigurationError, match="pip install tensorboard"):
        run(recipe, "monitor.tensorboard=true")
