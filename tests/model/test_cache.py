"""The cache: every beam sees its own way, and buffers are as long as was asked for."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassformer.config import ModelConfig
from glassformer.model.cache import Cache
from glassformer.model.transformer import Transformer


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
