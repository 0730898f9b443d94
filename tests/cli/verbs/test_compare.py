"""`compare`: two bundles, or two models over texts."""

from pathlib import Path

import numpy as np
import pytest

import glassformer as gf
from cli.conftest import Command
from glassformer import Recording, difference, from_arrays


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "first.bundle", tmp_path / "second.bundle"
    for seed, path in enumerate(paths):
        weights = np.random.default_rng(seed).dirichlet(np.ones(3), size=(1, 2, 3))
        from_arrays(weights, ["the", "cat", "sat"]).save(path)
    return paths


def test_the_difference_is_printed_and_written(pair, run: Command, tmp_path: Path) -> None:
    output = tmp_path / "difference.bundle"
    printed = run("compare", *pair, "--output", output)
    found = difference(*map(Recording.open, pair))
    assert str(found) in printed
    np.testing.assert_array_equal(Recording.open(output).map().weights(), found.recording.map().weights())


def test_refusals(pair, complain: Command) -> None:
    assert "at least one TEXT" in complain("compare", pair[0], "zoo/bert")
    assert "--output" in complain("compare", "zoo/bert", "zoo/bert", "a text", "--output", "x.bundle")


def test_two_atlases_side_by_side(run: Command, complain: Command) -> None:
    printed = run("compare", "zoo/gpt2", "zoo/rotary")
    assert printed.strip() == str(gf.open_atlas("zoo/gpt2").compare(gf.open_atlas("zoo/rotary")))
    assert "--output" in complain("compare", "zoo/gpt2", "zoo/rotary", "--output", "x.html")
