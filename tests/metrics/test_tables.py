"""Scores as tables."""

import sys

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.metrics import score
from inventions import invent_decoder


def test_every_head_is_a_row_with_its_place() -> None:
    recording = invent_decoder(layers=2, heads=3)
    frame = score(recording, "entropy").frame()
    assert list(frame.columns) == ["metric", "stack", "kind", "layer", "head", "value"]
    assert len(frame) == 6
    row = frame[(frame["layer"] == 1) & (frame["head"] == 2)]
    assert row["value"].item() == score(recording, "entropy").part(layer=1).values[2]


def test_levels_and_pairs() -> None:
    recording = invent_decoder(layers=2, heads=3)
    assert score(recording, "entropy", over="model").frame()["value"].item() == pytest.approx(
        score(recording, "entropy", over="model").value
    )
    queries = score(recording, "entropy", over="query").frame()
    assert len(queries) == 2 * 3 * len(recording.source)
    assert "query" in queries.columns
    pairs = score(recording, "head_divergence").frame()
    assert len(pairs.columns) == len(set(pairs.columns))


def test_without_pandas_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="pip install pandas"):
        score(invent_decoder(layers=1), "entropy").frame()
    assert np.isfinite(score(invent_decoder(layers=1), "entropy").parts[0].values).all()
