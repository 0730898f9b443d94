"""Duplicate tokens and induction, on texts whose repetitions can be counted by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.metrics import score
from glassformer.metrics.repeats import find_period
from tolerances import assert_near

TEXT = ["a", "b", "c", "a", "b", "a"]  # position 3 follows up 0, 4 follows 1, 5 follows 0 and 3


def look(count: int, *targets: tuple[int, int]) -> np.ndarray:
    """A head whose row i looks at j for each (i, j), and elsewhere at itself; one map of one head."""
    weights = np.eye(count)
    for row in {row for row, _ in targets}:
        keys = [key for other, key in targets if other == row]
        weights[row] = 0
        weights[row, keys] = 1 / len(keys)
    return weights[None]


def read(recording, name, **parameters):
    return score(recording, name, **parameters).part().values


def test_duplicates_on_paper(make_map, record, tokens) -> None:
    text = tokens("source", TEXT)
    # Rows 3 and 4 find theirs; row 5 spends half on position 0 and half on c.
    found = make_map(look(6, (3, 0), (4, 1), (5, 0), (5, 2)), query=text, key=text)
    assert read(record(found), "duplicate_token") == pytest.approx([2.5 / 3])
    assert read(record(make_map(np.eye(6)[None], query=text, key=text)), "duplicate_token") == [0]


def test_induction_on_paper(make_map, record, tokens) -> None:
    text = tokens("source", TEXT)
    # a was followed by b at 1 and 4, b by c at 2; row 5 looks at both b, row 3 looks at itself.
    found = make_map(look(6, (4, 2), (5, 1), (5, 4)), query=text, key=text)
    assert read(record(found), "induction") == pytest.approx([2 / 3])


def test_a_token_said_twice_in_a_row_has_no_earlier_successor(make_map, record, tokens) -> None:
    text = tokens("source", ["a", "a", "b"])
    found = score(record(make_map(np.eye(3)[None], query=text, key=text)), "induction")
    assert "No token of the text occurred before" in " ".join(map(str, found.undefined))


def test_special_tokens_are_not_sought(make_map, record, tokens) -> None:
    text = tokens("source", ["[S]", "a", "[S]"], special=np.array([True, False, True]))
    found = score(record(make_map(np.full((1, 3, 3), 1 / 3), query=text, key=text)), "duplicate_token")
    assert np.isnan(found.part().values).all()
    assert "occurred before" in " ".join(map(str, found.undefined))


def test_a_repeated_sequence_is_followed(make_map, record, tokens) -> None:
    text = tokens("source", ["<s>", *"pqrspqrs"], special=np.array([True] + [False] * 8))
    perfect = look(9, (5, 2), (6, 3), (7, 4), (8, 5))
    recording = record(make_map(perfect, query=text, key=text))
    assert read(recording, "induction_on_repeats") == [1]
    assert read(recording, "induction_on_repeats", period=4) == [1]
    assert read(recording, "induction") == [1]
    assert score(recording, "induction_on_repeats").part().counts.tolist() == [4]
    half = look(9, (5, 2), (6, 3), (7, 7), (8, 8))
    assert read(record(make_map(half, query=text, key=text)), "induction_on_repeats") == [0.5]


def test_special_tokens_inside_are_not_followed(make_map, record, tokens) -> None:
    text = tokens("source", ["<s>", "p", "q", "<s>", "p", "q"], special=np.array([True, False, False] * 2))
    recording = record(make_map(look(6, (4, 2), (5, 3)), query=text, key=text))
    found = score(recording, "induction_on_repeats", period=3).part()
    assert (found.values.tolist(), found.counts.tolist()) == ([1], [2])


def test_a_text_that_does_not_repeat_says_so(make_map, record, tokens) -> None:
    text = tokens("source", ["a", "b", "c"])
    recording = record(make_map(np.eye(3)[None], query=text, key=text))
    [reason] = score(recording, "induction_on_repeats").undefined
    assert "not one sequence repeated" in str(reason)
    [reason] = score(recording, "induction_on_repeats", period=2).undefined
    assert "No token occurred 2" in str(reason)


@pytest.mark.parametrize(
    ("text", "period"),
    [("abab", 2), ("abcabcab", 3), ("aaaa", 1), ("abc", 0), ("abcab", 0), ("", 0), ("a", 0)],
)
def test_the_period_of_a_sequence(text: str, period: int) -> None:
    assert find_period(np.array([ord(letter) for letter in text], dtype=np.int64)) == period


@given(st.integers(0, 10**6), st.lists(st.integers(0, 3), min_size=1, max_size=12), st.booleans())
def test_streamed_scores_are_those_of_plain_loops(make_map, record, draw, tokens, seed, ids, causal) -> None:
    count = len(ids)
    weights, allowed = draw(seed, (2, count, count), causal)
    text = tokens("source", [str(each) for each in ids])
    for name, after in (("duplicate_token", 0), ("induction", 1)):
        wanted = {
            row: [j for j in range(after, row) if ids[j - after] == ids[row] and j - after < row]
            for row in range(count)
        }
        rows = [row for row, keys in wanted.items() if keys]
        expected = [
            np.mean([sum(weights[head, row, j] for j in wanted[row]) for row in rows]) if rows else np.nan
            for head in range(2)
        ]
        for backing, block in (("dense", 1 << 21), ("factors", 2 * count)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("glassformer.metrics.blocks.BLOCK", block)
                found = make_map(weights, backing, allowed, query=text, key=text, factors={"causal": causal})
                assert_near(read(record(found), name), expected, operations=1, summands=16)
