"""Attention on the picture: colours over its patches.

In:   place (or part and layer); of words that look at patches one head, else one head or several.
Out:  a panel for each word of a caption, or for each head: where the class token looks, or all patches on
      average. The picture is an image, the colours over it are vectors.
"""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.recording import AttentionMap, Picture
from glassformer.render.choice import label_rows
from glassformer.render.figures import parts
from glassformer.render.figures.figure import Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

PANELS = 40  # words or heads of one figure
ACROSS = 5  # panels in a line
COVER = 0.65  # opacity of the colours over the picture
DARKEST = 0.5  # brightness of what is black in the picture


def draw(sheet: Sheet) -> None:
    """See the module."""
    chosen = _choose(sheet)
    attention_map = chosen[0][0]
    picture = attention_map.key.picture
    if picture is None or (picture.cells < 0).all():
        raise InputError("render.figures.no_patches", place=attention_map.place)
    if attention_map.content == "signed":
        raise InputError("render.figures.signed_lines", place=attention_map.place)
    names, rows, about = _read_rows(sheet, chosen)
    if len(rows) > PANELS:
        raise InputError("render.figures.too_many_panels", count=len(rows), most=PANELS)
    grids = [_lay_out(picture, row) for row in rows]
    largest = max(float(np.nanmax(grid)) for grid in grids) or 1.0
    colours = sheet.choose_scale(largest, signed=False)
    sheet.caption = " ".join((sheet.text(about), sheet.text(colours.about), parts.describe_evidence(sheet)))
    title = parts.name_heads(sheet, attention_map, sorted({head for _, head in chosen}))
    sheet.choose_fonts(*names, title)
    across = min(len(grids), ACROSS)
    down = math.ceil(len(grids) / across)
    sheet.set_size(parts.TALLEST)
    panels = sheet.make_panels(down, across)
    for axes in panels[len(grids) :]:
        axes.set_axis_off()
    shown = panels[: len(grids)]
    for axes, name, grid in zip(shown, names, grids, strict=True):
        mesh = _draw_panel(axes, picture, grid, colours)
        if len(grids) > 1:
            sheet.headings.append((axes, axes.set_title(name, loc="center", fontsize="small")))
    parts.add_scale(sheet, panels if sheet.owns_canvas else panels[0], mesh, colours, "weight")
    parts.write_texts(sheet, panels[0], title)


def _choose(sheet: Sheet) -> list[tuple[AttentionMap, int]]:
    """The heads to draw: where words look at patches one, else all of the map if none was named."""
    found = sheet.choose_heads()
    attention_map = found[0][0]
    if any(each.place != attention_map.place for each, _ in found):
        raise InputError("render.figures.one_map", places=[each.place.address for each, _ in found])
    if attention_map.kind == "cross":
        return sheet.choose_heads(most=1)
    if sheet.choice.heads is None:
        return [(attention_map, head) for head in range(attention_map.heads)]
    return found


def _read_rows(
    sheet: Sheet, chosen: list[tuple[AttentionMap, int]]
) -> tuple[list[str], list[NDArray[np.float64]], Message]:
    """Names of panels, the weights of each, and what they are."""
    attention_map, first = chosen[0]
    if attention_map.kind == "cross":
        names = parts.name_tokens(label_rows(sheet.recording, attention_map, sheet.choice.reading))
        weights = attention_map.weights(first).astype(np.float64)
        return names, list(weights), message("render.figures.picture_of_words")
    names = [sheet.text(message("render.figures.head_number", head=head)) for _, head in chosen]
    picture = attention_map.query.picture
    others = [] if picture is None else np.flatnonzero(picture.cells < 0).tolist()
    if others:
        text = attention_map.query.texts[others[0]]
        rows = [attention_map.weights(head)[others[0]].astype(np.float64) for _, head in chosen]
        return names, rows, message("render.figures.picture_of_token", token=text)
    rows = [attention_map.weights(head).astype(np.float64).mean(axis=0) for _, head in chosen]
    return names, rows, message("render.figures.picture_of_all")


def _lay_out(picture: Picture, row: NDArray[np.float64]) -> NDArray[np.float64]:
    """(row, column) of the weights of patches; NaN where no token is the patch."""
    grid = np.full(picture.rows * picture.columns, np.nan)
    patches = picture.cells >= 0
    grid[picture.cells[patches]] = row[patches]
    return grid.reshape(picture.rows, picture.columns)


def _draw_panel(
    axes: "Axes", picture: Picture, grid: NDArray[np.float64], colours: parts.Colours
) -> "ScalarMappable":
    """The picture in light greys, so that dark colours are seen on it, its patches coloured."""
    grey = DARKEST + (1 - DARKEST) * (picture.pixels @ np.array([0.299, 0.587, 0.114])) / 255
    height, width = grey.shape
    extent = (0, width, height, 0)
    axes.imshow(grey, cmap="gray", vmin=0, vmax=1, extent=extent, interpolation="none", gid="picture")
    edges = np.linspace(0, width, picture.columns + 1), np.linspace(0, height, picture.rows + 1)
    mesh = axes.pcolormesh(
        *edges, np.ma.masked_invalid(grid), **colours.options, alpha=COVER, linewidth=0, gid="weights"
    )
    axes.set(xlim=(0, width), ylim=(height, 0), xticks=[], yticks=[])
    axes.set_aspect("equal")
    axes.spines[:].set_visible(False)
    return mesh
