"""What a run makes: models that open elsewhere, averages, the best; the same update however it is cut."""

import itertools
from pathlib import Path

import pytest

from glassformer.loaded.opening import load
from glassformer.runlog import read_run
from glassformer.training.loop import Clock, Outcome
from glassformer.training.recipe import train
from training.runs import run


@pytest.mark.slow
def test_a_run_learns_and_leaves_models_and_a_log(recipe: Path) -> None:
    folder = run(recipe, "train.steps=60")
    log = read_run(folder)
    losses = log.scalars["loss"].values
    assert losses[-5:].mean() < 0.8 * losses[:5].mean()
    assert log.state == "finished"
    assert log.recipe == recipe.read_text()
    assert log.environment["parameters"] > 0
    assert log.scalars["dev_loss"].steps.tolist() == list(range(4, 61, 4))
    assert {place.layer for place in log.heads} == {0, 1}
    assert (folder / "last").resolve().name == "step-00000060"
    assert len(list((folder / "checkpoints").iterdir())) <= 2
    recording = load(folder / "best").record("the cat sat")
    assert len(recording.maps) == 2


@pytest.mark.slow
def test_a_run_stops_early_and_its_best_stays(recipe: Path) -> None:
    folder = run(recipe, "train.steps=200", "train.rate=0.5", "train.evaluate_every=2", "train.patience=3")
    log = read_run(folder)
    assert log.state == "stopped"
    assert "no better loss for 3 evaluations" in log.events[-1].message
    scores = log.scalars["dev_loss"]
    best = int(scores.steps[scores.values.argmin()])
    assert (folder / "best").resolve().name == f"step-{best:08d}"
    assert log.last_step == best + 6


@pytest.mark.slow
def test_a_run_ends_when_its_time_is_up_and_goes_on_with_what_is_left(
    recipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = itertools.count()
    monkeypatch.setattr("glassformer.training.loop.time.monotonic", lambda: float(next(seconds)))
    folder = run(recipe, "train.steps=1000", "train.minutes=0.5", "train.evaluate_every=1000")
    log = read_run(folder)
    assert log.state == "finished"
    assert 10 < log.last_step < 60  # a second for every look at the clock
    assert log.scalars["rate"].values[-1] == pytest.approx(5e-4)  # a tenth of the highest: the floor
    assert log.scalars["dev_loss"].steps.tolist() == [log.last_step]
    assert (folder / "last").resolve().name == f"step-{log.last_step:08d}"
    assert Clock(1.0, used=30.0).used_share > 0.5
    assert Clock(None, used=30.0).used_share == 0


def test_a_recipe_for_a_gpu_runs_on_a_cpu_and_says_so(
    recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train.compile=graphs", "train.device=cpu", "train.steps=2"]
    assert train(recipe, words, runs=recipe.parent).step == 2
    assert "is for GPUs" in capsys.readouterr().err


def test_why_still_works_and_warns() -> None:
    for ending, why in (("finished", "finished"), ("interrupted", "stopped: asked to")):
        with pytest.warns(DeprecationWarning, match=r"Outcome\.ending"):
            assert Outcome(1, None, "loss", None, None, ending).why == why
