"""What a run reports: alarms, and the gradients of layers."""

from pathlib import Path

import numpy as np
import pytest

from glassformer.runlog import LAYER_NORM, read_overview, read_run
from glassformer.training.recipe import train
from training.runs import run


@pytest.mark.slow
def test_alarms_reach_the_log_and_the_terminal(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(recipe, ["monitor.explode=0.001"], runs=recipe.parent, name="loud")
    alarms = read_run(recipe.parent / "loud").alarms
    assert {alarm.topic for alarm in alarms} == {"exploding scores"}
    assert alarms[0].first_step == 0
    assert (
        "Alarm at step 0, exploding scores: In these heads the scores of a row differ by up to 1.67 on "
        "average: heads 0 and 1 of decoder layer 0, self, heads 0 and 1 of decoder layer 1, self."
        in capsys.readouterr().err
    )
    train(recipe, runs=recipe.parent, name="quiet")
    assert read_run(recipe.parent / "quiet").alarms == ()
    assert "Alarm" not in capsys.readouterr().err


@pytest.mark.slow
def test_gradients_of_layers_are_logged_every_few_steps(recipe: Path) -> None:
    scalars = read_run(run(recipe, "train.log_every=3")).scalars
    layers = {name: curve for name, curve in scalars.items() if name.startswith(LAYER_NORM)}
    assert list(layers) == ["norm.embeddings", "norm.decoder.0", "norm.decoder.1"]
    assert all(curve.steps.tolist() == [3, 6, 9, 12] for curve in layers.values())
    together = sum(curve.values**2 for curve in layers.values()) ** 0.5
    np.testing.assert_allclose(together, scalars["norm"].values[2::3])


@pytest.mark.slow
def test_the_overview_of_a_run_is_kept_when_it_ends(recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first list of many old runs would otherwise open the index of each."""
    folder = run(recipe)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the index is opened again")

    monkeypatch.setattr("glassformer.runlog.overview.open_run", refuse)
    overview = read_overview(folder)
    assert overview.state == "finished"
    assert overview.last_step == read_run(folder).last_step
