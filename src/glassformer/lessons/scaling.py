"""The factor 1/√d_k: what the variance of q·k does to the softmax and to its gradient.

In:   the width of queries and keys, drawn from a normal distribution of variance 1.
Out:  weights with and without the factor, and variances measured at every width.
"""

import torch
from torch import Tensor

from glassformer.lessons.outcome import (
    Models,
    Outcome,
    Words,
    percent,
    plain,
    say,
    seeded,
    series,
)
from glassformer.lessons.schema import Bars, Lines, Measure, Numbers
from glassformer.model.similarity import dot, scaled_dot, soft

QUERIES = 512  # from which variances are measured
WIDEST = 10  # 2**10


def play(words: Words, models: Models) -> Outcome:  # noqa: ARG001
    """Draw, compare, measure."""
    exponent, keys, seed = words.integer("width"), words.integer("keys"), words.integer("seed")
    width = 2**exponent
    plainly, scaled = draw_scores(width, keys, seed)
    weights = {"plain": soft(plainly[0]), "scaled": soft(scaled[0])}
    peaks = [float(soft(scores).amax(-1).mean()) for scores in (plainly, scaled)]
    slopes = [float(slope(soft(scores)).mean()) for scores in (plainly, scaled)]
    spread = [[float(s.var()) for s in draw_scores(2**power, keys, seed)] for power in range(WIDEST + 1)]
    widths = [float(2**power) for power in range(WIDEST + 1)]
    bars = Bars(
        id="weights",
        title=say(f"One query, {keys} keys, d_k = {width}", f"一个查询、{keys} 个键，d_k = {width}"),
        labels=tuple(f"k{number}" for number in range(keys)),
        label_title=say("key", "键"),
        value_title=say("weight", "权重"),
        series=(
            series("softmax(q·k)", "softmax(q·k)", weights["plain"]),
            series("softmax(q·k / √d_k)", "softmax(q·k / √d_k)", weights["scaled"]),
        ),
        high=1.0,
    )
    numbers = Numbers(
        id="numbers",
        title=say(f"Over {QUERIES} queries", f"{QUERIES} 个查询的统计"),
        items=(
            Measure(name=say("variance of q·k", "q·k 的方差"), value=plain(spread[exponent][0])),
            Measure(
                name=say("variance of q·k / √d_k", "q·k / √d_k 的方差"), value=plain(spread[exponent][1])
            ),
            Measure(name=say("largest weight, plain", "最大权重，不缩放"), value=plain(peaks[0])),
            Measure(name=say("largest weight, scaled", "最大权重，缩放后"), value=plain(peaks[1])),
            Measure(name=say("gradient, plain", "梯度，不缩放"), value=plain(slopes[0])),
            Measure(name=say("gradient, scaled", "梯度，缩放后"), value=plain(slopes[1])),
        ),
        note=say(
            "Gradient: Σ pᵢ(1 − pᵢ), the trace of the softmax's Jacobian; 0 where one weight has everything.",
            "梯度：Σ pᵢ(1 − pᵢ)，即 softmax 雅可比矩阵的迹；一个权重独占时为 0。",
        ),
    )
    lines = Lines(
        id="variance",
        title=say("Variance of the scores by width", "得分的方差随宽度的变化"),
        x=tuple(widths),
        x_title=say("d_k", "d_k"),
        y_title=say("variance", "方差"),
        x_scale="log",
        y_scale="log",
        series=(
            series("q·k, measured", "q·k，实测", [pair[0] for pair in spread]),
            series("q·k / √d_k, measured", "q·k / √d_k，实测", [pair[1] for pair in spread]),
            series("d_k, in theory", "d_k，理论值", widths, dashed=True),
        ),
        mark=float(width),
    )
    found = say(
        f"At d_k = {width} the largest weight is {percent(peaks[0])} on average without the factor and "
        f"{percent(peaks[1])} with it; the gradient is {slopes[0]:.3f} against {slopes[1]:.3f}.",
        f"d_k = {width} 时，最大权重平均为 {percent(peaks[0])}（不缩放）和 {percent(peaks[1])}（缩放）；"
        f"梯度为 {slopes[0]:.3f} 和 {slopes[1]:.3f}。",
    )
    return Outcome(found, (bars, numbers, lines))


def draw_scores(width: int, keys: int, seed: int) -> tuple[Tensor, Tensor]:
    """Scores (query, key) without and with the factor; each query has keys of its own."""
    chance = seeded(seed)
    queries = torch.randn(QUERIES, 1, width, generator=chance)
    drawn = torch.randn(QUERIES, keys, width, generator=chance)
    return dot(queries, drawn)[:, 0], scaled_dot(queries, drawn)[:, 0]


def slope(weights: Tensor) -> Tensor:
    """Σ p(1 − p) of each row: how much the softmax still answers to its scores."""
    return (weights * (1 - weights)).sum(-1)
