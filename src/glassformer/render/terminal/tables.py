"""Tables in a terminal: scores of metrics, and any rows of cells.

In:   Scores, Metrics; rows.
Out:  text. What is undefined is shown as – and explained below.
"""

import io
import math
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from glassformer.messages import Message, message
from glassformer.metrics import Metric, Part, Score
from glassformer.render.terminal.text import NARROWEST, measure, wrap

MOST = 24  # values along an axis that are written out; of more, the range is given
GAP = 2  # columns between cells


def draw_table(
    rows: Sequence[Sequence[str]],
    *,
    right: Collection[int] = (),
    columns: int = 80,
    colour: bool = False,
    header: bool = True,
) -> str:
    """Cells under each other, those of `right` aligned to the right, the first row as a header.

    Columns that do not fit beside the others follow below, beside the same first column.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    blocks: list[list[int]] = [[0]]
    used = widths[0]
    for place in range(1, len(widths)):
        used += GAP + widths[place]
        if used > columns and len(blocks[-1]) > 1:
            blocks.append([0])
            used = widths[0] + GAP + widths[place]
        blocks[-1].append(place)
    console = Console(
        file=io.StringIO(),
        width=max(columns, NARROWEST),
        force_terminal=colour,
        color_system="256" if colour else None,
        legacy_windows=False,
    )
    with console.capture() as captured:
        for block in blocks:
            table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), show_header=header)
            for place in block:
                name = Text(rows[0][place] if header else "")
                table.add_column(name, justify="right" if place in right else "left", overflow="fold")
            for row in rows[1:] if header else rows:
                table.add_row(*(Text(row[place]) for place in block))
            console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def draw_mark(mark: Message | None, columns: int) -> str:
    """That a recording is of an edited model, above what is drawn of it; nothing where it is not."""
    return "" if mark is None else wrap(str(mark), columns, hanging=2)


def draw_scores(scores: Sequence[Score], *, columns: int = 80, colour: bool = False) -> str:
    """Each score under its label and caption; those of the whole model in one table."""
    single = [each for each in scores if each.over == "model" and not each.parts[0].values.ndim]
    layered = [each for each in scores if each.over == "layer" and not each.parts[0].values.ndim]
    others = [each for each in scores if each not in single and each not in layered]
    marks = dict.fromkeys(draw_mark(each.edited, columns) for each in scores)
    parts = [*marks, _draw_models(single, columns), _draw_layers(layered, columns, colour)]
    parts += [_draw_parts(each, columns, colour) for each in others]
    reasons = dict.fromkeys(
        f"– {each.name}: {' '.join(map(str, each.undefined))}" for each in scores if each.undefined
    )
    return "\n\n".join(filter(None, [*parts, "\n".join(wrap(each, columns) for each in reasons)]))


def draw_metrics(metrics: Iterable[Metric], *, columns: int = 80) -> str:
    """The metrics with their captions and parameters, by the file they are in."""
    families: dict[str, list[Metric]] = {}
    for metric in metrics:
        families.setdefault(metric.family, []).append(metric)
    lines = []
    for family, group in families.items():
        lines += ["", family]
        for metric in group:
            lines += [wrap(metric.name, columns, indent=2), wrap(str(metric.caption), columns, indent=6)]
            for each in metric.parameters:
                value = message("render.from_python") if each.required else each.default
                lines.append(wrap(f"{each.name}={value}: {each.about.meaning}", columns, indent=6))
    return "\n".join(lines[1:])


def format_value(value: float) -> str:
    """Four digits; – where there is no number."""
    return "–" if math.isnan(value) else f"{value:.4g}"


def name_unit(score: Score) -> Message:
    """The unit of a score; one that is not ours stays as it is."""
    return message(f"render.units.{score.unit}", score.unit)


def _draw_models(scores: Sequence[Score], columns: int) -> str:
    """A number for each metric, and below it how to read it."""
    if not scores:
        return ""
    rows = [(str(each.label), format_value(each.value), str(name_unit(each))) for each in scores]
    table = draw_table(rows, right={1}, columns=columns, header=False).splitlines()
    if len(table) != len(scores):  # too narrow for one line each
        table = ["\n".join((name, f"  {value} {unit}")) for name, value, unit in rows]
    lines = []
    for line, each in zip(table, scores, strict=True):
        lines += [line, wrap(_describe_ends(each), columns, indent=4)]
    return "\n".join(filter(None, lines))


def _draw_layers(scores: Sequence[Score], columns: int, colour: bool) -> str:
    """A line for each layer, a column for each metric."""
    if not scores:
        return ""
    header = ("", *(each.name for each in scores))
    rows = [
        (str(part.place), *(format_value(float(each.parts[place].values)) for each in scores))
        for place, part in enumerate(scores[0].parts)
    ]
    right = set(range(1, len(header)))
    return draw_table([header, *rows], right=right, columns=columns, colour=colour)


def _draw_parts(score: Score, columns: int, colour: bool) -> str:
    """One metric: a line for each map, a column for each head."""
    title = f"{score.label} ({score.name}), {name_unit(score)}: {score.caption}"
    whole = str(message("render.whole_model"))
    rows = [(whole if part.place is None else str(part.place), *_format_values(part)) for part in score.parts]
    widest = max(map(len, rows))
    by_head = widest > 1 and all(part.axes == ("head",) for part in score.parts)
    header = [("", *(str(head) for head in range(widest - 1)))] if by_head else []
    filled = [row + ("",) * (widest - len(row)) for row in [*header, *rows]]
    table = draw_table(filled, right=set(range(1, widest)), columns=columns, colour=colour, header=by_head)
    return "\n".join(filter(None, (wrap(title, columns), wrap(_describe_ends(score), columns), table)))


def _format_values(part: Part) -> tuple[str, ...]:
    values = part.values
    if values.ndim == 0:
        return (format_value(float(values)),)
    if values.ndim == 1 and len(values) <= MOST:
        return tuple(format_value(value) for value in values.tolist())
    shape = " × ".join(str(length) for length in values.shape)
    if np.isnan(values).all():
        return (str(message("render.none_defined", shape=shape)),)
    low, high = format_value(float(np.nanmin(values))), format_value(float(np.nanmax(values)))
    return (str(message("render.range", shape=shape, low=low, high=high)),)


def _describe_ends(score: Score) -> str:
    """What a low and a high value mean."""
    return " ".join(str(text) for text in (score.lower, score.higher) if text is not None)
