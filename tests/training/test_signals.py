"""Stopping by a signal."""

import os
import signal
from pathlib import Path

import pytest
import torch

from glassformer.runlog import read_run
from glassformer.tasks.language_modelling import LanguageModelling
from glassformer.training.recipe import train
from training.runs import assert_same


@pytest.mark.slow
def test_asked_to_stop_it_saves_and_goes_on_later(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(recipe, runs=tmp_path, name="whole", silent=True)
    loss = LanguageModelling.loss
    calls = 0

    def ask(self: LanguageModelling, *arguments: object, **others: object) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls == 5:
            os.kill(os.getpid(), signal.SIGTERM)
        return loss(self, *arguments, **others)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(LanguageModelling, "loss", ask)
        outcome = train(recipe, runs=tmp_path, name="asked", silent=True)
    assert (outcome.step, outcome.ending) == (5, "interrupted")
    stopped = read_run(tmp_path / "asked")
    assert stopped.state == "stopped"
    assert any("SIGTERM" in event.message for event in stopped.events)
    train(recipe, resume=True, runs=tmp_path, name="asked", silent=True)
    assert_same(tmp_path / "asked", tmp_path / "whole")
    assert read_run(tmp_path / "asked").state == "finished"
