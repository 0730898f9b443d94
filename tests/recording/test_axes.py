"""Where the axes of a map lie in the texts, and whether a map looks ahead."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from glassformer.api.description import describe_map
from glassformer.place import Place
from glassformer.recording import AttentionMap, Recording, Tokens, measure
from glassformer.recording.axes import (
    find_parts,
    find_row_side,
    find_side,
    find_starts,
    find_written,
    is_causal,
    name_rows,
)
from glassformer.recording.generation import Generation, Output, Step
from inventions import (
    invent_decoder,
    invent_evidence,
    invent_map,
    invent_tokens,
    invent_tower,
    invent_translation,
)


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


def test_what_a_part_of_the_model_reads_is_a_side_of_its_own() -> None:
    tower = invent_tower()
    assert list(find_parts(tower)) == ["part"]
    assert find_side(tower, "part") is tower.maps[0].query
    assert find_side(tower, "part2") is None
    described = [describe_map(tower, each) for each in tower.maps]
    assert [(each.query_side, each.key_side, each.row_side) for each in described] == [
        ("part",) * 3, ("part",) * 3, ("source",) * 3,
    ]  # fmt: skip
    pooled = invent_tokens("source", 4)
    numbers = replace(pooled, texts=("0", "1", "2", "3"), ids=np.arange(4))  # as of a stack that pools
    other = invent_map("pooled", 0, "self", numbers, numbers, heads=2)
    both = replace(tower, maps=(other, *tower.maps))
    assert [find_side(both, side) for side in ("part", "part2")] == [numbers, tower.maps[0].query]
    assert describe_map(both, tower.maps[0]).query_side == "part2"


@pytest.mark.parametrize("build", [invent_decoder, invent_translation])
def test_axes_of_the_texts_are_no_parts(build: Callable[[], Recording]) -> None:
    assert find_parts(build()) == {}


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


def translate(*, start: bool = True, causal: bool = True, **parts: object) -> Recording:
    """我爱你 → I love you: one map of each kind of the decoder."""
    source = invent_tokens("source", 4)
    special = np.array([start, False, False, False])
    offsets = np.array([[0, 0], [0, 1], [1, 6], [6, 10]])
    texts = ("<s>", "I", " love", " you")
    target = Tokens("target", texts, np.arange(1, 5), offsets, "I love you", special, np.array([-1, 0, 1, 2]))
    maps = (
        invent_map("decoder", 0, "self", target, target, heads=2, causal=causal),
        invent_map("decoder", 0, "cross", target, source, heads=2),
    )
    return Recording("m", invent_evidence(), source, target, maps, **parts)  # type: ignore[arg-type]


def steps(*tokens: tuple[int, str]) -> Generation:
    return Generation(tuple(Step(place, token, text, -0.1) for place, (token, text) in enumerate(tokens)))


def test_a_row_of_cross_attention_is_named_by_the_word_it_writes() -> None:
    recording = translate(generation=steps((2, "I"), (3, " love"), (4, " you"), (0, "</s>")))
    own, cross = recording.maps
    rows = name_rows(recording, cross)
    assert rows.texts == ("I", " love", " you", "</s>")
    assert rows.ids.tolist() == [2, 3, 4, 0]
    assert rows.special.tolist() == [False] * 4  # no other token tells that this end is special
    assert rows.offsets is not None
    assert rows.offsets.tolist() == [[0, 1], [1, 6], [6, 10], [10, 10]]
    assert rows.words is not None
    assert rows.words.tolist() == [0, 1, 2, -1]
    assert name_rows(recording, cross, "entered") is cross.query
    assert name_rows(recording, own) is own.query  # rows and columns of self-attention are the same words
    assert [find_row_side(recording, each) for each in recording.maps] == ["target", "written"]
    assert find_side(recording, "written") is not None


def test_what_comes_last_is_what_the_model_found_likeliest_or_not_known() -> None:
    output = Output(
        "decoder", np.array([[2], [3], [4], [9]]), np.zeros((4, 1)), {2: "a", 3: "b", 4: "c", 9: "!"}
    )
    recording = translate(output=output)
    assert name_rows(recording, recording.maps[1]).texts[-1] == "!"
    recording = translate()
    assert name_rows(recording, recording.maps[1]).texts == ("I", " love", " you", "…")
    stopped = translate(generation=steps((2, "I"), (3, " love"), (4, " you"), (5, " so")))  # at a limit
    assert name_rows(stopped, stopped.maps[1]).texts[-1] == " so"


def test_the_step_of_a_generation_is_named_by_the_word_it_writes() -> None:
    whole = translate(generation=steps((2, "I"), (3, " love"), (4, " you"), (0, "</s>")))
    assert whole.target is not None
    for step, word in enumerate(("I", " love", " you", "</s>")):
        query = whole.target.take(slice(step, step + 1))
        cross = at_step(whole, step, query, whole.source, "cross")
        assert name_rows(replace(whole, maps=(cross,)), cross).texts == (word,)


def test_rows_that_write_nothing_keep_their_names() -> None:
    """Queries of a detector, or labels that someone gave to a matrix: no token follows another."""
    detector = translate(start=False, causal=False)
    cross = detector.maps[1]
    assert find_row_side(detector, cross) == "target"
    assert name_rows(detector, cross) is cross.query
    assert find_written(detector) is None
    labelled = replace(detector, maps=(cross,))
    assert name_rows(labelled, cross) is cross.query
    causal = translate(start=False)
    assert find_row_side(causal, causal.maps[1]) == "written"
