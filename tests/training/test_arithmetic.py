"""A training run leaves the arithmetic of its process as it found it."""

import pytest
import torch

from glassformer.training.arithmetic import fast_arithmetic

TINY = torch.tensor([1e-39])


@pytest.mark.parametrize("before", [False, True])
def test_settings_hold_inside_and_are_given_back(before):
    torch.set_flush_denormal(before)
    try:
        expected = float(TINY * 1.0)
        with fast_arithmetic(torch.device("cpu")):
            assert float(TINY * 1.0) == 0.0
        assert float(TINY * 1.0) == expected
        assert (expected == 0.0) is before
    finally:
        torch.set_flush_denormal(False)
