"""One number for every head, as bars in groups of layers.

In:   metric and its parameters, place (or part and layer).
Out:  vector bars; heads without a value have none, and the caption says why.
"""

import numpy as np

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.metrics import Part, score
from glassformer.render.choice import label_part, name_part
from glassformer.render.figures.figure import Sheet
from glassformer.render.figures.parts import describe_evidence, write_texts
from glassformer.render.figures.style import head_colour
from glassformer.render.terminal.tables import name_unit
from glassformer.render.terminal.text import measure

LETTER = 0.05  # inches of a letter below the bars


def draw(sheet: Sheet) -> None:
    """See the module."""
    choice = sheet.choice
    metric = choice.metric or "entropy"
    result = score(sheet.recording, metric, **choice.parameters)
    parts = [part for part in result.parts if part.axes == ("head",) and _chosen(sheet, part)]
    if not parts:
        raise InputError("render.figures.no_bars", metric=metric)
    if not any(np.isfinite(part.values).any() for part in parts):
        reasons = tuple(dict.fromkeys(reason for part in parts for reason in part.undefined))
        raise InputError("render.figures.no_values", metric=metric, reasons=reasons)
    heads = max(len(part.values) for part in parts)
    settled = ", ".join(f"{name} {value}" for name, value in result.parameters.items())
    about = [sheet.text(result.caption), *([f"({settled})."] if settled else [])]
    sheet.caption = " ".join([*about, *map(sheet.text, result.undefined), describe_evidence(sheet)])
    names = [label_part(part.place, sheet.language) for part in parts if part.place is not None]
    legend = [sheet.text(message("render.figures.head_number", head=head)) for head in range(heads)]
    metric = sheet.text(result.label).lower()
    title = sheet.text(message("render.figures.of_each_head", model=sheet.recording.model, metric=metric))
    layer = sheet.text("layer")
    sheet.choose_fonts(title, metric, *names, *legend, layer)
    sheet.set_size(2.4)
    [axes] = sheet.make_panels(1, 1)
    thick = 0.84 / heads
    for head in range(heads):
        places = [place for place, part in enumerate(parts) if head < len(part.values)]
        values = np.array([parts[place].values[head] for place in places])
        known = np.isfinite(values)
        x = np.array(places, dtype=float)[known] - 0.42 + thick * (head + 0.5)
        axes.bar(
            x, values[known], thick * 0.9, color=head_colour(head), label=legend[head], gid=f"head-{head}"
        )
    room = (sheet.width - 1.2) / len(parts)  # inches for each name, without the legend and the numbers
    fits = max(measure(name) + 1 for name in names) * LETTER <= room
    axes.set_xticks(range(len(parts)), names, rotation=0 if fits else 60)
    axes.tick_params(axis="x", length=0)
    axes.set_xlabel(layer)
    axes.set_ylabel(f"{metric}, {sheet.text(name_unit(result))}")
    if heads <= 16 and sheet.owns_canvas:
        sheet.canvas.legend(loc="outside right upper", handlelength=0.8)
    elif heads <= 16:
        axes.legend(handlelength=0.8)
    write_texts(sheet, axes, title)


def _chosen(sheet: Sheet, part: Part) -> bool:
    place, choice = part.place, sheet.choice
    if place is None or place.step is not None:
        return False
    if choice.place is not None:
        return place == choice.place
    return choice.part in (None, name_part(place)) and choice.layer in (None, place.layer)
