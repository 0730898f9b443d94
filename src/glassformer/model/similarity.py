"""How alike a query and a key are, and what follows: five similarity functions, soft and hard attention.

In:   queries (…, query, width) and keys (…, key, width).
Out:  scores (…, query, key), and from scores the weights of attention.

Four of the five are a dot product of transformed vectors; those declare the transformation with `fold`, so
that a fused kernel can compute them. Additive similarity is no product and always takes the explicit path.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.config import Similarity


def dot(queries: Tensor, keys: Tensor) -> Tensor:
    """q·k: grows with the length of both vectors."""
    return queries @ keys.transpose(-2, -1)


def scaled_dot(queries: Tensor, keys: Tensor) -> Tensor:
    """q·k / √d_k: equation 1 of the paper; keeps the variance of scores at that of one product."""
    return dot(queries, keys) * queries.shape[-1] ** -0.5


def cosine(queries: Tensor, keys: Tensor) -> Tensor:
    """The cosine of the angle between q and k, from -1 to 1."""
    return dot(F.normalize(queries, dim=-1), F.normalize(keys, dim=-1))


def bilinear(queries: Tensor, keys: Tensor, weight: Tensor) -> Tensor:
    """q W kᵀ: a learned form between the two spaces (Luong's "general")."""
    return dot(queries @ weight, keys)


def additive(
    queries: Tensor, keys: Tensor, query_weight: Tensor, key_weight: Tensor, vector: Tensor
) -> Tensor:
    """vᵀ tanh(W q + U k): a small network judges each pair (Bahdanau)."""
    from_queries = (queries @ query_weight.transpose(-2, -1)).unsqueeze(-2)  # (…, query, 1, width)
    from_keys = (keys @ key_weight.transpose(-2, -1)).unsqueeze(-3)  # (…, 1, key, width)
    joined = torch.tanh(from_queries + from_keys)  # (…, query, key, width)
    return (joined * vector[..., None, None, :]).sum(-1)


def soft(scores: Tensor, allowed: Tensor | None = None) -> Tensor:
    """Softmax over the allowed keys; a query that may see no key at all gets zeros, not NaN."""
    if allowed is not None:
        scores = scores.masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    nothing = (scores == float("-inf")).all(-1, keepdim=True)
    if torch.is_grad_enabled():
        return weights.masked_fill(nothing, 0.0)
    return weights.masked_fill_(nothing, 0.0)  # in place: no gradient needs them, and a copy takes time


def hard(scores: Tensor, best: int, allowed: Tensor | None = None) -> Tensor:
    """Softmax over the k best keys alone; with k = 1 a look-up that returns one value.

    One best key has no gradient of its own: it borrows that of soft attention (straight-through).
    """
    if allowed is not None:
        scores = scores.masked_fill(~allowed, float("-inf"))
    chosen = scores.topk(min(best, scores.shape[-1]), dim=-1).indices
    kept = torch.zeros_like(scores, dtype=torch.bool).scatter_(-1, chosen, True)
    weights = soft(scores, kept)
    if best == 1 and scores.requires_grad:
        gentle = soft(scores)
        weights = weights + (gentle - gentle.detach())  # this order adds exactly nothing
    return weights


class ProductSimilarity(nn.Module):
    """A similarity that is a plain dot product after `fold`: the kind that fused kernels can run.

    By itself it is `dot`; with the factor 1/√d_k `scaled_dot`.
    """

    def __init__(self, factor: float = 1.0) -> None:
        super().__init__()
        self.factor = factor

    def fold(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor, float]:
        """Vectors and a factor such that similarity = factor · (q · k)."""
        return queries, keys, self.factor

    def compare(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Scores before the factor."""
        queries, keys, _ = self.fold(queries, keys)
        return dot(queries, keys)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        queries, keys, factor = self.fold(queries, keys)
        return dot(queries * factor, keys)


class CosineSimilarity(ProductSimilarity):
    """`cosine` as a module."""

    def fold(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor, float]:
        return F.normalize(queries, dim=-1), F.normalize(keys, dim=-1), self.factor


class BilinearSimilarity(ProductSimilarity):
    """`bilinear` with one learned matrix a head; it starts as scaled dot product."""

    def __init__(self, heads: int, width: int, factor: float = 1.0) -> None:
        super().__init__(factor)
        self.weight = nn.Parameter(torch.eye(width).repeat(heads, 1, 1) * width**-0.5)  # (head, width, width)

    def fold(self, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor, float]:
        return queries @ self.weight, keys, self.factor


class AdditiveSimilarity(nn.Module):
    """`additive` with its two matrices and vector learned for each head."""

    def __init__(self, heads: int, width: int, factor: float = 1.0) -> None:
        super().__init__()
        self.factor = factor
        self.query_weight = nn.Parameter(torch.empty(heads, width, width))
        self.key_weight = nn.Parameter(torch.empty(heads, width, width))
        self.vector = nn.Parameter(torch.empty(heads, width))
        for parameter in (self.query_weight, self.key_weight, self.vector):
            nn.init.normal_(parameter, std=width**-0.5)

    def compare(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Scores before the factor."""
        return additive(queries, keys, self.query_weight, self.key_weight, self.vector)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        return additive(queries, keys, self.query_weight, self.key_weight, self.factor * self.vector)


def build_similarity(
    name: Similarity, heads: int, width: int, factor: float
) -> ProductSimilarity | AdditiveSimilarity:
    """The module behind a name of `ModelConfig.similarity`; `factor` is `ModelConfig.score_factor`."""
    if name == "additive":
        return AdditiveSimilarity(heads, width, factor)
    if name == "bilinear":
        return BilinearSimilarity(heads, width, factor)
    return (CosineSimilarity if name == "cosine" else ProductSimilarity)(factor)
