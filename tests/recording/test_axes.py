"""Where the axes of a map lie in the texts, and whether a map looks ahead."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.api.description import describe_map
from glassformer.place import Place
from glassformer.recording import AttentionMap, Recording, Tokens, measure
from glassformer.recording.axes import find_starts, is_causal
from inventions import invent_decoder, invent_evidence, invent_map, invent_tokens, invent_translation


def repeat(side: str, count: int) -> Tokens:
    """The same token again and again: only offsets tell places apart."""
    offsets = np.stack([np.arange(count), np.arange(count) + 1], axis=1)
    return Tokens(side, ("a",) * count, np.zeros(count, dtype=np.int64), offsets, "a" * count)  # type: ignore[arg-type]


def at_step(recording: Recording, step: int, query: Tokens, key: Tokens, kind: str) -> AttentionMap:
    made = invent_map("decoder", 0, kind, query, key, heads=2)
    return replace(made, place=made.place._replace(step=step))


@pytest.mark.parametrize("build", [invent_tokens, repeat])
def test_a_step_shows_a_part_of_its_sides(build: object) -> None:
    source, target = build("source", 6), build("target", 9)  # type: ignore[operator]
    whole = Recording("m", invent_evidence(), source, target)
    for step in range(8):
        query, seen = target.take(slice(step, step + 1)), target.take(slice(0, step + 1))
        own = at_step(whole, step, query, seen, "self")
        assert find_starts(replace(whole, maps=(own,)), own) == (step, 0)
        cross = at_step(whole, step, query, source, "cross")
        said = describe_map(replace(whole, maps=(cross,)), cross)
        assert (said.query_start, said.key_start, said.place.step) == (step, 0, step)
        assert (said.queries, said.keys) == (1, 6)


def test_tokens_without_offsets_are_found_by_their_ids() -> None:
    target = Tokens("target", ("a", "b", "a", "c"), np.array([1, 2, 1, 3]))
    whole = Recording("m", invent_evidence(), invent_tokens("source", 2), target)
    step = at_step(whole, 2, target.take(slice(2, 3)), target.take(slice(0, 3)), "self")
    assert find_starts(whole, step) == (2, 0)
    strange = at_step(whole, 9, Tokens("target", ("z",), np.array([9])), target, "self")
    assert find_starts(whole, strange) == (0, 0)


def test_causal_or_not() -> None:
    translation = invent_translation()
    assert [is_causal(each) for each in translation.maps[:3]] == [False, True, False]
    decoder = invent_decoder()
    first = decoder.maps[0]
    bare = AttentionMap(first.place, first.query, first.key, first.statistics, dense=first.dense)
    assert is_causal(bare)
    padded = measure(
        np.where(np.arange(4) < 3, 1 / 3, 0.0)[None, None].repeat(4, axis=1).astype(np.float32),
        np.broadcast_to(np.arange(4) < 3, (1, 4, 4)),
        rows=np.arange(4) < 3,
    )
    side = invent_tokens("source", 4)
    assert not is_causal(AttentionMap(Place("encoder", "self", 0), side, side, padded))
