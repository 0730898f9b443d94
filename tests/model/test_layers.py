"""Layers: norms, feed-forward, residual connections."""

import torch

from glassformer.config import ModelConfig
from glassformer.model.layers import BatchNorm, FeedForward
from glassformer.model.transformer import Transformer
from tolerances import assert_near

SMALL = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 32, "max_length": 24, "dropout": 0.0}


def build(seed=0, **changes):
    torch.manual_seed(seed)
    return Transformer(ModelConfig(30, **{**SMALL, **changes})).eval()


def draw(seed, rows, length):
    return torch.randint(0, 30, (rows, length), generator=torch.Generator().manual_seed(seed))


def test_learned_residual_scale_starts_at_one_and_scales_the_sublayer():
    network, plain = build(shape="encoder", residual_scale=True), build(shape="encoder")
    plain.load_state_dict(network.state_dict(), strict=False)
    ids = draw(0, 1, 5)
    assert torch.allclose(network(ids), plain(ids))
    for block in network.encoder.layers:
        for residual in (block.attention_residual, block.feed_forward_residual):
            residual.scale.data.zero_()
    start = network.embeddings(ids, torch.arange(5))
    normed = start
    for block in network.encoder.layers:
        normed = block.feed_forward_residual.norm(block.attention_residual.norm(normed))
    assert_near(network.encode(ids), normed)


def test_the_feed_forward_drops_what_the_activation_switched_on():
    layer = FeedForward(
        ModelConfig(9, width=8, heads=2, feed_forward=16, dropout=0.0, feed_forward_dropout=0.5)
    )
    hidden = torch.randn(2, 3, 8)
    torch.manual_seed(0)
    found = layer(hidden)
    torch.manual_seed(0)
    kept = (torch.empty(2, 3, 16).bernoulli_(0.5) / 0.5) * torch.relu(layer.expand(hidden))
    assert_near(found, layer.contract(kept))
    plain = layer.contract(torch.relu(layer.expand(hidden)))
    assert torch.equal(layer.eval()(hidden), plain)


def test_batch_norm_leaves_padding_out_of_its_statistics():
    norm = BatchNorm(4).train()
    hidden = torch.randn(2, 5, 4)
    real = torch.ones(2, 5, dtype=torch.bool)
    real[1, 3:] = False
    hidden[1, 3:] = 1e6
    normed = norm(hidden, real)[real]
    assert_near(normed.mean(0), torch.zeros(4), layers=2)
    assert torch.allclose(normed.var(0, unbiased=False), torch.ones(4), atol=1e-3)
