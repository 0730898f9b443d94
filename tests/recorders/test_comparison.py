"""A recording is exact after a comparison within what rounding explains."""

import math

import pytest
import torch
from torch import nn

from glassformer.messages import literal
from glassformer.recorders.comparison import Comparison, find_largest, tolerance_of
from glassformer.rounding import FARTHEST


def stack(layers: int, width: int) -> nn.Module:
    """The matrices of a network with six of them in a layer."""
    return nn.Sequential(*[nn.Linear(width, width) for _ in range(6 * layers)])


def test_only_a_comparison_makes_exact() -> None:
    assert Comparison(1e-7, literal("eager"), 1e-6).exact
    assert not Comparison(1e-5, literal("eager"), 1e-6).exact
    assert not Comparison(1e-7, literal("eager"), 1e-6, complete=False).exact
    assert not Comparison().exact
    assert not Comparison(tolerance=1.0).exact


@pytest.mark.slow
def test_tolerance_grows_with_the_model_and_its_scores() -> None:
    small, deep, deeper = (tolerance_of(stack(layers, 512), 16) for layers in (1, 12, 48))
    assert 1e-5 < small < deep < deeper < 1e-3
    assert tolerance_of(stack(2, 64), 1) < tolerance_of(stack(2, 64), 16) < 1e-4


def test_half_precision_has_a_limit_however_deep() -> None:
    assert tolerance_of(stack(1, 8).half(), 1) < FARTHEST
    for dtype in (torch.float16, torch.bfloat16):
        assert tolerance_of(stack(48, 8).to(dtype), 16) == FARTHEST


def test_double_precision_is_compared_in_float32() -> None:
    assert tolerance_of(stack(1, 8).double(), 1) == tolerance_of(stack(1, 8), 1)


def test_a_model_without_matrices() -> None:
    assert 0 < tolerance_of(nn.LayerNorm(4), 1) < 1e-6


def test_a_difference_that_is_no_number_is_the_largest() -> None:
    assert find_largest([]) == 0
    assert find_largest([0.5, 2.0]) == 2
    for errors in ([math.nan, 1e-9], [1e-9, math.nan]):
        assert not Comparison(find_largest(errors), None, 1.0).exact
