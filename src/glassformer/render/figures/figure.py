"""One figure: chosen, drawn and written.

In:   a Recording or a RunLog; the name of a view, and what to show of it.
Out:  Figure, around a matplotlib figure that can still be changed by hand.

A view is a file of this folder with a function `draw(sheet)`: it reads `sheet.recording` (or `sheet.log`) and
`sheet.choice`, and draws into `sheet.canvas`.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.errors import ConfigurationError, InputError
from glassformer.messages import Message, get_language, known_languages, message
from glassformer.place import Place
from glassformer.recording import AttentionMap, Recording
from glassformer.recording.axes import Reading
from glassformer.registry import suggestion
from glassformer.render.choice import choose_head, require_choice
from glassformer.render.figures.fonts import choose_fonts
from glassformer.render.figures.style import COLUMN, PAGE, SETTINGS
from glassformer.render.files import write_whole
from glassformer.runlog import RunLog

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

VIEWS = {  # the module that draws each, and what it draws
    "heatmap": ("glassformer.render.figures.heatmap", Recording),
    "heads": ("glassformer.render.figures.heads", Recording),
    "lines": ("glassformer.render.figures.lines", Recording),
    "bars": ("glassformer.render.figures.bars", Recording),
    "curves": ("glassformer.render.figures.training", RunLog),
}
FORMATS = ("pdf", "svg", "png")
WIDTHS = {"column": COLUMN, "page": PAGE}
DOTS = 300  # per inch, of a PNG


@dataclass(frozen=True, slots=True)
class Choice:
    """What a figure shows; None leaves it to the view."""

    part: str | None = None  # encoder, decoder or cross
    layer: int | None = None
    place: Place | None = None  # instead of part and layer
    heads: tuple[int, ...] | None = None
    metric: str = "entropy"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] | None = None  # curves of a run
    title: str | None = None
    reading: Reading = "written"

    @property
    def head(self) -> int | None:
        """The only head; None where none was chosen."""
        if self.heads is not None and len(self.heads) > 1:
            raise InputError("render.figures.one_head", heads=self.heads)
        return self.heads[0] if self.heads else None


@dataclass(slots=True)
class Sheet:
    """What a view draws on: the canvas, what is drawn, and the texts that need a font."""

    canvas: "Canvas"
    source: Recording | RunLog
    choice: Choice
    width: float
    language: str
    fonts: tuple[str, ...] = ()
    caption: str = ""

    @property
    def recording(self) -> Recording:
        assert isinstance(self.source, Recording)
        return self.source

    @property
    def log(self) -> RunLog:
        assert isinstance(self.source, RunLog)
        return self.source

    def text(self, text: Message | str) -> str:
        """A message, or the text of a code below render.figures, in the language of the figure."""
        return (message(f"render.figures.{text}") if isinstance(text, str) else text).text(self.language)

    def choose_head(self, head: int | None) -> tuple[AttentionMap, int]:
        """The map and the head to draw."""
        part, layer, place = self.choice.part, self.choice.layer, self.choice.place
        return choose_head(self.recording, part=part, layer=layer, head=head, place=place)

    @property
    def mark(self) -> str:
        """That the recording is of an edited model; empty where it is not."""
        mark = self.source.evidence.mark if isinstance(self.source, Recording) else None
        return "" if mark is None else self.text(mark)

    def set_size(self, height: float) -> None:
        """The height in inches; the width is given."""
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
    """A drawn figure. `canvas` is the figure of matplotlib, which can be changed by hand."""

    def __init__(self, canvas: "Canvas", settings: Mapping[str, Any]) -> None:
        self.canvas = canvas
        self._settings: Any = dict(settings)

    def save(self, path: str | Path) -> Path:
        """Write a PDF, SVG or PNG by the suffix of the name; completely or not at all."""
        target = Path(path).expanduser()
        kind = target.suffix.lower().removeprefix(".")
        if kind not in FORMATS:
            suffixes = [f".{each}" for each in FORMATS]
            raise InputError("render.wrong_suffix", name=target.name, suffixes=suffixes)
        return write_whole(target, self.encode(kind))

    def encode(self, kind: str) -> bytes:
        """The bytes of a file of that kind."""
        import matplotlib

        buffer = io.BytesIO()
        with matplotlib.rc_context(self._settings):
            dates = {"pdf": "CreationDate", "svg": "Date"}  # left out: the same figure is the same file
            metadata = {"Creator": "glassformer", dates[kind]: None} if kind in dates else {}
            self.canvas.savefig(buffer, format=kind, dpi=DOTS, metadata=metadata, bbox_inches="tight")
        return buffer.getvalue()

    def _repr_png_(self) -> bytes:
        """What a notebook shows."""
        return self.encode("png")


def figure(  # noqa: PLR0913 - independent settings
    source: Recording | RunLog,
    view: str | None = None,
    *,
    part: str | None = None,
    layer: int | None = None,
    place: Place | str | None = None,
    head: int | Sequence[int] | None = None,
    metric: str = "entropy",
    parameters: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
    reading: Reading = "written",
    width: str | float = "column",
    fonts: Sequence[str] = (),
    language: str | None = None,
) -> Figure:
    """Draw a view of a recording ("heatmap", "heads", "lines", "bars") or of a training run ("curves").

    The map is chosen by `place` (a Place or its address, "decoder.cross.3"), or by `part` and `layer`. Texts
    are in `language` ("en", "zh"); by default in the language of this process. Rows of cross-attention are
    named by the word that is written there; with `reading="entered"` by the word that entered before it.

    >>> recording = gf.record("zoo/bert", "The cat sleeps.")
    >>> gf.figure(recording, "heatmap", layer=2, head=1).save("heatmap.svg").name
    'heatmap.svg'
    """
    from matplotlib.figure import Figure as Canvas

    matplotlib = import_module("matplotlib")  # late: it is slow; its settings have no useful types
    name = view or ("curves" if isinstance(source, RunLog) else "heatmap")
    draw = _find_view(name, source)
    require_choice("language", language, known_languages())
    heads = None if head is None else (head,) if isinstance(head, int) else tuple(head)
    where = Place.parse(place) if isinstance(place, str) else place
    curves = tuple(names or ()) or None
    choice = Choice(part, layer, where, heads, metric, dict(parameters or {}), curves, title, reading)
    with matplotlib.rc_context(dict(SETTINGS)):
        canvas, spoken = Canvas(layout="constrained"), language or get_language()
        sheet = Sheet(canvas, source, choice, _read_width(width), spoken, tuple(fonts))
        draw(sheet)
        settings = {key: matplotlib.rcParams[key] for key in (*SETTINGS, "font.family")}
    return Figure(sheet.canvas, settings)


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
