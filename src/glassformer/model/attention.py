"""Attention: queries are compared with keys and receive a mixture of values.

In:   hidden states (batch, token, width), and what may be seen.
Out:  hidden states of the same shape; on the way, windows where a recorder may look.

Two paths compute the same thing. The fused one (`scaled_dot_product_attention`) trains and runs; the
explicit one forms every score and weight. A hook on the window `scores` or `pattern` is what opens the
explicit path; without a hook no weights are formed, unless no fused kernel computes this attention.
Shape letters: B batch, H head, G key head, T query, S key, D width, K head width.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.config import ModelConfig
from glassformer.model.linear import Linear
from glassformer.model.local import attend_locally, find_near
from glassformer.model.positions import Rotation, rotate
from glassformer.model.similarity import ProductSimilarity, build_similarity, hard, soft


@dataclass(frozen=True, slots=True)
class Mask:
    """Which keys a query may see, and what is added to the score of each."""

    # (B or 1, 1, T or 1, S) boolean; None: every key, or those that `causal` leaves
    allowed: Tensor | None = None
    causal: bool = False  # no key after its query; only where `allowed` is None and T = S
    bias: Tensor | None = None  # (B or 1, H, T, S), added to the scores: positions as a bias
    window: int | None = None  # no key so many tokens away or farther; only where `allowed` is None and T = S

    def fused(self, queries: int, keys: int, device: torch.device) -> Tensor | None:
        """The one tensor that the fused kernel takes: boolean, or additive where there is a bias."""
        if self.bias is None:
            return self.allowed if self.window is None else self.explicit(queries, keys, device)
        allowed = self.explicit(queries, keys, device)
        return self.bias if allowed is None else self.bias.masked_fill(~allowed, float("-inf"))

    def explicit(self, queries: int, keys: int, device: torch.device) -> Tensor | None:
        """What may be seen, written out: triangle and window too."""
        if self.window is not None:
            return find_near(queries, keys, keys - queries, self.window, self.causal, device)
        return triangle(queries, keys, device) if self.causal else self.allowed

    def within(self, window: int, queries: Tensor, keys: Tensor) -> "Mask":
        """The same for keys nearer than `window` alone, by positions (…, T) and (…, S).

        Positions that are the same tensor without a batch count every token: then no matrix is needed.
        """
        if keys.shape[-1] <= window:
            return self  # the first and the last are nearer
        if queries is keys and queries.dim() == 1 and self.allowed is None:
            return replace(self, window=window)
        distance = (queries[..., :, None] - keys[..., None, :]).abs()  # (T, S) or (B, T, S)
        near = (distance < window).view(-1, 1, *distance.shape[-2:])
        allowed = self.explicit(distance.shape[-2], distance.shape[-1], distance.device)
        return replace(self, allowed=near if allowed is None else near & allowed, causal=False)


def triangle(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """True where key ≤ query; with more keys than queries the last query sees all of them."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def combine(real: Tensor | None, *, causal: bool, queries: int) -> Mask:
    """Padding and causality together. `real` is (B, S), True at tokens that are not padding."""
    if real is None:
        return Mask(causal=causal)
    allowed = real[:, None, None, :]  # (B, 1, 1, S)
    if causal:
        allowed = allowed & triangle(queries, real.shape[1], real.device)  # (B, 1, T, S)
    return Mask(allowed)


class LayerCache(Protocol):
    """Keys and values of the tokens already seen by one attention."""

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store the keys and values of new tokens; give back all that there are."""


class Product(Protocol):
    """softmax(factor · Q Kᵀ) V under a mask: what an `Attention` runs while no hook reads its weights."""

    def __call__(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, factor: float, dropout: float, /
    ) -> Tensor:
        """From (B, H, T, K), (B, G, S, K) and (B, G, S, K) to (B, H, T, K)."""


def fused_product(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, factor: float, dropout: float
) -> Tensor:
    """The product by torch's fused kernel; where a window is all that hides keys, of near keys alone."""
    if mask.window is not None and mask.bias is None:
        return attend_locally(queries, keys, values, mask.window, mask.causal, factor, dropout)
    allowed = mask.fused(queries.shape[-2], keys.shape[-2], queries.device)
    causal = mask.causal and allowed is None
    grouped = keys.shape[1] < queries.shape[1]
    return F.scaled_dot_product_attention(
        queries, keys, values, allowed, dropout, causal, scale=factor, enable_gqa=grouped
    )


class Attention(nn.Module):
    """What self- and cross-attention share: heads, similarity, the two paths, the windows."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.head_width = config.head_width
        self.best_keys = config.best_keys
        self.dropout = config.attention_dropout
        self.similarity = build_similarity(
            config.similarity, config.heads, config.head_width, config.score_factor
        )
        self.query_norm = _build_query_key_norm(config)
        self.key_norm = _build_query_key_norm(config)
        self.output: nn.Module = (
            nn.Identity() if config.basic_attention else Linear(config.width, config.width)
        )
        self.product: Product = fused_product  # a recorder may replace it by one that measures
        self.queries = nn.Identity()  # windows: (B, H, T, K)
        self.keys = nn.Identity()  # (B, G, S, K)
        self.values = nn.Identity()  # (B, G, S, K)
        self.scores = nn.Identity()  # (B, H, T, S), bias included, before mask and softmax
        self.pattern = nn.Identity()  # (B, H, T, S), after softmax, before dropout
        self.mixed = nn.Identity()  # (B, H, T, K), the weighted sums of values

    @property
    def explicit(self) -> bool:
        """Whether weights must be formed: a hook reads them, or no fused kernel computes them."""
        if self.best_keys is not None or not isinstance(self.similarity, ProductSimilarity):
            return True
        return bool(self.scores._forward_hooks or self.pattern._forward_hooks)

    def split(self, hidden: Tensor) -> Tensor:
        return hidden.unflatten(-1, (-1, self.head_width)).transpose(1, 2)  # (B, T, ·) → (B, H or G, T, K)

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask) -> Tensor:
        """softmax(similarity(Q, K)) V, heads concatenated, times W_O: equation 1 and section 3.2.2."""
        queries, keys, values = self.queries(queries), self.keys(keys), self.values(values)
        mixed = (self._explicit if self.explicit else self._fused)(queries, keys, values, mask)
        return self.output(self.mixed(mixed).transpose(1, 2).flatten(2))  # (B, T, D)

    def _fused(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask) -> Tensor:
        assert isinstance(self.similarity, ProductSimilarity)
        queries, keys, factor = self.similarity.fold(queries, keys)
        return self.product(queries, keys, values, mask, factor, self.dropout if self.training else 0.0)

    def _explicit(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask) -> Tensor:
        keys, values = (repeat_heads(states, self.heads) for states in (keys, values))  # (B, H, S, K)
        scores = self.similarity(queries, keys)
        if mask.bias is not None:
            scores = scores + mask.bias
        scores = self.scores(scores)
        allowed = mask.explicit(scores.shape[-2], scores.shape[-1], scores.device)
        weights = soft(scores, allowed) if self.best_keys is None else hard(scores, self.best_keys, allowed)
        weights = F.dropout(self.pattern(weights), self.dropout, self.training)
        return weights @ values


def repeat_heads(states: Tensor, heads: int) -> Tensor:
    """Keys or values (B, G, S, K) once for each head that shares them (B, H, S, K)."""
    group = heads // states.shape[1]
    return states if group == 1 else states.repeat_interleave(group, dim=1)


def _build_query_key_norm(config: ModelConfig) -> nn.RMSNorm | None:
    return nn.RMSNorm(config.head_width, config.norm_epsilon) if config.query_key_norm else None


class SelfAttention(Attention):
    """Queries, keys and values from the same tokens, by one fused projection."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.parts = (config.width, config.key_width, config.key_width)  # of what the projection gives
        self.qkv = None if config.basic_attention else Linear(config.width, sum(self.parts))

    def forward(
        self, hidden: Tensor, mask: Mask, rotation: Rotation | None = None, cache: LayerCache | None = None
    ) -> Tensor:
        if self.qkv is None:
            queries = keys = values = self.split(hidden)
        else:
            queries, keys, values = map(self.split, self.qkv(hidden).split(self.parts, dim=-1))
        if self.query_norm is not None and self.key_norm is not None:
            queries, keys = self.query_norm(queries), self.key_norm(keys)
        if rotation is not None:
            queries, keys = rotate(queries, rotation), rotate(keys, rotation)
        if cache is not None:
            keys, values = cache.extend(keys, values)
        return self.attend(queries, keys, values, mask)


class CrossAttention(Attention):
    """Queries from below, keys and values from the encoder's last layer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.q = None if config.basic_attention else Linear(config.width, config.width)
        self.kv = None if config.basic_attention else Linear(config.width, 2 * config.key_width)

    def project(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (B, G, S, K) of the encoder's states: the same for every step of a generation."""
        if self.kv is None:
            return self.split(memory), self.split(memory)
        keys, values = map(self.split, self.kv(memory).chunk(2, dim=-1))
        return keys if self.key_norm is None else self.key_norm(keys), values

    def forward(self, hidden: Tensor, mask: Mask, keys: Tensor, values: Tensor) -> Tensor:
        # Beams of one source are more queries of its row.
        rows = hidden.unflatten(0, (keys.shape[0], -1)).flatten(1, 2)
        queries = self.split(rows if self.q is None else self.q(rows))
        if self.query_norm is not None:
            queries = self.query_norm(queries)
        return self.attend(queries, keys, values, mask).view_as(hidden)
