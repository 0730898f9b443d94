"""A generation under way: however rows branch and sources leave, the cache says what reading anew would."""

import copy
from typing import Any

import pytest
import torch

from glassformer.model.prompt import pad_left
from glassformer.model.transformer import Transformer
from tolerances import assert_near

STEPS = 6


def walk(decoding: Any, sources: int, seed: int) -> list[torch.Tensor]:
    """Random steps, branchings and departures, the same for the same seed; the logits after each step."""
    generator = torch.Generator().manual_seed(seed)

    def draw(high: int, *shape: int) -> torch.Tensor:
        return torch.randint(high, shape, generator=generator)

    beams, seen = 1, [decoding.logits]
    for _ in range(STEPS):
        if int(draw(3, 1)):
            new = 1 + int(draw(4, 1))
            origin = draw(beams, sources, new)
            decoding.select((torch.arange(sources)[:, None] * beams + origin).flatten())
            beams = new
        if sources > 1 and int(draw(4, 1)) == 0:
            kept = torch.randperm(sources, generator=generator)[: sources - 1].sort().values
            decoding.keep(kept)
            sources -= 1
        decoding.step(3 + draw(40, sources * beams))
        seen.append(decoding.logits)
    return seen


@pytest.mark.parametrize("seed", range(6))
def test_cache_agrees_with_reading_anew(network: Any, rows: list[list[int]], seed: int) -> None:
    ids, real = pad_left(rows)
    with torch.inference_mode():
        kept, computed = (
            walk(network.begin(ids, real, capacity=ids.shape[1] + STEPS, cached=cached), len(rows), seed)
            for cached in (True, False)
        )
    for one, other in zip(kept, computed, strict=True):
        assert_near(one, other, layers=2, scores=100)  # these networks have sharp attention


def test_kept_sources_keep_their_logits(network: Any, rows: list[list[int]]) -> None:
    ids, real = pad_left(rows)
    for cached in (True, False):
        with torch.inference_mode():
            decoding = network.begin(ids, real, capacity=20, cached=cached)
            before = decoding.logits.clone()
            decoding.keep(torch.tensor([0, 2]))
        assert torch.equal(decoding.logits, before[[0, 2]])


def test_cross_keys_are_computed_once(translator: Transformer) -> None:
    calls: list[int] = []
    handles = [
        block.cross.kv.register_forward_hook(lambda *_: calls.append(1))
        for block in copy.copy(translator).decoder.layers
    ]
    with torch.inference_mode():
        decoding = translator.begin(torch.tensor([[5, 6, 7]]), capacity=9)
        for token in (3, 4, 5):
            decoding.step(torch.tensor([token]))
    for handle in handles:
        handle.remove()
    assert len(calls) == len(translator.decoder.layers)
