"""Scores: rolled up by rows, pooled over texts, read-only."""

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.metrics import pool, score
from glassformer.place import Place

# Two rows, two keys: entropies log 2 and 0.
HALF = [[[0.5, 0.5], [1.0, 0.0]]]


def test_levels_are_averages_weighted_by_rows(make_map, record) -> None:
    # Layer 0 has two real rows, layer 1 three: the model's mean is over five rows, not over two layers.
    even = np.full((1, 3, 3), 1 / 3)
    first = make_map(even, rows=[True, True, False])
    second = make_map(np.eye(3)[None], layer=1)
    recording = record(first, second)
    assert score(recording, "entropy", over="layer").parts[0].values == pytest.approx(np.log(3))
    assert score(recording, "entropy", over="model").value == pytest.approx(2 / 5 * np.log(3))


def test_heads_of_a_layer_count_by_their_rows(make_map, record) -> None:
    # The second head may look in one row only: (log 2 + 0 + log 2) / 3.
    weights = [[[0.5, 0.5], [1.0, 0.0]], [[0.5, 0.5], [0.0, 0.0]]]
    allowed = np.array([[[1, 1], [1, 1]], [[1, 1], [0, 0]]], dtype=bool)
    recording = record(make_map(weights, allowed=allowed))
    assert score(recording, "entropy").part().values == pytest.approx([np.log(2) / 2, np.log(2)])
    assert score(recording, "entropy", over="layer").value == pytest.approx(2 * np.log(2) / 3)


def test_scores_roll_up_in_one_direction_only(make_map, record) -> None:
    whole = score(record(make_map(HALF)), "entropy", over="model")
    with pytest.raises(InputError, match=r"is over model. It cannot be rolled up to head"):
        whole.roll_up("head")


def test_generation_steps_count_only_where_the_whole_map_is_missing(make_map, record) -> None:
    even, sharp = np.full((1, 1, 2), 0.5), np.array([[[1.0, 0.0]]])
    steps = [make_map(even, step=0), make_map(sharp, step=1)]
    assert score(record(*steps), "entropy").roll_up("layer").value == pytest.approx(np.log(2) / 2)
    assert len(score(record(*steps), "entropy").parts) == 2
    whole = make_map(np.eye(2)[None])
    assert score(record(whole, *steps), "entropy", over="model").value == 0.0


def test_pooling_adds_up_texts(make_map, record) -> None:
    short, long = record(make_map(HALF)), record(make_map(np.full((1, 4, 4), 0.25)))
    both = pool([score(short, "entropy"), score(long, "entropy")])
    assert both.part().values == pytest.approx([(np.log(2) + 4 * np.log(4)) / 6])
    with pytest.raises(InputError, match="Expected one metric"):
        pool([score(short, "entropy"), score(short, "distance")])
    with pytest.raises(InputError, match="at least one"):
        pool([])
    with pytest.raises(InputError, match="different numbers of heads"):
        pool([score(short, "entropy"), score(record(make_map(np.full((2, 2, 2), 0.5))), "entropy")])


def test_a_score_is_read_only_and_shows_itself(make_map, record) -> None:
    found = score(record(make_map(HALF)), "entropy")
    with pytest.raises(ValueError, match="read-only"):
        found.part().values[0] = 1.0
    with pytest.raises(TypeError):
        found.parameters["x"] = 1
    assert repr(found).startswith("Entropy (entropy) over head, nats\n  encoder layer 0, self: 0.3466")
    with pytest.raises(
        InputError, match=r"entropy has no value at any stack layer 3, self.*at: encoder layer 0, self"
    ):
        found.part(layer=3)


def test_values_in_one_array(make_map, record) -> None:
    recording = record(make_map(HALF), make_map(HALF, layer=1))
    found = score(recording, "entropy")
    assert found.values.shape == (2, recording.maps[0].heads)
    assert np.array_equal(found.values[1], found.part("encoder", layer=-1).values)
    assert np.array_equal(found.values[1], found.part(Place("encoder", "self", 1)).values)
    assert found.part("encoder.self.0") is found.parts[0]
    assert found.roll_up("model").values.shape == ()
    uneven = score(record(make_map(HALF), make_map(HALF * 2, layer=1)), "entropy")
    with pytest.raises(InputError) as caught:
        _ = uneven.values
    assert caught.value.message.code == "metrics.uneven_parts"
