"""One pass through an encoder, watched: what topics show of a model's attention.

In:   a network with an encoder, token ids, a layer.
Out:  the weights of that layer, the states after the last one, the largest score of all layers.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from glassformer.model.transformer import Transformer


@dataclass(frozen=True, slots=True)
class EncoderPass:
    """What one pass through the encoder showed."""

    weights: Tensor  # (B, H, T, S) of one layer
    states: Tensor  # (B, T, D) after the last layer
    largest_score: float  # of all layers


@torch.no_grad()
def watch_encoder(network: Transformer, ids: Tensor, layer: int, real: Tensor | None = None) -> EncoderPass:
    """Run the encoder on `ids` (B, S); `real` says which are no padding."""
    assert network.encoder is not None
    patterns: list[Tensor] = []
    scores: list[float] = []
    handles = []
    for block in {network.encoder.block(each) for each in range(network.encoder.depth)}:
        attention = block.attention
        handles += [
            attention.pattern.register_forward_hook(lambda _, __, seen: patterns.append(seen)),
            attention.scores.register_forward_hook(
                lambda _, __, seen: scores.append(float(seen[seen.isfinite()].abs().max()))
            ),
        ]
    try:
        states = network.eval().encode(ids, real)
    finally:
        for handle in handles:
            handle.remove()
    return EncoderPass(patterns[layer].float(), states.float(), max(scores))
