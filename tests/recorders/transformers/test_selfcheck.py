"""The tolerance of the self-check grows with depth and width, and is never large enough for a mistake."""

import torch
from torch import nn

from glassformer.recorders.transformers.selfcheck import HALF_TOLERANCE, TOLERANCE, tolerance_of


def stack(layers: int, width: int) -> nn.Module:
    """The matrices of a network with six of them in a layer."""
    return nn.Sequential(*[nn.Linear(width, width) for _ in range(6 * layers)])


def test_it_grows_with_the_model() -> None:
    assert tolerance_of(stack(2, 64)) == TOLERANCE
    deep, deeper = (tolerance_of(stack(layers, 512)) for layers in (12, 48))
    assert TOLERANCE < deep < deeper < 1e-3


def test_half_precision_has_its_own() -> None:
    for dtype in (torch.float16, torch.bfloat16):
        assert tolerance_of(stack(1, 8).to(dtype)) == HALF_TOLERANCE


def test_a_model_without_matrices() -> None:
    assert tolerance_of(nn.LayerNorm(4)) == TOLERANCE
