"""What a stack is made of: norms, feed-forward, residual connections, one encoder or decoder layer.

In:   hidden states (batch, token, width) and masks.
Out:  hidden states of the same shape.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.config import Activation, ModelConfig
from glassformer.model.attention import CrossAttention, LayerCache, Mask, SelfAttention
from glassformer.model.linear import Linear
from glassformer.model.positions import Rotation

ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": lambda hidden: F.gelu(hidden, approximate="tanh"),
    "silu": F.silu,
}


class LayerNorm(nn.LayerNorm):
    """Each token by its own mean and variance over features; padding has no influence."""

    def forward(self, hidden: Tensor, real: Tensor | None = None) -> Tensor:  # noqa: ARG002
        return super().forward(hidden)


class BatchNorm(nn.BatchNorm1d):
    """Each feature by its mean and variance over all real tokens of a batch: to compare layer norm with.

    In training on padded batches its shapes depend on how many tokens are real: a compiler breaks its graph.
    """

    def forward(self, hidden: Tensor, real: Tensor | None = None) -> Tensor:
        if not self.training or real is None:
            return super().forward(hidden.flatten(0, -2)).view_as(hidden)  # (B·T, D)
        normed = torch.zeros_like(hidden)
        normed[real] = super().forward(hidden[real])
        return normed


def build_norm(config: ModelConfig, width: int) -> LayerNorm | BatchNorm:
    """The norm behind `ModelConfig.norm`."""
    kind = LayerNorm if config.norm == "layer" else BatchNorm
    return kind(width, eps=config.norm_epsilon)


class FeedForward(nn.Module):
    """The same two layers at every position: widen, switch features on or off, narrow (section 3.3)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.expand = Linear(config.width, config.feed_forward)
        self.active = nn.Identity()  # window: (B, T, feed_forward), what the activation switched on
        self.contract = Linear(config.feed_forward, config.width)
        self.activation = ACTIVATIONS[config.activation]
        self.dropout = config.feed_forward_dropout

    def forward(self, hidden: Tensor) -> Tensor:
        active = self.active(self.activation(self.expand(hidden)))
        if self.dropout and self.training:
            active = F.dropout(active, self.dropout)
        return self.contract(active)


class Residual(nn.Module):
    """Add & norm around a sub-layer: norm before (pre) or after (post), dropout, a learned scale."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = build_norm(config, config.width)
        self.before = config.norm_position == "pre"
        self.dropout = config.dropout
        self.scale = nn.Parameter(torch.ones(())) if config.residual_scale else None

    def forward(self, hidden: Tensor, sublayer: Callable[[Tensor], Tensor], real: Tensor | None) -> Tensor:
        change = sublayer(self.norm(hidden, real) if self.before else hidden)
        if self.dropout and self.training:
            change = F.dropout(change, self.dropout)
        if self.scale is not None:
            change = self.scale * change
        hidden = hidden + change
        return hidden if self.before else self.norm(hidden, real)


class Memory(NamedTuple):
    """What one decoder layer sees of the encoder: keys and values (B, H, S, K), and which are real."""

    keys: Tensor
    values: Tensor
    mask: Mask


class Block(nn.Module):
    """One layer: self-attention, in a decoder above an encoder also cross-attention, feed-forward."""

    def __init__(self, config: ModelConfig, *, cross: bool) -> None:
        super().__init__()
        self.attention = SelfAttention(config)
        self.attention_residual = Residual(config)
        self.cross = CrossAttention(config) if cross else None
        self.cross_residual = Residual(config) if cross else None
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        hidden: Tensor,
        mask: Mask,
        real: Tensor | None = None,
        rotation: Rotation | None = None,
        memory: Memory | None = None,
        cache: LayerCache | None = None,
    ) -> Tensor:
        hidden = self.attention_residual(hidden, lambda x: self.attention(x, mask, rotation, cache), real)
        if self.cross is not None and self.cross_residual is not None and memory is not None:
            cross, keys, values = self.cross, memory.keys, memory.values
            hidden = self.cross_residual(hidden, lambda x: cross(x, memory.mask, keys, values), real)
        return self.feed_forward_residual(hidden, self.feed_forward, real)
