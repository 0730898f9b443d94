"""One update: the same however it is cut into batches; averages of weights."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from glassformer.rounding import rounding
from glassformer.runlog import read_run
from glassformer.weights.checkpoint import open_checkpoint
from training.runs import run


@pytest.mark.slow
def test_an_update_is_the_same_however_it_is_cut_into_batches(recipe: Path) -> None:
    """Exact accumulation: two batches of unequal counts weigh by their labels, not by their number."""
    plain = ("model.dropout=0.0", "train.steps=4", "batches.shuffle=false", "train.precision=float32")
    whole = run(recipe, *plain, "batches.tokens=10000", name="whole")
    parts = run(recipe, *plain, "batches.rows=30", "batches.tokens=10000", "train.accumulate=4", name="parts")
    assert read_run(whole).scalars["loss"].values == pytest.approx(
        read_run(parts).scalars["loss"].values, rel=1e-5
    )
    assert read_run(whole).scalars["norm"].values == pytest.approx(
        read_run(parts).scalars["norm"].values, rel=1e-4
    )


@pytest.mark.slow
def test_recomputing_activations_changes_nothing(recipe: Path) -> None:
    usual, again = run(recipe, name="usual"), run(recipe, "train.recompute=true", name="again")
    assert read_run(usual).scalars["loss"].values == pytest.approx(
        read_run(again).scalars["loss"].values, rel=rounding(layers=2)
    )


@pytest.mark.slow
def test_the_average_is_what_is_judged_and_saved(recipe: Path) -> None:
    folder = run(recipe, "train.ema=0.5")
    kept = load_file(folder / "last" / "training.safetensors")
    saved = open_checkpoint(folder / "last").network.state_dict()
    name = "embeddings.tokens.weight"
    assert torch.equal(saved[name], kept[f"average.network.{name}"])
    assert not torch.equal(saved[name], kept[f"weights.network.{name}"])
