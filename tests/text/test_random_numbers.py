"""Random numbers: uniform, without memory, and the same for an example in every batch."""

import numpy as np
import pytest

from glassformer.text.random_numbers import draw_uniform


def test_numbers_are_uniform_and_unrelated() -> None:
    numbers = draw_uniform((1, 2, 3), np.arange(2000), 50)
    assert numbers.shape == (2000, 50)
    assert ((numbers >= 0) & (numbers < 1)).all()
    shares = np.histogram(numbers, bins=20, range=(0, 1))[0] / numbers.size
    assert shares == pytest.approx(np.full(20, 0.05), abs=0.003)
    for other in (numbers[1:], draw_uniform((1, 2, 4), np.arange(1, 2000), 50)):
        assert abs(np.corrcoef(numbers[:-1].ravel(), other.ravel())[0, 1]) < 0.015
    assert abs(np.corrcoef(numbers[:, :-1].ravel(), numbers[:, 1:].ravel())[0, 1]) < 0.015


def test_an_example_draws_the_same_alone_and_in_a_batch() -> None:
    together = draw_uniform((5, 0), [7, 3, 9], 12)
    assert (draw_uniform((5, 0), [3], 12)[0] == together[1]).all()
    assert (draw_uniform((5, 0), [3], 20)[0, :12] == together[1]).all()
    assert not (draw_uniform((5, 1), [3], 12) == together[1]).any()
    assert not (draw_uniform((0, 5), [3], 12) == together[1]).any()
