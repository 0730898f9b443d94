"""Recorded arrays are checked and made read-only without being copied."""

import numpy as np
import pytest

from glassformer.recording import Tokens
from glassformer.recording.arrays import distinct, is_mapped


def test_nothing_is_copied_and_nothing_can_be_changed():
    ids = np.arange(5)
    tokens = Tokens("source", tuple("abcde"), ids)
    assert np.shares_memory(tokens.ids, ids)
    assert ids.flags.writeable  # the caller's own array is as it was
    with pytest.raises(ValueError, match="read-only"):
        tokens.ids[0] = 1
    with pytest.raises(AttributeError):
        tokens.ids = ids


def test_arrays_that_live_in_a_file_are_known(tmp_path):
    path = tmp_path / "ids"
    np.arange(5).tofile(path)
    mapped = np.memmap(path, dtype=np.int64)
    assert is_mapped(Tokens("source", tuple("abcde"), mapped).ids[1:])
    assert not is_mapped(Tokens("source", tuple("abcde"), np.array(mapped)).ids)


@pytest.mark.parametrize("numbers", [[], [3, 1, 3, 0], [-1, 5, 5], [2**40, 7], [[4, 2], [2, 4]]])
def test_numbers_that_occur_are_those_of_numpy(numbers) -> None:
    given = np.array(numbers, dtype=np.int64)
    assert distinct(given).tolist() == np.unique(given).tolist()
