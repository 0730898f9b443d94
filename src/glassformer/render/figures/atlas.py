"""All heads of a model by what they do.

In:   an Atlas; the colouring as `metric`: "type", "cost", a measure ("entropy") or the name of a detector.
Out:  a row for each layer, a column for each head; types have a legend, numbers a scale.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glassformer.atlases.naming import name_detector, number_colours
from glassformer.atlases.schema import AtlasBody, AtlasHead, Detector
from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.place import Place
from glassformer.registry import suggestion
from glassformer.render.choice import label_part
from glassformer.render.figures import parts
from glassformer.render.figures.figure import Sheet
from glassformer.render.figures.style import head_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USUAL = "type"
_ROW = 0.22  # inches
_EMPTY = (0.93, 0.93, 0.94)  # of a head without a type


def draw(sheet: Sheet) -> None:
    """See the module."""
    body, name = sheet.atlas.body, sheet.choice.metric or USUAL
    known = (USUAL, "cost", *_list_measures(body), *(each.name for each in body.detectors))
    if name not in known:
        raise InputError("render.figures.unknown_colouring", name=name, suggestion=suggestion(name, known))
    if name != USUAL and all(_find_value(head, name) is None for head in body.heads):
        raise InputError("render.figures.no_numbers", name=name, model=body.model.name)
    rows = [label_part(Place.parse(each.place), sheet.language) for each in body.places]
    columns = [str(head) for head in range(max(each.heads for each in body.places))]
    title = f"{body.model.name}: {_name(sheet, body, name)}"
    sheet.caption = sheet.text(
        message(
            "render.figures.atlas_caption",
            model=body.model.name,
            texts=body.corpus.texts,
            corpus=body.corpus.name,
            named=sum(each.type is not None for each in body.heads),
            heads=len(body.heads),
        )
    )
    axis_names = sheet.text("head"), sheet.text("layer")
    types = [each for each in body.detectors if any(head.type == each.name for head in body.heads)]
    names = [sheet.text(name_detector(each)) for each in types]
    sheet.choose_fonts(title, *rows, *axis_names, *names)
    sheet.set_size(max(1.4, _ROW * len(rows)) + 1.1)
    [axes] = sheet.make_panels(1, 1)
    if name == USUAL:
        _draw_types(axes, body, types, names, rows, columns)
    else:
        values = _place_values(body, name, len(columns))
        signed = bool((values < 0).any())
        colours = sheet.choose_scale(float(np.abs(values).max()) or 1.0, signed=signed)
        picture = parts.draw_matrix(axes, values, rows, columns, colours, vectors=True)
        parts.add_scale(sheet, axes, picture, colours, "value")
    axes.tick_params(axis="x", rotation=0)
    parts.name_matrix(axes, *axis_names)
    parts.write_texts(sheet, axes, title)


def _list_measures(body: AtlasBody) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for head in body.heads for name in head.measures))


def _name(sheet: Sheet, body: AtlasBody, name: str) -> str:
    found = next((each for each in body.detectors if each.name == name), None)
    if found is not None:
        return sheet.text(name_detector(found))
    return sheet.text(f"atlas_{name}") if name in (USUAL, "cost") else name.replace("_", " ")


def _place_values(
    body: AtlasBody, name: str, columns: int
) -> np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]:
    """(layer, head); masked where there is no number."""
    rows = {each.place: row for row, each in enumerate(body.places)}
    values: NDArray[np.float64] = np.full((len(rows), columns), np.nan)
    for head in body.heads:
        found = _find_value(head, name)
        values[rows[head.place], head.head] = np.nan if found is None else found
    return np.ma.masked_invalid(values)


def _find_value(head: AtlasHead, name: str) -> float | None:
    if name == "cost":
        return None if head.cost is None else head.cost.mean
    found = head.measures.get(name) or head.scores.get(name)
    return None if found is None else found.mean


def _draw_types(
    axes: "Axes",
    body: AtlasBody,
    types: list[Detector],
    names: list[str],
    rows: list[str],
    columns: list[str],
) -> None:
    """Cells in the colours of types, as in the page, and a legend beside them."""
    from matplotlib.patches import Patch

    places = {each.place: row for row, each in enumerate(body.places)}
    cells = np.full((len(rows), len(columns), 3), 1.0)
    colours = {each.name: find_colour(each.family, body) for each in types}
    for head in body.heads:
        cells[places[head.place], head.head] = _EMPTY if head.type is None else colours[head.type]
    axes.imshow(cells, interpolation="none", gid="weights")
    axes.set_xticks(np.arange(len(columns)) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows)) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.0)
    axes.tick_params(which="minor", length=0)
    parts.label_axis(axes, "x", columns)
    parts.label_axis(axes, "y", rows)
    legend = [Patch(color=colours[each.name], label=name) for each, name in zip(types, names, strict=True)]
    if legend:
        axes.legend(
            handles=legend, loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0, frameon=False
        )


def find_colour(family: str, body: AtlasBody) -> tuple[float, float, float]:
    """The colour of a type: the same in every atlas, and in the page."""
    return head_colour(number_colours(body.detectors)[family])
