"""Scores in a terminal: one table for several metrics, one line for each map, or one number each.

In:   Scores.
Out:  text. What is undefined is shown as – and explained below.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from glassformer.metrics import Metric, Part, Score
from glassformer.show.terminal import fit, measure

MOST = 24  # values along an axis that are written out; more are summed up in words


def draw_scores(scores: Sequence[Score]) -> str:
    """Each score under its label and caption; those of the whole model in one table."""
    single = [each for each in scores if each.over == "model" and not each.parts[0].values.ndim]
    layered = [each for each in scores if each.over == "layer" and not each.parts[0].values.ndim]
    others = [each for each in scores if each not in single and each not in layered]
    parts = [_draw_models(single), _draw_layers(layered), *map(_draw_parts, others)]
    reasons = dict.fromkeys(f"– {each.name}: {each.undefined}" for each in scores if each.undefined)
    return "\n\n".join(filter(None, [*parts, "\n".join(reasons)]))


def draw_metrics(metrics: Iterable[Metric]) -> str:
    """What there is to measure, by the file it lives in."""
    families: dict[str, list[Metric]] = {}
    for metric in metrics:
        families.setdefault(metric.family, []).append(metric)
    width = max(len(each.name) for group in families.values() for each in group) + 2
    lines = []
    for family, group in families.items():
        lines += ["", family]
        for metric in group:
            lines.append(f"  {metric.name:{width}}{metric.caption.english}")
            for each in metric.parameters:
                default = "must be given" if each.required else f"{each.name}={each.default}"
                lines.append(f"  {'':{width}}  {default}: {each.about.meaning}")
    return "\n".join(lines[1:])


def format_value(value: float) -> str:
    """Four figures; – where there is no number."""
    return "–" if math.isnan(value) else f"{value:.4g}"


def _draw_models(scores: Sequence[Score]) -> str:
    rows = [(each.wording.label.english, format_value(each.value), each.unit, _read(each)) for each in scores]
    return _align(rows, right={1})


def _draw_layers(scores: Sequence[Score]) -> str:
    """A line for each layer, a column for each metric."""
    if not scores:
        return ""
    header = ("", *(each.name for each in scores))
    rows = [
        (str(part.place), *(format_value(float(each.parts[place].values)) for each in scores))
        for place, part in enumerate(scores[0].parts)
    ]
    return _align([header, *rows], right=set(range(1, len(header))))


def _draw_parts(score: Score) -> str:
    """One metric: a line for each map, a column for each head."""
    title = f"{score.wording.label.english} ({score.name}), {score.unit}: {score.caption.english}"
    rows = [
        ("whole model" if part.place is None else str(part.place), *_list_values(part))
        for part in score.parts
    ]
    widest = max(map(len, rows))
    vectors = all(part.axes == ("head",) for part in score.parts)
    header = [("", *(str(head) for head in range(widest - 1)))] if vectors and widest > 1 else []
    filled = [row + ("",) * (widest - len(row)) for row in [*header, *rows]]
    return "\n".join(filter(None, (title, _read(score), _align(filled, right=set(range(1, widest))))))


def _list_values(part: Part) -> tuple[str, ...]:
    values = part.values
    if values.ndim == 0:
        return (format_value(float(values)),)
    if values.ndim == 1 and len(values) <= MOST:
        return tuple(format_value(value) for value in values.tolist())
    shape = " × ".join(str(length) for length in values.shape)
    if np.isnan(values).all():
        return (f"{shape} values, none defined",)
    low, high = format_value(float(np.nanmin(values))), format_value(float(np.nanmax(values)))
    return (f"{shape} values from {low} to {high}; --csv or --json gives all",)


def _read(score: Score) -> str:
    """What a low and a high value mean."""
    readings = (score.wording.lower, score.wording.higher)
    return " ".join(phrase.english for phrase in readings if phrase is not None)


def _align(rows: Sequence[Sequence[str]], right: set[int]) -> str:
    if not rows:
        return ""
    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            " " * (width - measure(cell)) + cell if place in right else fit(cell, width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
