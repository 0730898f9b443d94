"""What several figures share: matrices with tokens along their axes, a colour bar, title and caption.

In:   a sheet, matplotlib axes.
Out:  drawings on them. Token text is never read as mathematics; labels never touch each other.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.recording import AttentionMap
from glassformer.registry import suggestion
from glassformer.render.choice import label, require_choice
from glassformer.render.figures.style import CAPTION, WARNING, weight_colours
from glassformer.render.terminal.text import measure, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colorbar import Colorbar
    from matplotlib.text import Text

    from glassformer.render.figures.figure import Sheet

CELLS = 96  # tokens a side that are drawn as vectors
LABELS = 64  # more tokens than this are numbered, not named
SCALES = ("linear", "root")
_LONGEST = 16  # letters of a token
_SMALLEST = 3.5  # points: smaller labels are thinned out instead
TALLEST = 10.0  # inches: a page
FLATTEST = 3  # times as broad as high: cells of flatter matrices are higher than broad
LINE = 18  # characters beside a flat matrix
_LOWEST = 0.6  # inches of a panel
_AIR = 1.25  # distance of labels, in their heights
_POINTS = 72  # in an inch


class Colours(NamedTuple):
    """How numbers become colours."""

    options: dict[str, Any]  # cmap and norm, as matplotlib takes them; masked cells stay empty
    about: Message  # scale and maximum, for the caption
    lowest: float
    largest: float


def choose_scale(
    largest: float,
    *,
    signed: bool,
    power: float = 1.0,
    vmax: float | None = None,
    cmap: str | None = None,
    scale: str | None = None,
) -> Colours:
    """The colours of values up to `largest`, or to `vmax`; `scale` is linear or root.

    Signed values are blue below zero, white at zero, red above; weights near white at zero, then deep violet.
    """
    from matplotlib import colormaps
    from matplotlib.colors import Colormap, FuncNorm, ListedColormap, Normalize, PowerNorm

    require_choice("scale", scale, SCALES)
    if vmax is not None and not (math.isfinite(vmax) and vmax > 0):
        raise InputError("render.figures.wrong_vmax", vmax=vmax)
    if cmap is not None and cmap not in colormaps:
        raise InputError("render.figures.unknown_cmap", name=cmap, suggestion=suggestion(cmap, colormaps))
    colours: Colormap
    if cmap is not None:
        colours = colormaps[cmap]
    else:
        colours = colormaps["RdBu_r"] if signed else ListedColormap(weight_colours(), name="glassformer")
    root = power != 1.0 if scale is None else scale == "root"
    top = largest if vmax is None else float(vmax)
    if signed:
        norm = FuncNorm((_signed_root, _signed_square), -top, top) if root else Normalize(-top, top)
    else:
        norm = PowerNorm(0.5 if root else 1.0, vmin=0, vmax=top)
    code = f"{'signed_' if signed else ''}{'root' if root else 'linear'}"
    above = "_given" if vmax is not None and vmax < largest else ""
    about = message(f"render.figures.scales.{code}{above}", most=_round(top), largest=_round(largest))
    options = {"cmap": colours.with_extremes(bad=(1.0, 1.0, 1.0, 0.0)), "norm": norm}
    return Colours(options, about, -top if signed else 0.0, top)


def _signed_root(values: Any) -> Any:
    return np.sign(values) * np.sqrt(np.abs(values))


def _signed_square(values: Any) -> Any:
    return np.sign(values) * np.square(values)


def _round(value: float) -> str:
    return f"{value:.3g}"


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


def drawn_labels(*axes: Sequence[str]) -> list[str]:
    """The names that are drawn: those of an axis with not too many."""
    return [name for names in axes if len(names) <= LABELS for name in names]


def draw_matrix(
    axes: "Axes",
    values: NDArray[np.floating[Any]] | np.ma.MaskedArray[Any, Any],
    rows: Sequence[str],
    columns: Sequence[str],
    colours: Colours,
    *,
    vectors: bool,
) -> "ScalarMappable":
    """A cell, or a pixel, for each number; tokens along both axes."""
    picture: ScalarMappable
    if vectors:
        edges = [np.arange(count + 1) - 0.5 for count in values.shape[::-1]]
        picture = axes.pcolormesh(*edges, values, **colours.options, gid="weights")
        axes.invert_yaxis()
    else:
        extent = (-0.5, len(columns) - 0.5, len(rows) - 0.5, -0.5)  # in tokens
        picture = axes.imshow(values, **colours.options, extent=extent, interpolation="none", gid="weights")
    axes.set_aspect(max(1.0, len(columns) / len(rows) / FLATTEST))  # few words that look at many patches
    label_axis(axes, "x", columns)
    label_axis(axes, "y", rows)
    return picture


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


def add_scale(
    sheet: "Sheet", axes: "Axes | list[Axes]", picture: "ScalarMappable", colours: Colours, label: str
) -> "Colorbar":
    """The colours and what they mean, as vectors too; the maximum is always a tick."""
    bar = sheet.canvas.colorbar(picture, ax=axes, fraction=0.05, pad=0.02)
    low, top = colours.lowest, colours.largest
    inner = [tick for tick in bar.get_ticks() if low < tick < top]
    bar.set_ticks(_keep_apart([low, *inner, top], bar), labels=None)
    bar.ax.set_yticklabels([f"{tick:.3g}" for tick in bar.get_ticks()])
    bar.ax.minorticks_off()
    bar.set_label(sheet.text(label))
    bar.outline.set_linewidth(0.3)
    if bar.solids is not None:
        bar.solids.set(rasterized=False, edgecolor="face")
    return bar


def _keep_apart(ticks: list[float], bar: "Colorbar") -> list[float]:
    """Ticks of a colour bar with the first and the last, and those between that are far from both."""
    share = [float(each) for each in np.asarray(bar.norm(ticks))]
    kept = [0]
    for place in range(1, len(ticks) - 1):
        if share[place] - share[kept[-1]] > 0.15 and share[-1] - share[place] > 0.15:
            kept.append(place)
    return [ticks[place] for place in (*kept, len(ticks) - 1)]


def describe_evidence(sheet: "Sheet") -> str:
    """How the numbers were made: the end of a caption."""
    evidence = sheet.recording.evidence.text(sheet.language)
    return sheet.text(message("render.figures.evidence", evidence=evidence))


def name_matrix(axes: "Axes", columns: str, rows: str) -> None:
    """What stands above and beside a matrix."""
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(columns)
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    flat = abs(right - left) > 2 * abs(high - low)
    axes.set_ylabel(wrap(rows, LINE) if flat else rows)
    axes.spines[:].set_visible(False)


def draw_whole(
    sheet: "Sheet",
    values: NDArray[np.floating[Any]] | np.ma.MaskedArray[Any, Any],
    rows: Sequence[str],
    columns: Sequence[str],
    colours: Colours,
    names: tuple[str, str, str],
    scale: str,
) -> None:
    """A figure of one matrix; `names` are its title and what its rows and columns are, `scale` the values."""
    title, row, column = names
    sheet.choose_fonts(*drawn_labels(rows, columns), *names)
    sheet.set_size(TALLEST)  # what is not needed is taken away again
    [axes] = sheet.make_panels(1, 1)
    picture = draw_matrix(axes, values, rows, columns, colours, vectors=max(values.shape) <= CELLS)
    name_matrix(axes, column, row)
    add_scale(sheet, axes, picture, colours, scale)
    write_texts(sheet, axes, title)


def write_texts(sheet: "Sheet", axes: "Axes", title: str) -> None:
    """The title that was given, or the view's own; below, what the figure shows and how it was measured.

    In axes of a person's own figure there is no caption: it is `Figure.caption`.
    """
    import matplotlib

    shown = title if sheet.choice.title is None else sheet.choice.title
    if not sheet.owns_canvas:
        axes.set_title(f"{shown}\n{sheet.mark}" if sheet.mark else shown, wrap=True)
        return
    canvas, small = sheet.canvas, matplotlib.rcParams["font.size"] * CAPTION
    look: dict[str, Any] = {"ha": "left", "fontsize": small}
    beside = max((each.get_window_extent().width for each in canvas.legends), default=0.0)
    heading = canvas.suptitle(shown, x=0.0, ha="left")
    _fit(heading, canvas.bbox.width - beside)
    if sheet.mark:
        mark = canvas.text(0.0, 1.0, sheet.mark, va="bottom", color=WARNING, gid="edited", **look)
        _fit(mark, canvas.bbox.width - beside)
        sheet.marked = mark, heading
        lines = mark.get_text().count("\n") + 1
        heading.set_text(heading.get_text() + "\n " * lines)  # room for it, below the title
        sheet.set_size(canvas.get_figheight() + 1.3 * lines * small / _POINTS)
    _fit(canvas.supxlabel(sheet.caption, x=0.0, color="0.35", gid="caption", **look), canvas.bbox.width)


def _fit(text: "Text", room: float) -> None:
    """Break a text into lines that are no wider than `room`, in dots."""
    whole = " ".join(text.get_text().split("\n"))
    longest = measure(whole)
    while (width := text.get_window_extent().width) > room and longest > 8:
        longest = min(longest - 1, int(longest * room / width) + 1)
        text.set_text(wrap(whole, longest))


def settle(sheet: "Sheet") -> None:
    """After everything is drawn: as high as square cells need it, and no labels that touch."""
    sizes: dict[int, float] = {}  # of the labels of each axis, before they were made smaller
    for _ in range(3 if sheet.owns_canvas else 0):
        sheet.canvas.draw_without_rendering()
        for axes in sheet.canvas.axes:
            _separate(axes, sizes)
        for axes, text in sheet.headings:
            _fit(text, max(axes.get_window_extent().width, sheet.canvas.dpi / 2))
        height = sheet.canvas.get_size_inches()[1]
        wanted = min(height + _find_missing(sheet), TALLEST)
        if abs(wanted - height) < 0.01:
            break
        sheet.set_size(wanted)
    sheet.canvas.draw_without_rendering()
    for axes in sheet.canvas.axes:
        _separate(axes, sizes)
    if sheet.marked is not None:
        mark, title = sheet.marked
        mark.set_y(title.get_window_extent().y0 / sheet.canvas.bbox.height)


def _find_missing(sheet: "Sheet") -> float:
    """Inches that matrices of square cells need to be as wide as they can; negative: too many."""
    rows: dict[int, float] = {}
    width, height = sheet.canvas.get_size_inches()
    for axes in sheet.canvas.axes:
        place = axes.get_subplotspec()
        if axes.get_aspect() == "auto" or place is None:
            continue
        box = axes.get_position(original=True)
        across, down = (abs(high - low) for low, high in (axes.get_xlim(), axes.get_ylim()))
        missing = max(box.width * width * down / across, _LOWEST) - box.height * height
        row = place.rowspan.start
        rows[row] = max(rows.get(row, -math.inf), missing)
    return sum(rows.values())


def _separate(axes: "Axes", sizes: dict[int, float]) -> None:
    """Labels of ticks become smaller, then fewer, until none touches the next."""
    box = axes.get_window_extent()
    dots = axes.figure.dpi / _POINTS
    for axis, length in ((axes.xaxis, box.width), (axes.yaxis, box.height)):
        shown = axis.get_tick_params()
        second = bool(shown.get("labeltop") or shown.get("labelright"))
        if not (second or shown.get("labelbottom") or shown.get("labelleft")):
            continue
        low, high = sorted(axis.get_view_interval())
        ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
        labels = [tick.label2 if second else tick.label1 for tick in ticks]
        if len(labels) < 2 or not labels[0].get_text():
            continue
        places = axis.get_transform().transform(np.array([tick.get_loc() for tick in ticks], dtype=float))
        ends = axis.get_transform().transform(np.array([low, high], dtype=float))
        pitch = float(np.diff(np.sort(places)).min() / np.ptp(ends)) * length / dots  # points
        across = axis is axes.xaxis
        if across and not labels[0].get_rotation() % 180:
            widest = max(each.get_window_extent().width for each in labels) / dots + 2
            _thin(labels, math.ceil(widest / pitch))
            continue
        room = pitch * math.sin(math.radians(labels[0].get_rotation())) if across else pitch
        usual = sizes.setdefault(id(axis), float(labels[0].get_fontsize()))
        size = min(usual, max(room / _AIR, _SMALLEST))
        axis.set_tick_params(labelsize=size)
        _thin(labels, math.ceil(size * _AIR / room - 1e-6))


def _thin(labels: Sequence["Text"], step: int) -> None:
    for number, each in enumerate(labels):
        each.set_visible(number % max(step, 1) == 0)
