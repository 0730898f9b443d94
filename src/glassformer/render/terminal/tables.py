"""Scores in a terminal: one table for several metrics, one line for each map, or one number each.

In:   Scores.
Out:  text. What is undefined is shown as – and explained below.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from glassformer.metrics import Metric, Part, Score
from glassformer.render.terminal.heatmap import fit, measure, wrap

MOST = 24  # values along an axis that are written out; more are summed up in words


def draw_scores(scores: Sequence[Score], *, columns: int = 80) -> str:
    """Each score under its label and caption; those of the whole model in one table."""
    single = [each for each in scores if each.over == "model" and not each.parts[0].values.ndim]
    layered = [each for each in scores if each.over == "layer" and not each.parts[0].values.ndim]
    others = [each for each in scores if each not in single and each not in layered]
    parts = [_draw_models(single, columns) if single else "", _draw_layers(layered, columns)]
    parts += [_draw_parts(each, columns) for each in others]
    reasons = dict.fromkeys(
        f"– {each.name}: {' '.join(map(str, each.undefined))}" for each in scores if each.undefined
    )
    return "\n\n".join(filter(None, [*parts, "\n".join(wrap(each, columns) for each in reasons)]))


def draw_metrics(metrics: Iterable[Metric], *, columns: int = 80) -> str:
    """What there is to measure, by the file it lives in."""
    families: dict[str, list[Metric]] = {}
    for metric in metrics:
        families.setdefault(metric.family, []).append(metric)
    lines = []
    for family, group in families.items():
        lines += ["", family]
        for metric in group:
            lines += [wrap(metric.name, columns, indent=2), wrap(metric.caption.english, columns, indent=6)]
            for each in metric.parameters:
                value = "…, from Python" if each.required else each.default
                lines.append(wrap(f"{each.name}={value}: {each.about.meaning}", columns, indent=6))
    return "\n".join(lines[1:])


def format_value(value: float) -> str:
    """Four figures; – where there is no number."""
    return "–" if math.isnan(value) else f"{value:.4g}"


def _draw_models(scores: Sequence[Score], columns: int) -> str:
    """A number for each metric, and below it how to read it."""
    rows = [(each.wording.label.english, format_value(each.value), each.unit) for each in scores]
    names, values, units = (max(map(measure, column), default=0) for column in zip(*rows, strict=True))
    lines = []
    for (name, value, unit), each in zip(rows, scores, strict=True):
        line = f"{fit(name, names)}  {value:>{values}}  {unit}"
        if names + values + units + 4 > columns:
            line = f"{wrap(name, columns)}\n{wrap(f'{value} {unit}', columns, indent=2)}"
        lines += [line, wrap(_read(each), columns, indent=4)]
    return "\n".join(filter(None, lines))


def _draw_layers(scores: Sequence[Score], columns: int) -> str:
    """A line for each layer, a column for each metric."""
    if not scores:
        return ""
    header = ("", *(each.name for each in scores))
    rows = [
        (str(part.place), *(format_value(float(each.parts[place].values)) for each in scores))
        for place, part in enumerate(scores[0].parts)
    ]
    return align([header, *rows], set(range(1, len(header))), columns)


def _draw_parts(score: Score, columns: int) -> str:
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
    words = (wrap(title, columns), wrap(_read(score), columns))
    return "\n".join(filter(None, (*words, align(filled, set(range(1, widest)), columns))))


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


def align(rows: Sequence[Sequence[str]], right: set[int], columns: int) -> str:
    """Cells under each other; columns that do not fit beside the others follow below, by the same names."""
    if not rows:
        return ""
    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    if widths[0] + 2 + max(widths[1:], default=0) > columns:
        return _list_rows(rows, columns)
    blocks, used = [[0]], widths[0]
    for place in range(1, len(widths)):
        used += 2 + widths[place]
        if used > columns and len(blocks[-1]) > 1:
            blocks.append([0])
            used = widths[0] + 2 + widths[place]
        blocks[-1].append(place)
    lines = []
    for block in blocks:
        for row in rows:
            cells = [
                " " * (widths[place] - measure(row[place])) + row[place]
                if place in right
                else fit(row[place], widths[place])
                for place in block
            ]
            lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _list_rows(rows: Sequence[Sequence[str]], columns: int) -> str:
    """A table where even one column has no room: each name, and below it what its row says."""
    headed = not rows[0][0]
    lines = []
    for row in rows[1:] if headed else rows:
        pairs = zip(rows[0][1:], row[1:], strict=True)
        cells = [f"{header} {cell}".strip() if headed else cell for header, cell in pairs if cell]
        lines += [wrap(row[0], columns), wrap("   ".join(cells), columns, indent=2, parts="   ")]
    return "\n".join(lines)
