"""One figure: chosen, drawn and written.

In:   a Recording, a RunLog, an Atlas or a Study; the name of a view, and what to show of it.
Out:  Figure, around a matplotlib figure that can still be changed by hand.

A view is a file of this folder with a function `draw(sheet)`: it reads `sheet.recording` (or `sheet.log`,
`sheet.atlas`, `sheet.study`) and `sheet.choice`, and draws into `sheet.canvas`.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from glassformer.atlases import Atlas
from glassformer.errors import ConfigurationError, InputError
from glassformer.messages import Message, get_language, known_languages, message
from glassformer.place import Place, Reading
from glassformer.recording import AttentionMap, Recording
from glassformer.registry import suggestion
from glassformer.render.choice import choose_head, require_choice
from glassformer.render.figures.fonts import choose_fonts
from glassformer.render.figures.style import COLUMN, PAGE, REQUIRED, SETTINGS, choose_settings
from glassformer.render.files import write_whole
from glassformer.runlog import RunIndex, RunLog, read_run
from glassformer.studies import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.text import Text

    from glassformer.render.figures.parts import Colours

VIEWS = {  # the module that draws each, and what it draws
    "heatmap": ("glassformer.render.figures.heatmap", Recording),
    "heads": ("glassformer.render.figures.heads", Recording),
    "lines": ("glassformer.render.figures.lines", Recording),
    "bars": ("glassformer.render.figures.bars", Recording),
    "rollout": ("glassformer.render.figures.rollout", Recording),
    "difference": ("glassformer.render.figures.difference", Recording),
    "picture": ("glassformer.render.figures.picture", Recording),
    "sound": ("glassformer.render.figures.sound", Recording),
    "curves": ("glassformer.render.figures.training", RunLog),
    "learning": ("glassformer.render.figures.learning", RunLog),
    "strip": ("glassformer.render.figures.strip", RunLog),
    "atlas": ("glassformer.render.figures.atlas", Atlas),
    "study": ("glassformer.render.figures.study", Study),
}
_MAP, _COLOURS = ("place", "part", "layer"), ("vmax", "cmap", "scale")
USED = {  # the choices that act on each view, beside title, width and those of every figure
    "heatmap": (*_MAP, "head", "reading", *_COLOURS),
    "heads": (*_MAP, "head", *_COLOURS),
    "lines": (*_MAP, "head", "reading"),
    "bars": (*_MAP, "metric", "parameters"),
    "rollout": (*_MAP, "parameters", *_COLOURS),
    "difference": (*_MAP, "head", "reading", "against", *_COLOURS),
    "picture": (*_MAP, "head", "reading", *_COLOURS),
    "sound": (*_MAP, "head", "reading", *_COLOURS),
    "curves": ("names",),
    "learning": (*_MAP, "metric", *_COLOURS),
    "strip": (*_MAP, "head", "reading", "steps", "text", *_COLOURS),
    "atlas": ("metric", *_COLOURS),
    "study": ("metric", *_COLOURS),
}
COMMANDS = {"names": "--curve", "parameters": "--set", "steps": "--step"}  # called so on the command line
FORMATS = ("pdf", "svg", "png")
WIDTHS = {"column": COLUMN, "page": PAGE}
DOTS = 300  # per inch, of a PNG
SCREEN = 96  # pixels of CSS in an inch

Heads = int | str | Sequence[int | str | tuple[Place | str, int]]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a figure shows; None leaves it to the view."""

    part: str | None = None  # encoder, decoder or cross
    layer: int | None = None
    place: Place | None = None  # instead of part and layer
    heads: tuple[tuple[Place | None, int], ...] | None = None  # of a place of its own, or of the map above
    metric: str | None = None  # None: the entropy; of a run, its share of the largest; of an atlas, the type
    parameters: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] | None = None  # curves of a run
    title: str | None = None
    vmax: float | None = None  # the number of the last colour
    cmap: str | None = None  # a colour map of matplotlib
    scale: str | None = None  # linear or root
    against: Recording | None = None  # what is subtracted
    reading: Reading = "written"
    steps: tuple[int, ...] | None = None  # of a training run
    text: int | None = None  # the number of one that was recorded while a run trained


@dataclass(slots=True)
class Sheet:
    """What a view draws on: the canvas, what is drawn, and the texts that need a font."""

    canvas: "Canvas"
    source: Recording | RunLog | Atlas | Study
    choice: Choice
    width: float
    language: str
    fonts: tuple[str, ...] = ()
    caption: str = ""
    ax: "Axes | None" = None  # axes of a person's own figure
    headings: "list[tuple[Axes, Text]]" = field(default_factory=list)  # of panels
    marked: "tuple[Text, Text] | None" = None  # that the model was edited, and the title above it

    @property
    def recording(self) -> Recording:
        assert isinstance(self.source, Recording)
        return self.source

    @property
    def log(self) -> RunLog:
        assert isinstance(self.source, RunLog)
        return self.source

    @property
    def atlas(self) -> Atlas:
        assert isinstance(self.source, Atlas)
        return self.source

    @property
    def study(self) -> Study:
        assert isinstance(self.source, Study)
        return self.source

    def text(self, text: Message | str) -> str:
        """A message, or the text of a code below render.figures, in the language of the figure."""
        return (message(f"render.figures.{text}") if isinstance(text, str) else text).text(self.language)

    @property
    def owns_canvas(self) -> bool:
        """Whether size, layout and caption are ours."""
        return self.ax is None

    def choose_heads(self, most: int | None = None) -> list[tuple[AttentionMap, int]]:
        """The maps and heads to draw; those without a place of their own are of one map."""
        choice = self.choice
        if most is not None and choice.heads is not None and len(choice.heads) > most:
            raise InputError("render.figures.one_head", heads=[head for _, head in choice.heads])
        found: list[tuple[AttentionMap, int]] = []
        common = choice.place
        for place, head in choice.heads or ((None, None),):
            each = choose_head(
                self.recording, part=choice.part, layer=choice.layer, head=head, place=place or common
            )
            common = common or (each[0].place if place is None else None)
            found.append(each)
        return found

    def choose_scale(self, largest: float, *, signed: bool, power: float = 1.0) -> "Colours":
        """The colours of values up to `largest`, as they were asked for."""
        from glassformer.render.figures.parts import choose_scale

        choice = self.choice
        return choose_scale(
            largest, signed=signed, power=power, vmax=choice.vmax, cmap=choice.cmap, scale=choice.scale
        )

    def make_panels(self, rows: int, columns: int, *, sharex: bool = False) -> list["Axes"]:
        """Axes to draw in, row by row: new ones, or those that were given."""
        if self.ax is None:
            grid = self.canvas.subplots(rows, columns, squeeze=False, sharex=sharex)
            return list(grid.ravel())
        if rows * columns > 1:
            raise InputError("render.figures.one_panel", count=rows * columns)
        return [self.ax]

    @property
    def mark(self) -> str:
        """That the recording is of an edited model; empty where it is not."""
        mark = self.source.evidence.mark if isinstance(self.source, Recording) else None
        return "" if mark is None else self.text(mark)

    def set_size(self, height: float) -> None:
        """The height in inches; the width is given."""
        if self.owns_canvas:
            self.canvas.set_size_inches(self.width, height)

    def choose_fonts(self, *texts: str) -> None:
        """Choose fonts that have the characters of these texts; views call it before they draw."""
        import matplotlib

        try:
            families = choose_fonts([*texts, self.choice.title or "", self.caption, self.mark], self.fonts)
        except InputError as error:
            if self.language == "en" or not error.message.code.startswith("render.figures.no_font_for"):
                raise
            raise InputError("render.figures.try_english", problem=error.message) from error
        matplotlib.rcParams["font.family"] = families  # inside the context that `figure` opens


class Figure:
    """A drawn figure. `canvas` is the figure of matplotlib, which can be changed by hand.

    `caption` says what is shown, on which scale, and where the numbers come from.
    """

    def __init__(self, canvas: "Canvas", settings: Mapping[str, Any], caption: str = "") -> None:
        self.canvas = canvas
        self.caption = caption
        self._settings: Any = dict(settings)

    def save(self, path: str | Path) -> Path:
        """Write a PDF, SVG or PNG by the suffix of the name; completely or not at all."""
        target = Path(path).expanduser()
        kind = target.suffix.lower().removeprefix(".")
        if kind not in FORMATS:
            suffixes = [f".{each}" for each in FORMATS]
            raise InputError("render.wrong_suffix", name=target.name, suffixes=suffixes)
        return write_whole(target, self.encode(kind))

    def encode(self, kind: str, dots: int = DOTS) -> bytes:
        """The bytes of a file of that kind; a PNG has so many dots per inch."""
        import matplotlib

        buffer = io.BytesIO()
        with matplotlib.rc_context(self._settings):
            dates = {"pdf": "CreationDate", "svg": "Date"}  # left out: the same figure is the same file
            metadata = {"Creator": "glassformer", dates[kind]: None} if kind in dates else {}
            self.canvas.savefig(buffer, format=kind, dpi=dots, metadata=metadata)
        return buffer.getvalue()

    def _repr_png_(self) -> bytes:
        return self.encode("png")

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a notebook shows: the figure in its printed size."""
        width, height = (round(inches * SCREEN) for inches in self.canvas.get_size_inches())
        texts = {"text/plain": f"Figure: {self.caption}"}
        return {"image/png": self._repr_png_(), **texts}, {"image/png": {"width": width, "height": height}}


def figure(  # noqa: PLR0913 - independent settings
    source: Recording | RunLog | RunIndex | Atlas | Study,
    view: str | None = None,
    *,
    part: str | None = None,
    layer: int | None = None,
    place: Place | str | None = None,
    head: Heads | None = None,
    metric: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    against: Recording | None = None,
    vmax: float | None = None,
    cmap: str | None = None,
    scale: str | None = None,
    title: str | None = None,
    reading: Reading = "written",
    steps: Sequence[int] | None = None,
    text: int | None = None,
    width: str | float = "column",
    ax: "Axes | None" = None,
    fonts: Sequence[str] = (),
    language: str | None = None,
) -> Figure:
    """Draw a view of a recording, of a training run, of an atlas or of a study.

    Views are "heatmap", "heads", "lines", "bars", "rollout" and "difference"; where patches or frames are
    looked at, "picture" (colours over the picture, a panel for each word or head) and "sound" (words or heads
    over time, below the wave); of a run "curves", "learning" (every head over the steps) and "strip": one
    head at some `steps`, as recorded while the run trained, of the text with the number `text`. Of an atlas
    "atlas": all heads by type, or by a `metric`: "cost", a measure, the name of a detector. Of a study
    "study": all heads by a `metric` that it measured, or by "effects".

    The map is chosen by `place` (a Place or its address, "decoder.cross.3"), or by `part` and `layer`. `head`
    is one head or several; "decoder.cross.3:5" is a head of another map. Several heads of a heat map are a
    grid on one scale. "difference" subtracts the recording `against`.
    `vmax` is the number of the last colour (the largest value), `cmap` a colour map of matplotlib, `scale`
    "linear" or "root". `width` is "column" (3.4 inches), "page" (7.0) or a number of inches; the file has
    exactly this width. `ax` are axes of your own figure, which keeps its size and style. Fonts and sizes that
    you have set in matplotlib's rcParams are used. Texts are in `language` ("en", "zh"); by default in the
    language of this process. Rows of cross-attention are named by the word that is written there; with
    `reading="entered"` by the word that entered before it.

    >>> recording = gf.record("zoo/bert", "The cat sleeps.")
    >>> gf.figure(recording, "heatmap", layer=2, head=1).save("heatmap.svg").name
    'heatmap.svg'
    """
    from matplotlib.figure import Figure as Canvas

    from glassformer.render.figures.parts import settle

    if isinstance(source, RunIndex):
        source = read_run(source.folder)
    matplotlib = import_module("matplotlib")  # late: it is slow; its settings have no useful types
    usual = "heatmap" if against is None else "difference"
    own = {RunLog: "curves", Atlas: "atlas", Study: "study"}
    name = view or own.get(type(source), usual)
    draw = _find_view(name, source)
    require_choice("language", language, known_languages())
    where = Place.parse(place) if isinstance(place, str) else place
    curves = tuple(names or ()) or None
    if against is not None and name != "difference":
        raise InputError("render.figures.only_difference", view=name)
    given: dict[str, Any] = {"place": place, "part": part, "layer": layer, "head": head, "metric": metric}
    given |= {"names": curves, "parameters": parameters or None, "vmax": vmax, "cmap": cmap, "scale": scale}
    given |= {"reading": None if reading == "written" else reading, "steps": steps, "text": text}
    _check_used(name, [each for each, value in given.items() if value is not None])
    choice = Choice(
        part,
        layer,
        where,
        _read_heads(head),
        metric,
        dict(parameters or {}),
        curves,
        title,
        vmax,
        cmap,
        scale,
        against,
        reading,
        None if steps is None else tuple(steps),
        text,
    )
    ours = choose_settings(matplotlib.rcParams, matplotlib.rcParamsDefault)
    with matplotlib.rc_context(ours if ax is None else {key: SETTINGS[key] for key in REQUIRED}):
        canvas = Canvas(layout="constrained") if ax is None else cast("Canvas", ax.figure)
        inches = _read_width(width) if ax is None else float(canvas.get_size_inches()[0])
        sheet = Sheet(canvas, source, choice, inches, language or get_language(), tuple(fonts), ax=ax)
        draw(sheet)
        settle(sheet)
        settings = {key: matplotlib.rcParams[key] for key in (*SETTINGS, "font.family")}
    return Figure(sheet.canvas, settings, sheet.caption)


def _check_used(view: str, given: list[str]) -> None:
    """Refuse a choice that would change nothing."""
    unused = [COMMANDS.get(name, f"--{name}") for name in given if name not in USED[view]]
    if unused:
        used = [COMMANDS.get(name, f"--{name}") for name in USED[view]]
        raise InputError("render.figures.unused", view=view, unused=unused, used=used)


def _read_heads(head: Heads | None) -> tuple[tuple[Place | None, int], ...] | None:
    """Heads by number, by address and number ("decoder.cross.3:5"), or by place and number."""
    if head is None:
        return None
    found: list[tuple[Place | None, int]] = []
    for each in (head,) if isinstance(head, (int, str)) else head:
        if isinstance(each, tuple):
            place, number = each
            found.append((Place.parse(place) if isinstance(place, str) else place, number))
        elif isinstance(each, str):
            address, colon, number_text = each.rpartition(":")
            if not number_text.isdecimal():
                raise InputError("render.figures.wrong_head", head=each)
            found.append((Place.parse(address) if colon else None, int(number_text)))
        else:
            found.append((None, each))
    return tuple(found)


def _find_view(view: str, source: object) -> Callable[[Sheet], None]:
    if view not in VIEWS:
        near = suggestion(view, VIEWS)
        raise ConfigurationError("render.figures.unknown_view", view=view, suggestion=near)
    module, expected = VIEWS[view]
    if not isinstance(source, expected):
        raise InputError(
            "render.figures.wrong_view", view=view, type=type(source).__name__, expected=expected.__name__
        )
    draw: Callable[[Sheet], None] = import_module(module).draw
    return draw


def _read_width(width: str | float) -> float:
    """Inches: a name of WIDTHS, or a number (the command line has it as text)."""
    try:
        inches = WIDTHS[width] if isinstance(width, str) and width in WIDTHS else float(width)
    except ValueError:
        raise InputError("render.figures.unknown_width", width=width, choices=tuple(WIDTHS)) from None
    if not 1 <= inches <= 60:
        raise InputError("render.figures.wrong_width", width=inches)
    return inches
