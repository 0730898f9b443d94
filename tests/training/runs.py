"""Tiny runs in tests: to make one, and to compare two."""

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from glassformer.runlog import RunLog, open_run, read_run
from glassformer.training.recipe import train


def run(recipe: Path, *overrides: str, name: str = "run") -> Path:
    train(recipe, overrides, runs=recipe.parent / "runs", name=name, silent=True)
    return recipe.parent / "runs" / name


def losses(log: RunLog) -> list[tuple[int, float]]:
    return list(zip(log.scalars["loss"].steps.tolist(), log.scalars["loss"].values.tolist(), strict=True))


def weights(run: Path) -> dict[str, torch.Tensor]:
    return load_file(run / "last" / "training.safetensors")


def assert_same(run: Path, reference: Path) -> None:
    """The same losses, scores, alarms, head statistics and weights, bit for bit."""
    ours, theirs = read_run(run), read_run(reference)
    assert losses(ours) == losses(theirs)
    scores = theirs.scalars["dev_loss"]
    assert ours.scalars["dev_loss"].values.tolist() == scores.values.tolist()
    for place, history in theirs.heads.items():
        for name, values in history.statistics.items():
            np.testing.assert_array_equal(ours.heads[place].statistics[name], values)
    with open_run(run) as index:  # the index says the same as the log
        series = index.series("loss", points=10_000)
        assert list(zip(series.first.tolist(), series.mean[:, 0].tolist(), strict=True)) == losses(ours)
    kept, expected = weights(run), weights(reference)
    assert kept.keys() == expected.keys()
    assert all(torch.equal(kept[name], expected[name]) for name in expected)
