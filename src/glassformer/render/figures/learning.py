"""Every head over the steps of a training run: one statistic of the monitor as a matrix of colours.

In:   a RunLog; the statistic as `metric` (the share of the largest entropy), part, layer or place.
Out:  a row for each head, a column for each look of the monitor.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.registry import suggestion
from glassformer.render.choice import name_part
from glassformer.render.figures import parts
from glassformer.render.figures.figure import Sheet
from glassformer.runlog import HeadHistory

USUAL = "entropy_share"
_ROW = 0.11  # inches
_TICKS = 8  # steps that are named


def draw(sheet: Sheet) -> None:
    """See the module."""
    log, choice = sheet.log, sheet.choice
    maps = {
        place: history
        for place, history in log.heads.items()
        if choice.place in (None, place)
        and choice.part in (None, name_part(place))
        and choice.layer in (None, place.layer)
    }
    if not maps:
        raise InputError("render.figures.no_heads", run=log.name, places=[each.address for each in log.heads])
    name = choice.metric or USUAL
    for history in maps.values():
        if name not in history.statistics:
            near = suggestion(name, history.statistics)
            raise InputError("render.figures.unknown_statistic", name=name, suggestion=near)
    steps = np.unique(np.concatenate([history.steps for history in maps.values()]))
    values = np.ma.masked_invalid(np.concatenate([_place(history, name, steps) for history in maps.values()]))
    rows = [
        f"{sheet.text(place.as_message())} · {head}"
        for place, history in maps.items()
        for head in range(history.statistics[name].shape[1])
    ]
    signed = bool((values < 0).any())
    largest = 1.0 if name in (USUAL, "peak", "sink") else float(np.abs(values).max()) or 1.0
    colours = sheet.choose_scale(largest, signed=signed)
    statistic = name.replace("_", " ")
    sheet.caption = sheet.text(
        message("render.figures.learning_caption", run=log.name, statistic=statistic, looks=len(steps))
    )
    title = f"{log.name}: {statistic}"
    step_label = sheet.text("step")
    sheet.choose_fonts(title, step_label, *rows)
    sheet.set_size(max(1.4, _ROW * len(rows)) + 1.1)
    [axes] = sheet.make_panels(1, 1)
    picture = parts.draw_matrix(axes, values, rows, [""] * len(steps), colours, vectors=True)
    axes.set_aspect("auto")
    shown = np.unique(np.linspace(0, len(steps) - 1, min(_TICKS, len(steps))).round().astype(int))
    axes.set_xticks(shown, [f"{steps[place]:,}" for place in shown])
    parts.name_matrix(axes, step_label, "")
    parts.add_scale(sheet, axes, picture, colours, "value")
    parts.write_texts(sheet, axes, title)


def _place(history: HeadHistory, name: str, steps: NDArray[Any]) -> NDArray[np.float64]:
    """(head, look): NaN where a map was not looked at."""
    found = history.statistics[name]  # (look, head)
    values = np.full((found.shape[1], len(steps)), np.nan)
    values[:, np.searchsorted(steps, history.steps)] = found.T
    return values
