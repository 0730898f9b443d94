"""What stands on top of a stack: words of the vocabulary, masked words, classes, tags or numbers.

In:   hidden states (batch, token, width).
Out:  logits (batch, token, vocabulary), (batch, class) or (batch, token, tag); or numbers (batch, number).
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.config import ModelConfig, Pooling
from glassformer.model.layers import ACTIVATIONS, build_norm
from glassformer.model.linear import Linear, PackedWeight, multiply


class LanguageHead(nn.Module):
    """One score for each word: a product with its output vector; no `weight` where embeddings are tied."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        narrow = config.embedding_width or config.width
        self.weight = (
            None if config.tie_embeddings else nn.Parameter(torch.empty(config.vocabulary_size, narrow))
        )
        self.narrow = Linear(config.width, narrow) if config.embedding_width else None
        self.bias = nn.Parameter(torch.zeros(config.vocabulary_size)) if config.output_bias else None
        self.packed: PackedWeight = PackedWeight()

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "LanguageHead":
        self.packed = type(self.packed)()  # as `Linear` does
        super()._apply(fn, recurse)
        return self

    def prepare(self, hidden: Tensor) -> Tensor:
        """What is multiplied with the output vectors: the hidden state, as narrow as they are."""
        return hidden if self.narrow is None else self.narrow(hidden)

    def forward(self, hidden: Tensor, embeddings: Tensor) -> Tensor:
        """`embeddings` (vocabulary, width) are the output vectors where they are tied."""
        weight = embeddings if self.weight is None else self.weight
        return multiply(self.prepare(hidden), weight, self.bias, self.packed)


class MaskedHead(LanguageHead):
    """BERT's and ALBERT's: dense, activation, norm, then words; a bias for each word.

    With `relation` it also tells from the first token whether the second of two texts follows the first.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        narrow = config.embedding_width or config.width
        self.narrow: Linear = Linear(config.width, narrow)
        self.norm = build_norm(config, narrow)
        self.activation = ACTIVATIONS[config.activation]
        self.pooler = Linear(config.width, config.width) if config.relation else None
        self.relation = Linear(config.width, 2) if config.relation else None

    def prepare(self, hidden: Tensor) -> Tensor:
        return self.norm(self.activation(self.narrow(hidden)))

    def relate(self, hidden: Tensor) -> Tensor:
        """Hidden states (B, S, D) to logits (B, 2): 0, the second text follows the first; 1, it does not."""
        assert self.pooler is not None
        assert self.relation is not None
        logits: Tensor = self.relation(torch.tanh(self.pooler(hidden[:, 0])))
        return logits


class ClassifierHead(nn.Module):
    """One vector for the whole text, then one score for each class."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.pooling = config.pooling
        self.dropout = config.dropout
        self.pooler = Linear(config.width, config.width) if config.pooler else None
        self.classes = Linear(config.width, config.classes)

    def forward(self, hidden: Tensor, real: Tensor | None = None) -> Tensor:
        pooled = pool(hidden, real, self.pooling)  # (B, D)
        if self.pooler is not None:
            pooled = torch.tanh(self.pooler(pooled))
        return self.classes(F.dropout(pooled, self.dropout, self.training))


class TaggingHead(nn.Module):
    """One score for each class at every token."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.dropout = config.dropout
        self.classes = Linear(config.width, config.classes)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.classes(F.dropout(hidden, self.dropout, self.training))


class NumberHead(ClassifierHead):
    """One vector for the whole text, then numbers: what the layer gives, times `scale`, plus `center`.

    Scale and center are those of the numbers that are learnt, so that the layer itself learns numbers around
    0 whose spread is 1, whatever unit the data have. Both stay float64, and the numbers are: float32 cannot
    tell apart two dates in seconds that are a minute apart.
    """

    center: Tensor
    scale: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.register_buffer("center", torch.zeros(config.classes, dtype=torch.float64))
        self.register_buffer("scale", torch.ones(config.classes, dtype=torch.float64))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "NumberHead":
        center, scale = self.center, self.scale
        super()._apply(fn, recurse)
        if self.center.dtype != torch.float64:  # the device may change, the precision may not
            self.center, self.scale = center.to(self.center.device), scale.to(self.scale.device)
        return self

    def forward(self, hidden: Tensor, real: Tensor | None = None) -> Tensor:
        return self.center + super().forward(hidden, real) * self.scale

    def fold(self) -> tuple[Tensor, Tensor]:
        """Weight and bias of the one layer that does the same as layer, scale and center."""
        weight, bias = self.classes.weight.detach(), self.classes.bias.detach()
        folded = weight * self.scale[:, None], bias * self.scale + self.center
        return folded[0].to(weight.dtype), folded[1].to(bias.dtype)


def build_head(config: ModelConfig) -> LanguageHead | ClassifierHead | TaggingHead | None:
    """The head behind `ModelConfig.head`; None where hidden states come out as they are."""
    match config.head:
        case "classes":
            return ClassifierHead(config)
        case "tags":
            return TaggingHead(config)
        case "numbers":
            return NumberHead(config)
        case "language":
            return LanguageHead(config)
        case "masked":
            return MaskedHead(config)
        case "none":
            return None


def pool(hidden: Tensor, real: Tensor | None, how: Pooling) -> Tensor:
    """One vector of many, padding left out: the first or last token's, the mean, or the largest."""
    if real is None:
        real = torch.ones(hidden.shape[:2], dtype=torch.bool, device=hidden.device)
    match how:
        case "first":
            return hidden.take_along_dim(real.long().argmax(1)[:, None, None], 1)[:, 0]
        case "last":
            return pool(hidden.flip(1), real.flip(1), "first")
        case "mean":
            counted = real[..., None].to(hidden.dtype)
            return (hidden * counted).sum(1) / counted.sum(1).clamp(min=1)
        case "max":
            return hidden.masked_fill(~real[..., None], float("-inf")).amax(1)
