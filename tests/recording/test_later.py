"""Vectors that are elsewhere are read head by head; read as a field they are an ordinary array."""

import copy
import pickle
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from glassformer.api.cards import estimate_bytes
from glassformer.errors import RecordingError
from glassformer.recording import AttentionMap, Evidence, Factors, Recording, Tokens, tile
from glassformer.recording.arrays import Floats
from glassformer.recording.later import Later


class Away(Later):
    """Counts what is fetched."""

    def __init__(self, array: Floats) -> None:
        super().__init__(array.shape)
        self.array, self.heads, self.whole = array, [], 0

    def read_head(self, head: int) -> Floats:
        self.heads.append(head)
        return self.array[head]

    def read(self) -> Floats:
        self.whole += 1
        return self.array


def put_away(here: AttentionMap, **changed: Any) -> tuple[AttentionMap, Away, Away]:
    """The same map whose queries and keys are elsewhere."""
    assert here.factors is not None
    queries, keys = Away(here.factors.queries), Away(here.factors.keys)
    words = {each.name: getattr(here.factors, each.name) for each in fields(here.factors)}
    factors = Factors(**words | {"queries": queries, "keys": keys} | changed)
    words = {each.name: getattr(here, each.name) for each in fields(here)}
    return AttentionMap(**words | {"factors": factors, "queries": queries, "keys": keys}), queries, keys


def test_a_head_is_fetched_when_it_is_looked_at(make, kind):
    here = make(kind, 24, 30).map("factors")
    away, queries, keys = put_away(here)
    assert away.shape == here.shape
    assert repr(away.factors) == repr(here.factors)
    assert not queries.heads + keys.heads  # nothing is fetched to make a map
    last = here.heads - 1
    group = here.heads // len(here.factors.keys)
    assert np.array_equal(away.weights(last), here.weights(last))
    assert np.array_equal(tile(away, last, 1, 0, 0), tile(here, last, 1, 0, 0))
    assert set(queries.heads) == {last}
    assert set(keys.heads) == {last // group}
    assert queries.whole == keys.whole == 0
    assert np.array_equal(away.scores(), here.scores())


def test_a_field_that_is_read_is_an_array_and_no_other_field_exists(make):
    here = make("causal").map("factors")
    away, queries, _ = put_away(here)
    assert away.peek("queries") is queries
    for seen in (away.queries, away.factors.queries):
        assert np.array_equal(seen, here.queries)
        assert not seen.flags.writeable
    assert away.queries.__array_interface__ == away.factors.queries.__array_interface__  # saved once
    with pytest.raises(AttributeError, match="no attribute 'quieries'"):
        away.quieries  # noqa: B018
    assert not hasattr(here, "quieries")
    assert queries.whole == 2


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies_have_ordinary_arrays(make, again):
    here = make("grouped").map("factors")
    copied = again(put_away(here)[0])
    assert isinstance(copied.peek("keys"), np.ndarray)
    assert np.array_equal(copied.weights(), here.weights())


def test_a_wrong_head_is_refused_when_it_is_looked_at(make):
    here = make("causal").map("factors")
    wrong = here.factors.log_sum_exp.copy()
    wrong[1] += 0.5
    away, _, _ = put_away(here, log_sum_exp=wrong)
    away.weights(0)
    for read in (away.weights, away.scores, lambda head: tile(away, head, 0, 0, 0), lambda _: away.weights()):
        with pytest.raises(RecordingError, match=r"head 1, the weights of query \d+ sum to 0\.606531"):
            read(1)


@pytest.mark.parametrize("shape", [(4, 24), (3, 24, 8), (4, 23, 8), (4, 24, 9), (0, 24, 8)])
def test_shapes_are_checked_before_anything_is_fetched(make, shape):
    here = make("causal").map("factors")
    with pytest.raises(RecordingError):
        put_away(here, keys=Away(np.zeros(shape, dtype=np.float32)))


def test_what_is_elsewhere_counts_no_memory(make, evidence: Evidence):
    here = make("causal", 24, 24).map("factors")
    away, queries, keys = put_away(here)
    sides = Tokens.positional("source", 24), Tokens.positional("target", 24)
    there, counted = (estimate_bytes(Recording("m", evidence, *sides, (each,))) for each in (away, here))
    assert counted - there > here.queries.nbytes
    assert queries.whole == keys.whole == 0
