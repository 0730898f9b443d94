"""Histograms: the same counts as NumPy's over what the mask leaves."""

from typing import Any

import numpy as np
import pytest

from glassformer.api import distributions
from glassformer.api.distributions import Where, distribute
from glassformer.errors import ApiError
from glassformer.recording import AttentionMap, Recording
from inventions import invent_decoder, invent_long
from tolerances import assert_near

RECORDING = invent_decoder()


def check(recording: Recording, of: Any, where: Where, known: np.ndarray, left_out: int = 0) -> None:
    said = distribute(recording, of, where, 16)
    assert said.count == known.size
    assert said.left_out == left_out
    assert sum(said.counts) == known.size
    size = float(np.abs(known, dtype=np.float64).mean())
    for found, wanted in ((said.minimum, known.min()), (said.maximum, known.max())):
        assert_near(found, wanted, magnitude=abs(float(wanted)))
    assert_near(said.mean, known.astype(np.float64).mean(), magnitude=size)
    assert_near(said.deviation, known.astype(np.float64).std(), magnitude=size)
    assert len(said.edges) == len(said.counts) + 1
    expected = np.histogram(known.astype(np.float64), said.edges)[0]
    assert np.abs(np.array(said.counts) - expected).sum() <= 2  # float32 products may round over an edge


def test_hidden_states_and_embeddings() -> None:
    states = RECORDING.hidden["decoder"]
    check(RECORDING, "hidden", Where("decoder", 2), states[2])
    check(RECORDING, "hidden", Where("decoder"), states)
    check(RECORDING, "embeddings", Where(), states[0])


def test_vectors_of_a_head_and_of_all() -> None:
    check(RECORDING, "queries", Where(place=str(1), head=2), RECORDING.maps[1].queries[2])  # type: ignore[index]
    check(RECORDING, "values", Where(place=str(0)), RECORDING.maps[0].values)  # type: ignore[arg-type]


@pytest.mark.parametrize("backing", ["scores kept", "weights only"])
def test_masked_cells_are_left_out(backing: str) -> None:
    first = RECORDING.maps[0]
    lower = np.tril(np.ones((24, 24), dtype=bool))
    recording = RECORDING
    if backing == "weights only":
        bare = AttentionMap(first.place, first.query, first.key, first.statistics, dense=first.dense)
        recording = Recording("bare", RECORDING.evidence, RECORDING.source, maps=(bare,))
    left_out = 24 * 23 // 2
    check(recording, "attention", Where(place=str(0), head=1), first.weights(1)[lower], left_out)
    check(recording, "attention", Where(place=str(0)), first.weights()[:, lower], 4 * left_out)


def test_scores_before_and_after_the_multiplier() -> None:
    first = RECORDING.maps[0]
    lower = np.tril(np.ones((24, 24), dtype=bool))
    check(RECORDING, "scores", Where(place=str(0), head=0), first.scores(0)[lower], 24 * 23 // 2)
    assert first.scale is not None
    unscaled = first.scores(0)[lower] / first.scale
    check(RECORDING, "scores_unscaled", Where(place=str(0), head=0), unscaled, 24 * 23 // 2)


def test_a_long_text_is_sampled_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = invent_long(tokens=600)
    whole = distribute(recording, "attention", Where(place=str(0), head=0), 8)
    assert whole.whole
    assert whole.count == 600 * 601 // 2
    monkeypatch.setattr(distributions, "MOST_CELLS", 60_000)
    part = distribute(recording, "attention", Where(place=str(0), head=0), 8)
    assert not part.whole
    assert part.count + part.left_out == 100 * 600
    assert part.mean == pytest.approx(whole.mean, rel=0.1)


def test_what_was_not_kept_is_refused_with_a_way_out() -> None:
    for of in ("hidden", "values"):
        with pytest.raises(ApiError, match="want="):
            distribute(invent_long(tokens=50), of, Where(), 8)  # type: ignore[arg-type]
    with pytest.raises(ApiError, match="no map"):
        distribute(RECORDING, "attention", Where(place=str(9)), 8)


def test_one_value_and_none() -> None:
    same = distributions.histogram(lambda: [(np.full(5, 3.0), None)], 4, whole=True)
    assert sum(same.counts) == 5
    none = distributions.histogram(lambda: [(np.full(5, np.nan), None)], 4, whole=True)
    assert (none.count, none.left_out, none.mean) == (0, 5, None)
