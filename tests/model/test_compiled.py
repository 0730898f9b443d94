"""torch.compile takes the whole network as one graph, and looking at a compiled network still works."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from campaigns import campaign
from glassformer.config import ModelConfig
from glassformer.model.generate import at_inference
from glassformer.model.transformer import Transformer
from tolerances import assert_near

SMALL: dict[str, Any] = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 32, "max_length": 16}
KINDS: dict[str, dict[str, Any]] = {
    "bert": {
        "shape": "encoder",
        "head": "masked",
        "output_bias": True,
        "segments": 2,
        "embedding_norm": True,
    },
    "classifier": {"shape": "encoder", "head": "classes", "classes": 3, "pooling": "mean"},
    "gpt": {"shape": "decoder", "norm_position": "pre", "positions": "learned"},
    "rotary": {"shape": "decoder", "positions": "rotary", "residual_scale": True},
    "paper": {"shape": "encoder-decoder"},
    "relative": {"shape": "encoder-decoder", "positions": "relative", "share_layers": True},
    "additive": {"shape": "encoder-decoder", "similarity": "additive"},
    "alibi": {"shape": "encoder-decoder", "positions": "alibi"},
    "grouped": {"shape": "decoder", "positions": "rotary", "key_heads": 1, "query_key_norm": True},
    "window": {"shape": "decoder", "window": 3, "score_scale": 0.5},
    "hard": {"shape": "decoder", "best_keys": 1},
}


@pytest.fixture(autouse=True)
def _forget_graphs() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def build(kind: str) -> Transformer:
    torch.manual_seed(0)
    return Transformer(ModelConfig(30, **{**SMALL, **KINDS[kind]}, dropout=0.0))


def inputs(network: Transformer) -> tuple[tuple[torch.Tensor, torch.Tensor], dict[str, torch.Tensor]]:
    ids = torch.randint(0, 30, (2, 7), generator=torch.Generator().manual_seed(1))
    real = torch.ones(2, 7, dtype=torch.bool)
    real[1, 4:] = False
    both = network.config.shape == "encoder-decoder"
    return (ids, real), {"target": ids.flip(1)} if both else {}


@campaign(
    "kind, training",
    [*((kind, True) for kind in KINDS), ("bert", False), ("gpt", False), ("paper", False)],
    sample=6,
)
def test_one_graph_without_a_break(kind: str, training: bool) -> None:
    """Six of the kinds in `make test`, all of them in `make test-long`."""
    network = build(kind).train(training)
    positional, named = inputs(network)
    compiled = torch.compile(network, fullgraph=True, backend="eager")
    found, expected = compiled(*positional, **named), network(*positional, **named)
    assert_near(found, expected, layers=2)
    if training:
        parameters = list(network.parameters())
        both = (
            torch.autograd.grad(out.square().sum(), parameters, allow_unused=True)
            for out in (found, expected)
        )
        for own, other in zip(*both, strict=True):
            assert (own is None) == (other is None)
            assert own is None or torch.allclose(own, other, atol=1e-3)


@pytest.mark.slow
def test_windows_of_a_compiled_network_open() -> None:
    network = build("paper")
    positional, named = inputs(network)
    expected = network.eval()(*positional, **named)
    network.compile(backend="eager")
    network(*positional, **named)  # compiled before anybody looks
    seen = []
    block = network.decoder.block(1)
    hook = block.cross.pattern.register_forward_hook(lambda _, __, weights: seen.append(weights.numpy()))
    with at_inference(network):
        found = network(*positional, **named)
    hook.remove()
    assert_near(found, expected, layers=2)
    assert len(seen) == 1
    assert_near(seen[0].sum(-1), 1, layers=2)
