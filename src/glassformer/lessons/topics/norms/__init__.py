"""Layer norm and batch norm on one batch: rows against columns.

In:   which norm, how loud the third sentence is, whether padding counts.
Out:  the numbers before and after, and how much the first sentence changed because the third did.
"""

import torch
from torch import Tensor

from glassformer.lessons.figures import axis, matrix, measure, numbers, seeded, series
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Bars, Figure, Numbers
from glassformer.lessons.topics.masks import PADDING, TITLES, pad
from glassformer.messages import message
from glassformer.model.layers import BatchNorm, LayerNorm

LENGTH = 5
FEATURES = 6
EXAMPLE = ((3.2897, 0.7432, -1.1652), (0.7432, 1.3647, -1.1707), (-1.1652, -1.1707, 5.6380))


def compute(inputs: Inputs) -> Result:
    """Norm the batch twice: as it is, and with its third sentence louder."""
    kind, factor = inputs.text("norm"), inputs.number("louder")
    count_padding = kind == "batch" and inputs.flag("padding")
    batch, real, labels = read_batch(inputs.text("data"))
    part = message("lessons.norms.row" if inputs.text("data") == "matrix" else "lessons.norms.sentence")
    louder = batch.clone()
    louder[-1] *= factor
    counted = torch.ones_like(real) if count_padding else real
    quiet, loud = normalise(batch, counted, kind), normalise(louder, counted, kind)
    change = (loud - quiet).abs().amax(-1)  # (B, T)
    first = float(change[0][real[0]].max())
    rows = axis(labels, "lessons.norms.word")
    columns = axis(range(batch.shape[-1]), "lessons.norms.feature")
    figures: list[Figure] = [
        matrix("before", "lessons.norms.before", _blank(louder, counted), rows, columns),
        matrix("after", "lessons.norms.after", _blank(loud, counted), rows, columns),
        Bars(
            id="change",
            title=message("lessons.norms.what_changed", part=part, factor=factor),
            labels=tuple(labels),
            value_title=message("lessons.norms.largest_change"),
            series=(series("lessons.norms.change", _blank(change, counted).flatten()),),
        ),
        _measure(loud, counted, kind),
    ]
    if factor == 1:
        found = message("lessons.norms.not_louder", part=part)
    elif first == 0:
        found = message("lessons.norms.unchanged", part=part, factor=factor)
    else:
        found = message("lessons.norms.changed", part=part, factor=factor, first=first)
    return Result(found, figures)


def read_batch(data: str) -> tuple[Tensor, Tensor, list[str]]:
    """Vectors (B, T, D), which tokens are real (B, T), and their names."""
    if data == "matrix":
        return torch.tensor(EXAMPLE)[:, None], torch.ones(3, 1, dtype=torch.bool), list("青花瓷")
    tokens = [pad(title, LENGTH) for title in TITLES]
    alphabet = sorted({token for each in tokens for token in each} - {PADDING})
    table = torch.randn(len(alphabet) + 1, FEATURES, generator=seeded(0)) * 1.5 + 0.5
    table[-1] = 0.0  # padding is a row of zeros, as in most embedding tables
    ids = [[[*alphabet, PADDING].index(token) for token in each] for each in tokens]
    real = torch.tensor([[token != PADDING for token in each] for each in tokens])
    return table[torch.tensor(ids)], real, [token for each in tokens for token in each]


@torch.no_grad()
def normalise(batch: Tensor, counted: Tensor, kind: str) -> Tensor:
    """The norm as a network in training has it, before any learned scale."""
    width = batch.shape[-1]
    norm: LayerNorm | BatchNorm = LayerNorm(width) if kind == "layer" else BatchNorm(width)
    normed: Tensor = norm.train()(batch, counted)
    return normed


def _measure(normed: Tensor, counted: Tensor, kind: str) -> Numbers:
    words = normed[counted]  # (word, D)
    dimension, name = (-1, "lessons.norms.row") if kind == "layer" else (0, "lessons.norms.column")
    mean, variance = words.mean(dimension).abs().max(), words.var(dimension, correction=0).min()
    line = message(name)
    return numbers(
        "numbers",
        message("lessons.norms.after_the_norm", line=line),
        measure(message("lessons.norms.largest_mean", line=line), float(mean)),
        measure(message("lessons.norms.smallest_variance", line=line), float(variance)),
    )


def _blank(values: Tensor, shown: Tensor) -> Tensor:
    """(word, …) with nothing where there is only padding."""
    flat = values.flatten(0, 1).clone()
    flat[~shown.flatten()] = float("nan")
    return flat
