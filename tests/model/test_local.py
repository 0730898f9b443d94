"""Attention to near keys, block by block, is attention under a banded mask."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from glassformer.model import local
from glassformer.model.local import attend_locally, find_near
from tolerances import assert_near


def draw(seed: int, rows: int, heads: int, key_heads: int, length: int) -> list[torch.Tensor]:
    chance = torch.Generator().manual_seed(seed)
    counts = (heads, key_heads, key_heads)
    return [torch.randn(rows, count, length, 4, generator=chance) for count in counts]


def attend_with_mask(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, window: int, causal: bool, factor: float
) -> torch.Tensor:
    length, group = queries.shape[2], queries.shape[1] // keys.shape[1]
    distance = torch.arange(length)[:, None] - torch.arange(length)
    seen = (distance.abs() < window) & ((distance >= 0) | (not causal))
    scores = factor * queries @ keys.repeat_interleave(group, 1).transpose(-1, -2)
    return scores.masked_fill(~seen, -torch.inf).softmax(-1) @ values.repeat_interleave(group, 1)


@given(
    seed=st.integers(0, 99),
    rows=st.integers(1, 3),
    shared=st.integers(1, 3),
    length=st.integers(1, 40),
    window=st.integers(1, 12),
    causal=st.booleans(),
    block=st.sampled_from([1, 2, 5, 64]),
)
def test_blocks_give_what_a_mask_gives(
    seed: int, rows: int, shared: int, length: int, window: int, causal: bool, block: int
) -> None:
    states = draw(seed, rows, 2 * shared, 2, length)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "BLOCK", block)
        found = attend_locally(*states, window, causal, 0.7, 0.0)
    assert_near(found, attend_with_mask(*states, window, causal, 0.7), summands=window)


def test_gradients_are_those_of_a_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "BLOCK", 4)
    states = [part.double().requires_grad_() for part in draw(0, 2, 4, 2, 19)]
    found = torch.autograd.grad(attend_locally(*states, 3, True, 0.7, 0.0).square().sum(), states)
    expected = torch.autograd.grad(attend_with_mask(*states, 3, True, 0.7).square().sum(), states)
    for own, other in zip(found, expected, strict=True):
        assert_near(own, other, dtype="float64", layers=1)


def test_no_key_far_away_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel gets stretches of keys: of a long text, work and memory grow with its length alone."""
    given: list[tuple[int, int]] = []
    kernel = F.scaled_dot_product_attention

    def watch(queries: torch.Tensor, keys: torch.Tensor, *others: object, **named: object) -> torch.Tensor:
        given.append((queries.shape[0] * queries.shape[2], keys.shape[2]))
        return kernel(queries, keys, *others, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(F, "scaled_dot_product_attention", watch)
    attend_locally(*draw(0, 1, 2, 1, 4096), 64, True, 1.0, 0.0)
    assert given == [(4096, 127)]


def test_near_keys_of_later_queries() -> None:
    near = find_near(2, 5, 3, 2, True, torch.device("cpu"))
    assert near.int().tolist() == [[0, 0, 1, 1, 0], [0, 0, 0, 1, 1]]


@pytest.mark.gpu
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("causal", [True, False])
def test_a_gpu_gives_what_a_mask_gives(kind: torch.dtype, causal: bool) -> None:
    states = draw(0, 2, 4, 2, 300)
    on_device = [part.cuda().to(kind).requires_grad_() for part in states]
    found = attend_locally(*on_device, 17, causal, 0.5, 0.0)
    found.float().square().sum().backward()
    rounded = [part.detach().float().cpu() for part in on_device]
    name = str(kind).removeprefix("torch.")
    assert_near(found.float(), attend_with_mask(*rounded, 17, causal, 0.5), summands=17, dtype=name)
    assert all(part.grad is not None and bool(part.grad.isfinite().all()) for part in on_device)
