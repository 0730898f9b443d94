"""Texts that are read together: none is lost, and parts of a corpus add up to the whole."""

import pickle
from typing import Any

import numpy as np
import pytest

from glassformer.corpus.atlas.reading import CANDIDATES, Findings, gather, read_texts
from glassformer.corpus.atlas.texts import MarkedText
from known_heads import build_known, write_texts

TEXTS = [MarkedText(text) for text in write_texts(12)]


@pytest.fixture(scope="module")
def model() -> Any:
    return build_known("encoder")[0]


def test_long_texts_are_read_by_fewer() -> None:
    texts = [MarkedText("a" * length) for length in (4, 4, 2000, 2000, 4)]
    assert [len(each) for each in gather(texts)] == [3, 2]
    assert [each for part in gather(texts) for each in part] == texts
    assert [len(each) for each in gather([MarkedText("a")] * 130)] == [64, 64, 2]


def test_parts_add_up_to_the_whole_also_from_other_processes(model: Any) -> None:
    texts = [*TEXTS[:6], MarkedText("w1 " * 80), *TEXTS[6:], MarkedText("w1 w2", probe="repeats")]
    parts = [read_texts(model, texts[:7], None, (0, 0)), read_texts(model, texts[7:], None, (0, 1))]
    found = Findings()
    for part in parts:
        found.add(pickle.loads(pickle.dumps(part)))
    assert [each.text for each in found.read] == [each.text for each in TEXTS]
    assert (found.skipped, found.tokens) == (1, sum(part.tokens for part in parts))
    assert "81 tokens" in str(found.error)
    for key, column in found.table.columns.items():
        own = [part.table.columns[key] for part in parts if key in part.table.columns]
        assert len(column.texts) == len(set(column.texts)) == sum(len(each.texts) for each in own)
        assert np.array_equal(np.array(column.scores), np.concatenate([each.scores for each in own]))
    [profile] = found.profiles.values()
    own = [next(iter(part.profiles.values())) for part in parts]
    assert len(profile.values["entropy"]) == 12
    numbers = [each.read_positions(0).entropy[2] for each in (*own, profile)]
    assert min(numbers[:2]) <= numbers[2] <= max(numbers[:2])


def test_candidates_are_bounded_and_constructed_ones_have_room_of_their_own(model: Any) -> None:
    found = Findings()
    for probe in (None, "marks"):
        [candidate] = read_texts(model, [MarkedText("w1 w2 w3", probe=probe)], None, (0, 0)).candidates
        for _ in range(3 * CANDIDATES):
            found.keep(candidate)
    assert [each.constructed for each in found.candidates] == [False] * CANDIDATES + [True] * CANDIDATES
