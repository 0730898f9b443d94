"""The factor 1/√d_k: what the variance of q·k does to the softmax and to its gradient.

In:   the width of queries and keys, drawn from a normal distribution of variance 1.
Out:  weights with and without the factor, and variances measured at every width.
"""

import torch
from torch import Tensor

from glassformer.lessons.figures import measure, numbers, percent, seeded, series
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Bars, Lines
from glassformer.messages import message
from glassformer.model.similarity import dot, scaled_dot, soft

QUERIES = 512  # from which variances are measured
WIDEST = 10  # 2**10


def compute(inputs: Inputs) -> Result:
    """Draw, compare, measure."""
    exponent, keys, seed = inputs.integer("width"), inputs.integer("keys"), inputs.integer("seed")
    width = 2**exponent
    plainly, scaled = draw_scores(width, keys, seed)
    peaks = [float(soft(scores).amax(-1).mean()) for scores in (plainly, scaled)]
    slopes = [float(slope(soft(scores)).mean()) for scores in (plainly, scaled)]
    spread = [[float(s.var()) for s in draw_scores(2**power, keys, seed)] for power in range(WIDEST + 1)]
    widths = [float(2**power) for power in range(WIDEST + 1)]
    bars = Bars(
        id="weights",
        title=message("lessons.scaling.one_query", keys=keys, width=width),
        labels=tuple(f"k{number}" for number in range(keys)),
        label_title=message("lessons.scaling.key"),
        value_title=message("lessons.scaling.weight"),
        series=(
            series("lessons.scaling.plain_weights", soft(plainly[0])),
            series("lessons.scaling.scaled_weights", soft(scaled[0])),
        ),
        high=1.0,
    )
    measured = numbers(
        "numbers",
        message("lessons.scaling.over_queries", queries=QUERIES),
        measure("lessons.scaling.plain_variance", spread[exponent][0]),
        measure("lessons.scaling.scaled_variance", spread[exponent][1]),
        measure("lessons.scaling.largest_weight_plain", peaks[0]),
        measure("lessons.scaling.largest_weight_scaled", peaks[1]),
        measure("lessons.scaling.gradient_plain", slopes[0]),
        measure("lessons.scaling.gradient_scaled", slopes[1]),
        note="lessons.scaling.gradient_note",
    )
    lines = Lines(
        id="variance",
        title=message("lessons.scaling.variance_by_width"),
        x=tuple(widths),
        x_title=message("lessons.scaling.d_k"),
        y_title=message("lessons.scaling.variance"),
        x_scale="log",
        y_scale="log",
        series=(
            series("lessons.scaling.plain_scores", [pair[0] for pair in spread]),
            series("lessons.scaling.scaled_scores", [pair[1] for pair in spread]),
            series("lessons.scaling.theory", widths, dashed=True),
        ),
        mark=float(width),
    )
    found = message(
        "lessons.scaling.found",
        width=width,
        plain_peak=percent(peaks[0]),
        scaled_peak=percent(peaks[1]),
        plain_slope=slopes[0],
        scaled_slope=slopes[1],
    )
    return Result(found, (bars, measured, lines))


def draw_scores(width: int, keys: int, seed: int) -> tuple[Tensor, Tensor]:
    """Scores (query, key) without and with the factor; each query has keys of its own."""
    chance = seeded(seed)
    queries = torch.randn(QUERIES, 1, width, generator=chance)
    drawn = torch.randn(QUERIES, keys, width, generator=chance)
    return dot(queries, drawn)[:, 0], scaled_dot(queries, drawn)[:, 0]


def slope(weights: Tensor) -> Tensor:
    """Σ p(1 − p) of each row: how much the softmax still answers to its scores."""
    return (weights * (1 - weights)).sum(-1)
