"""The identity of data: its content alone."""

import numpy as np
import pytest

from glassformer.text.identity import BLOCK, identify


def test_values_count_and_not_how_they_are_stored() -> None:
    values = np.arange(2 * BLOCK + 3) % 60_000
    reference = identify({"ids": values, "labels": values[:5]})
    assert identify({"labels": values[:5], "ids": values.astype(np.uint16)}) == reference
    assert identify({"ids": np.repeat(values, 2)[::2], "labels": values[:5]}) == reference


@pytest.mark.parametrize("place", [0, BLOCK, -1])
def test_one_other_value_is_other_data(place: int) -> None:
    values = np.zeros(BLOCK + 2, dtype=np.int32)
    changed = values.copy()
    changed[place] = 1
    assert identify({"ids": values}) != identify({"ids": changed})


def test_the_limits_between_arrays_count() -> None:
    first = identify({"a": np.array([1, 2]), "b": np.array([3])})
    assert first != identify({"a": np.array([1]), "b": np.array([2, 3])})
    assert first != identify({"a": np.array([1.0, 2.0]), "b": np.array([3])})
