"""Sink mass, delimiters and attention received: all from statistics alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.metrics import score
from glassformer.metrics.sinks import is_punctuation
from glassformer.rounding import rounding
from tolerances import assert_near


def read(recording, name, kind="self"):
    return score(recording, name).part(kind=kind).values


def test_the_most_attended_key_is_the_sink(make_map, record) -> None:
    weights = [[[0.9, 0.1], [0.7, 0.3]], [[0.5, 0.5], [0.5, 0.5]]]
    recording = record(make_map(weights, "statistics"))
    assert read(recording, "sink_mass") == pytest.approx([0.8, 0.5])


def test_a_sink_column_belongs_to_it(make_map, record) -> None:
    sunk = make_map([[[0.25, 0.25], [0.25, 0.5]]], "statistics", sink=[[0.5, 0.25]])
    assert read(record(sunk), "sink_mass") == pytest.approx([(0.75 + 0.5 + 0.25) / 2])
    padded = make_map([[[0.25, 0.25], [0.25, 0.5]]], "statistics", sink=[[0.5, 0.25]], rows=[True, False])
    assert read(record(padded), "sink_mass") == pytest.approx([0.75])


def test_delimiters_are_special_tokens_and_punctuation(make_map, record, tokens) -> None:
    texts = ["[CLS]", "Hi", " ,", "you", "。"]
    key = tokens("source", texts, special=np.array([True, False, False, False, False]))
    weights = np.array([[[0.1, 0.2, 0.3, 0.15, 0.25]]])
    crossed = make_map(weights, "statistics", kind="cross", key=key)
    assert read(record(crossed), "delimiter", "cross") == pytest.approx([0.65])
    plain = make_map(np.full((1, 1, 2), 0.5), kind="cross", key=tokens("source", ["a", "b"]))
    assert "No key is a special token" in " ".join(map(str, score(record(plain), "delimiter").undefined))


@pytest.mark.parametrize(
    ("text", "yes"), [(".", True), (" —", True), ("、", True), ("a.", False), (" ", False)]
)
def test_punctuation_of_any_script(text: str, yes: bool) -> None:
    assert is_punctuation(text) is yes


def test_attention_received_is_per_key(make_map, record) -> None:
    weights = [[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]]
    found = score(record(make_map(weights, "statistics", rows=[True, True, False])), "attention_received")
    assert found.over == "token"
    assert found.part().axes == ("head", "key")
    assert found.part().values == pytest.approx(np.array([[0.75, 0.25, 0.0]]))
    idle = score(record(make_map([[[0.0]]], allowed=np.zeros((1, 1), dtype=bool))), "attention_received")
    assert np.isnan(idle.part().values).all()
    assert idle.undefined


@given(st.integers(0, 10**6), st.integers(1, 8), st.data())
def test_shuffled_rows_and_keys_leave_the_sink_where_it_is(make_map, record, draw, seed, count, data) -> None:
    weights, _ = draw(seed, (2, count, count))
    rows, keys = (list(data.draw(st.permutations(range(count)))) for _ in range(2))
    before = read(record(make_map(weights, "statistics")), "sink_mass")
    after = read(record(make_map(weights[:, rows][:, :, keys], "statistics")), "sink_mass")
    assert_near(before, after, operations=1, summands=16)
    rounded = rounding(summands=count)
    assert ((before >= 1 / count - rounded) & (before <= 1 + rounded)).all()
