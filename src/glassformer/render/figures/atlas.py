"""All heads of a model by what they do.

In:   an Atlas; the colouring as `metric`: "type", "cost", a measure ("entropy") or the name of a detector.
Out:  a row for each layer, a column for each head; types have a legend, numbers a scale. Where a family has
      several types, such as relations, they share its colour, and their names are in the cells.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glassformer.atlases.naming import name_detector, name_family, number_colours
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
_FEW = 8  # columns beside which a legend has room
_LABELS = 6.0  # the names of layers and the margins, as a number of columns
_POINTS = 7.0  # of names in cells, at most
_LETTER = 0.65  # the width of a letter, of its height
_DARK = 1.7  # the sum of red, green and blue below which white is read better
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
    families = _group_types(body)
    names = {
        family: sheet.text(name_detector(types[0]) if len(types) == 1 else name_family(family))
        for family, types in families.items()
    }
    sheet.choose_fonts(title, *rows, *axis_names, *names.values())
    sheet.set_size(max(1.4, _ROW * len(rows)) + 1.1)
    [axes] = sheet.make_panels(1, 1)
    if name == USUAL:
        _draw_types(axes, body, names, rows, columns)
        named = _name_cells(axes, body, families, sheet.width / (len(columns) + _LABELS))
        _add_legend(axes, body, names, below=named or len(columns) > _FEW)
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


def _group_types(body: AtlasBody) -> dict[str, list[Detector]]:
    """The types that heads have, by family."""
    found: dict[str, list[Detector]] = {}
    for each in body.detectors:
        if any(head.type == each.name for head in body.heads):
            found.setdefault(each.family, []).append(each)
    return found


def _draw_types(
    axes: "Axes", body: AtlasBody, families: Iterable[str], rows: list[str], columns: list[str]
) -> None:
    """Cells in the colours of types, as in the page."""
    places = {each.place: row for row, each in enumerate(body.places)}
    cells = np.full((len(rows), len(columns), 3), 1.0)
    of_family = {family: find_colour(family, body) for family in families}
    colours = {each.name: of_family.get(each.family, _EMPTY) for each in body.detectors}
    for head in body.heads:
        cells[places[head.place], head.head] = _EMPTY if head.type is None else colours[head.type]
    axes.imshow(cells, interpolation="none", gid="weights")
    axes.set_xticks(np.arange(len(columns)) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows)) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.0)
    axes.tick_params(which="minor", length=0)
    parts.label_axis(axes, "x", columns)
    parts.label_axis(axes, "y", rows)


def _name_cells(axes: "Axes", body: AtlasBody, families: dict[str, list[Detector]], cell: float) -> bool:
    """Write the details of types that share a colour into cells of this width in inches; False if none do."""
    places = {each.place: row for row, each in enumerate(body.places)}
    details = {
        each.name: each.detail or "" for types in families.values() if len(types) > 1 for each in types
    }
    size = min(_POINTS, 72 * cell / max(map(len, details.values()), default=1) / _LETTER)
    for head in body.heads:
        if head.type in details:
            where = head.head, places[head.place]
            dark = sum(find_colour(_find_family(body, head.type), body)) < _DARK
            colour = "white" if dark else "black"
            axes.text(*where, details[head.type], ha="center", va="center", color=colour, fontsize=size)
    return bool(details)


def _find_family(body: AtlasBody, name: str) -> str:
    return next(each.family for each in body.detectors if each.name == name)


def _add_legend(axes: "Axes", body: AtlasBody, names: dict[str, str], *, below: bool) -> None:
    """Beside few columns; below many, for which no room would be left."""
    from matplotlib.patches import Patch

    handles = [Patch(color=find_colour(family, body), label=name) for family, name in names.items()]
    where = (0.0, -0.03) if below else (1.02, 1.0)
    if handles:
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=where, borderaxespad=0, frameon=False)


def find_colour(family: str, body: AtlasBody) -> tuple[float, float, float]:
    """The colour of a type: the same in every atlas, and in the page."""
    return head_colour(number_colours(body.detectors)[family])
