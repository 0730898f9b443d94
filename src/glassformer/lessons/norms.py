"""Layer norm and batch norm on one batch: rows against columns.

In:   which norm, how loud the third sentence is, whether padding counts.
Out:  the numbers before and after, and how much the first sentence changed because the third did.
"""

import torch
from torch import Tensor

from glassformer.lessons.masks import PADDING, TITLES, pad
from glassformer.lessons.outcome import (
    Models,
    Outcome,
    Words,
    axis,
    bilingual,
    matrix,
    plain,
    say,
    seeded,
    series,
)
from glassformer.lessons.schema import Bars, Figure, Measure, Numbers
from glassformer.model.layers import BatchNorm, LayerNorm

LENGTH = 5
FEATURES = 6
EXAMPLE = ((3.2897, 0.7432, -1.1652), (0.7432, 1.3647, -1.1707), (-1.1652, -1.1707, 5.6380))


def play(words: Words, models: Models) -> Outcome:  # noqa: ARG001
    """Norm the batch twice: as it is, and with its third sentence louder."""
    kind, factor = words.text("norm"), words.number("louder")
    count_padding = kind == "batch" and words.flag("padding")
    batch, real, labels = read_batch(words.text("data"))
    part, chinese = ("row", "行") if words.text("data") == "matrix" else ("sentence", "句")
    louder = batch.clone()
    louder[-1] *= factor
    counted = torch.ones_like(real) if count_padding else real
    quiet, loud = normalise(batch, counted, kind), normalise(louder, counted, kind)
    change = (loud - quiet).abs().amax(-1)  # (B, T)
    shown = real if not count_padding else counted
    first = float(change[0][real[0]].max())
    rows, columns = (
        axis(labels, say("lessons.norms.word")),
        axis(range(batch.shape[-1]), say("lessons.norms.feature")),
    )
    figures: list[Figure] = [
        matrix("before", say("lessons.norms.before"), _blank(louder, shown), rows, columns),
        matrix("after", say("lessons.norms.after"), _blank(loud, shown), rows, columns),
        Bars(
            id="change",
            title=bilingual(
                f"What changed because the third {part} was multiplied by {factor:g}",
                f"第三{chinese}乘以 {factor:g} 之后，各词的结果变了多少",
            ),
            labels=tuple(labels),
            value_title=say("lessons.norms.largest_change_feature"),
            series=(series(say("lessons.norms.change"), _blank(change, shown).flatten()),),
        ),
        _measure(loud, counted, kind),
    ]
    if factor == 1:
        found = bilingual(
            f"The third {part} is as loud as ever, so nothing can have changed: make it louder.",
            f"第三{chinese}还没有放大，自然什么都没变：把它放大试试。",
        )
    elif first == 0:
        found = bilingual(
            f"The first {part} does not change at all when the third becomes {factor:g} times as loud: "
            "each word is measured by itself.",
            f"第三{chinese}放大到 {factor:g} 倍，第一{chinese}毫无变化：每个词只按自己来标准化。",
        )
    else:
        found = bilingual(
            f"The third {part} became {factor:g} times as loud, and the first changed by up to "
            f"{first:.2f}: they share one mean and variance.",
            f"第三{chinese}放大到 {factor:g} 倍，第一{chinese}也变了，最多 {first:.2f}："
            "它们共用同一个均值和方差。",
        )
    return Outcome(found, figures)


def read_batch(data: str) -> tuple[Tensor, Tensor, list[str]]:
    """Vectors (B, T, D), which tokens are real (B, T), and their names."""
    if data == "matrix":
        return torch.tensor(EXAMPLE)[:, None], torch.ones(3, 1, dtype=torch.bool), list("青花瓷")
    tokens = [pad(title, LENGTH) for title in TITLES]
    alphabet = sorted({token for each in tokens for token in each} - {PADDING})
    table = torch.randn(len(alphabet) + 1, FEATURES, generator=seeded(0)) * 1.5 + 0.5
    table[-1] = 0.0  # padding is a row of zeros, as in most embedding tables
    ids = [
        [alphabet.index(token) if token != PADDING else len(alphabet) for token in each] for each in tokens
    ]
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
    means, deviations = (
        words.mean(-1 if kind == "layer" else 0),
        words.var(-1 if kind == "layer" else 0, correction=0),
    )
    line, chinese = ("row", "行") if kind == "layer" else ("column", "列")
    return Numbers(
        id="numbers",
        title=bilingual(f"After the norm, over each {line}", f"标准化之后，按{chinese}统计"),
        items=(
            Measure(
                name=bilingual(f"largest mean of a {line}", f"各{chinese}均值的最大绝对值"),
                value=plain(float(means.abs().max())),
            ),
            Measure(
                name=bilingual(f"smallest variance of a {line}", f"各{chinese}方差的最小值"),
                value=plain(float(deviations.min())),
            ),
        ),
    )


def _blank(values: Tensor, shown: Tensor) -> Tensor:
    """(word, …) with nothing where there is only padding."""
    flat = values.flatten(0, 1).clone()
    flat[~shown.flatten()] = float("nan")
    return flat
