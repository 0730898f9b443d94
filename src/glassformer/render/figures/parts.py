"""What several figures share: tokens along axes, a colour bar, the caption with its evidence.

In:   a sheet, matplotlib axes.
Out:  drawings on them. Token text is never read as mathematics.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from glassformer.messages import message
from glassformer.recording import AttentionMap
from glassformer.render.choice import label
from glassformer.render.figures.style import SMALL, WARNING, weight_colours
from glassformer.render.terminal.text import wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colorbar import Colorbar

    from glassformer.render.figures.figure import Sheet

LABELS = 64  # more tokens than this are numbered, not named
_LONGEST = 16  # letters of a token


def choose_scale(largest: float, *, signed: bool, power: float = 1.0) -> dict[str, Any]:
    """How numbers become colours, as matplotlib takes it; masked cells stay empty.

    Signed values are blue below zero, white at zero, red above; weights near white at zero, then deep violet.
    """
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap, Normalize, PowerNorm

    colours = colormaps["RdBu_r"] if signed else ListedColormap(weight_colours(), name="glassformer")
    norm = Normalize(-largest, largest) if signed else PowerNorm(power, vmin=0, vmax=largest)
    return {"cmap": colours.with_extremes(bad=(1.0, 1.0, 1.0, 0.0)), "norm": norm}


def name_heads(sheet: "Sheet", attention_map: AttentionMap, heads: list[int]) -> str:
    """A title: the model, the map, and which of its heads are drawn."""
    model, place = sheet.recording.model, attention_map.place
    if len(heads) > 1:
        return sheet.text(message("render.figures.some_heads_of", model=model, place=place, heads=heads))
    head = message("render.head_of_map", place=place, head=heads[0])
    return sheet.text(message("render.figures.one_head_of", model=model, head=head))


def name_tokens(texts: Sequence[str]) -> list[str]:
    """Tokens as labels: without blanks around them, long ones cut."""
    names = [label(text) for text in texts]
    return [name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…" for name in names]


def label_axis(axes: "Axes", axis: Literal["x", "y"], names: Sequence[str]) -> None:
    """Every token at its place; where there are too many, a few positions."""
    which = axes.xaxis if axis == "x" else axes.yaxis
    if len(names) > LABELS:
        step = 10 ** int(np.floor(np.log10(len(names) / 2)))
        places = np.arange(0, len(names), step)
        which.set_ticks(places, [str(place) for place in places])
        return
    turn: dict[str, Any] = {"rotation": 90} if axis == "x" else {}
    which.set_ticks(np.arange(len(names)), list(names), **turn)
    which.set_tick_params(length=0)


def add_scale(sheet: "Sheet", axes: "Axes", picture: "ScalarMappable", label: str) -> "Colorbar":
    """The colours and what they mean, as vectors too."""
    bar = sheet.canvas.colorbar(picture, ax=axes, fraction=0.05, pad=0.02)
    bar.set_label(sheet.text(label))
    bar.outline.set_linewidth(0.3)
    if bar.solids is not None:
        bar.solids.set(rasterized=False, edgecolor="face")
    return bar


def describe_evidence(sheet: "Sheet") -> str:
    """How the numbers were made: the end of a caption."""
    evidence = sheet.recording.evidence.text(sheet.language)
    return sheet.text(message("render.figures.evidence", evidence=evidence))


def name_matrix(axes: "Axes", columns: str, rows: str) -> None:
    """What stands above and beside a matrix."""
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(columns)
    axes.set_ylabel(rows)
    axes.spines[["left", "bottom"]].set_visible(False)


def write_texts(sheet: "Sheet", axes: "Axes", title: str) -> None:
    """The title that was given, or the view's own; below, what the figure shows and how it was measured."""
    axes.set_title(title if sheet.choice.title is None else sheet.choice.title)
    letters = int(sheet.width * 72 / (SMALL * 0.52))
    if sheet.mark:
        mark = wrap(sheet.mark, max(int(letters * 0.78), 20))  # a legend may stand beside it
        sheet.set_size(sheet.canvas.get_figheight() + (mark.count("\n") + 2) * SMALL / 72)
        sheet.canvas.suptitle(mark, x=0.0, ha="left", fontsize=SMALL, color=WARNING, gid="edited")
    text = wrap(sheet.caption, max(letters, 20))
    sheet.canvas.supxlabel(text, x=0.0, ha="left", fontsize=SMALL, color="0.35", gid="caption")
