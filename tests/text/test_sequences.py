"""Many token sequences in one array, and some of them padded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.errors import InputError
from glassformer.text.builders import build_bytes
from glassformer.text.sequences import Sequences, find_frame, in_chunks, pad_rows


def test_many_texts_are_in_one_array() -> None:
    together = Sequences(np.arange(6, dtype=np.int32), np.array([0, 4, 4, 6]))
    assert len(together) == 3
    assert [together[index].tolist() for index in range(3)] == [[0, 1, 2, 3], [], [4, 5]]
    assert together.lengths.tolist() == [4, 0, 2]


def test_a_single_text_is_not_taken_for_a_list_of_letters() -> None:
    with pytest.raises(InputError):
        list(in_chunks("abc", 2))
    assert list(in_chunks(iter(["a", "b", "c"]), 2)) == [["a", "b"], ["c"]]


@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize("end", [False, True])
def test_the_frame_is_what_stands_around_a_text(start: bool, end: bool) -> None:
    tokenizer = build_bytes(start=start, end=end)
    before, after = find_frame(tokenizer)
    words = tokenizer.encode("the cat", special=False).ids
    assert (*before, *words, *after) == tokenizer.encode("the cat").ids
    assert (len(before), len(after)) == (int(start), int(end))


@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=6), min_size=1, max_size=5))
def test_padding_stands_on_the_right(rows: list[list[int]]) -> None:
    ids, real = pad_rows([np.array(row, dtype=np.int32) for row in rows], 0)
    assert [[number for number in row if number] for row in ids.tolist()] == rows
    if real is None:
        assert len({len(row) for row in rows}) == 1
    else:
        assert (real == (ids > 0)).all()
        assert not real.all()


@given(st.lists(st.lists(st.integers(1, 9), max_size=6), min_size=1, max_size=5), st.data())
def test_some_of_many_are_padded_with_room_around_them(rows: list[list[int]], data: st.DataObject) -> None:
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    flat = np.array([number for row in rows for number in row], dtype=np.int32)
    indices = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=6))
    padded = Sequences(flat, starts).pad(np.array(indices), 0, left=2, right=1)
    chosen = [rows[index] for index in indices]
    width = 3 + max(map(len, chosen))
    assert padded.tolist() == [[0, 0, *row, *[0] * (width - 2 - len(row))] for row in chosen]
