"""The cache: every beam sees its own way, and buffers are as long as was asked for."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassformer.config import ModelConfig
from glassformer.model.cache import Cache
from glassformer.model.decoding import CachedDecoding
from glassformer.model.transformer import Transformer
from tolerances import assert_near


@given(seed=st.integers(0, 999), beams=st.integers(1, 4), steps=st.integers(1, 6))
def test_slots_seen_are_the_way_to_a_beam(seed: int, beams: int, steps: int) -> None:
    """Each beam sees one slot a step, and those are its own, its parent's, its parent's parent's …"""
    generator = torch.Generator().manual_seed(seed)
    cache = Cache(depth=1, capacity=2 + steps)
    cache.open(torch.arange(2))
    cache.layers[0].extend(torch.zeros(2, 1, 2, 1), torch.zeros(2, 1, 2, 1))
    cache.select(torch.zeros(2, beams, dtype=torch.long))
    ways: list[list[list[int]]] = [[[0, 1] for _ in range(beams)] for _ in range(2)]
    for step in range(steps):
        cache.open(torch.full((beams,), 2 + step))
        cache.layers[0].extend(torch.zeros(2, 1, beams, 1), torch.zeros(2, 1, beams, 1))
        for source in ways:
            for beam, way in enumerate(source):
                way.append(2 + step * beams + beam)
        assert cache.length == 2 + (step + 1) * beams
        mask = cache.mask(beams).allowed
        seen = torch.ones(2, beams, cache.length, dtype=torch.bool) if mask is None else mask[:, 0]
        found = [[row.nonzero()[:, 0].tolist() for row in source] for source in seen]
        assert found == ways
        origin = torch.randint(beams, (2, beams), generator=generator)
        cache.select(origin)
        ways = [
            [list(ways[source][beam]) for beam in beams_] for source, beams_ in enumerate(origin.tolist())
        ]


def test_capacity_is_enough_and_no_more() -> None:
    """Buffers are as long as was asked for: a longer walk is refused rather than wrapped around."""
    torch.manual_seed(0)
    network = Transformer(ModelConfig(vocabulary_size=9, shape="decoder", layers=1, width=8, heads=1)).eval()
    with torch.inference_mode():
        decoding = network.begin(torch.tensor([[3, 4]]), capacity=4)
        decoding.select(torch.tensor([0, 0, 0]))
        for _ in range(2):
            decoding.step(torch.tensor([5, 6, 7]))
        with pytest.raises(RuntimeError):
            decoding.step(torch.tensor([5, 6, 7]))


def build_local(window: int | None, **settings: Any) -> Transformer:
    torch.manual_seed(0)
    words: dict[str, Any] = {"shape": "decoder", "layers": 2, "width": 16, "heads": 4, "positions": "rotary"}
    return Transformer(ModelConfig(9, **{**words, "window": window, **settings})).eval()


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("prompt", [2, 30])
@pytest.mark.slow
def test_what_no_window_reaches_is_dropped(prompt: int, beams: int) -> None:
    """Slots are bounded by the window however long the text, and every step is as without a cache."""
    window, steps = 5, 40
    network = build_local(window)
    ids = torch.randint(9, (2, prompt), generator=torch.Generator().manual_seed(1))
    chance = torch.Generator().manual_seed(2)
    with torch.inference_mode():
        cached, plain = (network.begin(ids, capacity=prompt + steps, cached=kept) for kept in (True, False))
        assert isinstance(cached, CachedDecoding)
        rows = torch.arange(2).repeat_interleave(beams)
        for _ in range(steps):
            for decoding in (cached, plain):
                decoding.select(rows)
            words = torch.randint(9, (2 * beams,), generator=chance)
            assert_near(cached.step(words), plain.step(words), layers=2)
            assert cached.cache.layers[0].capacity <= 2 * window * beams
            own = torch.randint(beams, (2, beams), generator=chance)
            rows = (own + beams * torch.arange(2)[:, None]).flatten()


@pytest.mark.parametrize("left", [True, False])
def test_padding_is_no_distance(left: bool) -> None:
    network, steps = build_local(3), 20
    ids = torch.randint(9, (2, 8), generator=torch.Generator().manual_seed(1))
    real = torch.ones(2, 8, dtype=torch.bool)
    real[1, slice(0, 4) if left else slice(2, 6)] = False
    with torch.inference_mode():
        cached, plain = (network.begin(ids, real, capacity=8 + steps, cached=kept) for kept in (True, False))
        alone = network.begin(ids[1:, real[1]], capacity=4 + steps)
        for word in range(steps):
            words = torch.tensor([word % 9, (word + 2) % 9])
            assert_near(cached.step(words), plain.step(words), layers=2)
            assert_near(alone.step(words[1:]), cached.logits[1:], layers=2)
        assert isinstance(cached, CachedDecoding)
        assert (cached.cache.window is not None) == left


def test_a_cache_of_fewer_key_heads_is_smaller() -> None:
    sizes = []
    for key_heads in (None, 2, 1):
        decoding = build_local(None, key_heads=key_heads).begin(torch.tensor([[3, 4]]), capacity=10)
        assert isinstance(decoding, CachedDecoding)
        buffers = [layer.keys for layer in decoding.cache.layers]
        sizes.append(sum(buffer.nbytes for buffer in buffers if buffer is not None))
    assert sizes == [2 * 10 * 16 * 4, 2 * 10 * 8 * 4, 2 * 10 * 4 * 4]
