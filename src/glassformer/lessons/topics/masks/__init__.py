"""Padding and causal masks, alone and together, on a padded batch: the mask, the scores, the weights.

In:   which mask, which sentence of the batch, and how wide the vectors are.
Out:  what may be seen (query, key), scores with −∞ left out, and the weights that follow.
"""

import torch
from torch import Tensor

from glassformer.lessons.figures import axis, flags, matrix, percent, seeded
from glassformer.lessons.run import Inputs, Result
from glassformer.messages import Message, message
from glassformer.model.attention import combine
from glassformer.model.similarity import scaled_dot, soft

TITLES = ("青花瓷", "爱在西元前", "星晴")
PADDING = "<pad>"
LENGTH = 5  # of the batch; the long line stands alone in its own


def compute(inputs: Inputs) -> Result:
    """Mask one sentence of a batch."""
    text, kind = inputs.text("text"), inputs.text("mask")
    batch = (*TITLES, text) if text not in TITLES else TITLES
    length = max(LENGTH, len(text))
    tokens = [pad(each, length) for each in batch]
    real = torch.tensor([[token != PADDING for token in each] for each in tokens])  # (B, S)
    chosen = batch.index(text)
    allowed = see(real[chosen : chosen + 1], kind)  # (T, S)
    alphabet = sorted({token for each in tokens for token in each})
    width = inputs.integer("width")
    table = torch.randn(len(alphabet), width, generator=seeded(inputs.integer("seed")))
    vectors = table[torch.tensor([alphabet.index(token) for token in tokens[chosen]])]
    scores = scaled_dot(vectors, vectors)
    weights = soft(scores, allowed)
    masked = scores.masked_fill(~allowed, float("-inf"))
    rows, columns = axis(tokens[chosen], "lessons.masks.query"), axis(tokens[chosen], "lessons.masks.key")
    sentences, places = axis(batch, "lessons.masks.sentence"), axis(range(length), "lessons.masks.position")
    figures = (
        flags("allowed", "lessons.masks.allowed", allowed, rows, columns),
        matrix("scores", "lessons.masks.scores", masked, rows, columns),
        matrix("weights", "lessons.masks.weights", weights, rows, columns, ends=(0.0, 1.0)),
        flags("batch", "lessons.masks.batch", real, sentences, places),
    )
    return Result(_find(kind, allowed, weights, real[chosen]), figures)


def pad(text: str, length: int) -> list[str]:
    """One token for each character, filled up."""
    return [*text, *(PADDING,) * (length - len(text))]


def see(real: Tensor, kind: str) -> Tensor:
    """What each query may see (query, key), as in this project's networks."""
    length = real.shape[1]
    mask = combine(
        real if kind in ("padding", "both") else None, causal=kind in ("causal", "both"), queries=length
    )
    allowed = mask.explicit(length, length, real.device)
    if allowed is None:
        return torch.ones(length, length, dtype=torch.bool)
    return allowed.expand(1, 1, length, length)[0, 0] if allowed.dim() == 4 else allowed


def _find(kind: str, allowed: Tensor, weights: Tensor, real: Tensor) -> Message:
    hidden = int((~allowed).sum())
    lost = float(weights[real][:, ~real].sum(-1).mean()) if not bool(real.all()) else 0.0
    later = float(weights.triu(1).sum(-1).mean())
    if kind == "none":
        return message("lessons.masks.nothing_hidden", lost=percent(lost), later=percent(later))
    what = message(f"lessons.masks.hides.{kind}")
    return message("lessons.masks.cells_hidden", hidden=hidden, cells=allowed.numel(), what=what)
