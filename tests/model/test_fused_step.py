"""Which networks take a step in few kernels, and that these say what the layers say."""

from typing import Any

import pytest
import torch
from torch import nn

from glassformer.config import ModelConfig
from glassformer.model.cuda_graph import StaticCache
from glassformer.model.decoding import CachedDecoding
from glassformer.model.fused_step import FusedStep, can_fuse, is_supported
from glassformer.model.transformer import Transformer
from tolerances import assert_near

USUAL: list[dict[str, Any]] = [
    {"positions": "learned", "norm_position": "pre", "activation": "gelu-tanh", "scale_embeddings": False},
    {"positions": "sinusoidal", "activation": "relu"},
    {"positions": "none", "activation": "silu", "key_heads": 2, "norm_position": "pre"},
    {"positions": "learned", "activation": "gelu", "share_layers": True, "output_bias": True},
]
UNUSUAL: list[dict[str, Any]] = [
    {"positions": "rotary"},
    {"positions": "alibi"},
    {"positions": "relative"},
    {"window": 3},
    {"query_key_norm": True},
    {"similarity": "cosine"},
    {"similarity": "additive"},
    {"best_keys": 2},
    {"norm": "batch"},
    {"residual_scale": True},
    {"basic_attention": True},
    {"embedding_width": 16},
    {"embedding_norm": True},
]


def build(**changes: Any) -> Transformer:
    torch.manual_seed(0)
    words = {"width": 32, "heads": 4, "layers": 2, "feed_forward": 64, "max_length": 64, "dropout": 0.0}
    words |= {"start_id": 1, "end_id": 2, "shape": "decoder"}
    network = Transformer(ModelConfig(40, **words | changes)).eval()
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.3)
    return network


@pytest.mark.parametrize("settings", USUAL, ids=str)
@pytest.mark.parametrize("shape", ["decoder", "encoder-decoder"])
def test_usual_networks_are_known(settings: dict[str, Any], shape: str) -> None:
    network = build(shape=shape, **settings)
    assert is_supported(network, None)
    assert not can_fuse(network, None, 1)  # on a CPU


@pytest.mark.parametrize("settings", UNUSUAL, ids=str)
def test_what_the_kernels_do_not_know_is_left_to_the_layers(settings: dict[str, Any]) -> None:
    assert not is_supported(build(**settings), None)


def test_a_network_that_is_watched_or_changed_runs_as_it_is_written() -> None:
    network = build()
    hook = network.decoder.block(1).feed_forward.active.register_forward_hook(lambda *_: None)
    assert not is_supported(network, None)
    hook.remove()
    assert is_supported(network, None)
    before = network.decoder.block(0).attention.product
    network.decoder.block(0).attention.product = lambda *words: before(*words)
    assert not is_supported(network, None)
    network.decoder.block(0).attention.product = before
    attention, qkv = network.decoder.block(0).attention, network.decoder.block(0).attention.qkv
    attention.qkv = nn.Sequential(qkv)  # a product that somebody put something around
    assert not is_supported(network, None)
    attention.qkv = qkv
    assert is_supported(network, None)
    turned = network.decoder.block(0).feed_forward.contract.weight
    turned.data = turned.data.t().contiguous().t()  # the same numbers, column by column in memory
    assert not is_supported(network, None)
    turned.data = turned.data.contiguous()
    assert is_supported(network, None)
    network.decoder.block(0).feed_forward.expand.half()
    assert not is_supported(network, None)


@pytest.mark.gpu
@pytest.mark.parametrize("settings", USUAL, ids=str)
@pytest.mark.parametrize("shape", ["decoder", "encoder-decoder"])
@pytest.mark.parametrize("rows", [1, 3, 20])
@pytest.mark.parametrize("prompt", [5, 300])  # slots of one block, and of several
@torch.inference_mode()
def test_a_step_says_what_the_layers_say(
    settings: dict[str, Any], shape: str, rows: int, prompt: int
) -> None:
    network = build(shape=shape, max_length=320, **settings).cuda()
    chance = torch.Generator().manual_seed(0)
    ids = torch.randint(3, 40, (rows, prompt), generator=chance).cuda()
    real: torch.Tensor | None = torch.ones_like(ids, dtype=torch.bool)
    assert real is not None
    real[0, :2] = False
    memories = None
    if network.encoder is not None:
        memories = network.memories(network.encode(ids, real), real)
        ids, real = torch.ones(rows, 1, dtype=torch.long, device="cuda"), None
    plain, other = (CachedDecoding(network, ids, real, memories, prompt + 5) for _ in range(2))
    static, following = StaticCache(other.cache, rows), other.next.clone()
    assert can_fuse(network, memories, rows) == (rows == 1)
    assert not can_fuse(network, memories, 1, beams=2)
    fused = FusedStep(network, memories)
    for _ in range(4):
        tokens = torch.randint(3, 40, (rows, 1), generator=chance).cuda()
        seen = fused.run(tokens, following, static)[:, 0]
        assert_near(seen.cpu(), plain.step(tokens.flatten()).cpu(), layers=4)
        assert torch.equal(following, plain.next)
        assert torch.equal(static.slot_positions[..., : plain.cache.length], plain.cache.positions)
