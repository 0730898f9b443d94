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
from glassformer.recording import Recording
from glassformer.registry import suggest
from glassformer.render.figures.fonts import choose_fonts
from glassformer.render.figures.style import COLUMN, PAGE, SETTINGS
from glassformer.render.files import write_whole
from glassformer.runlog import RunLog

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

VIEWS = {  # where each is drawn, and from what
    "heatmap": ("glassformer.render.figures.heatmap", Recording),
    "heads": ("glassformer.render.figures.heads", Recording),
    "lines": ("glassformer.render.figures.lines", Recording),
    "bars": ("glassformer.render.figures.bars", Recording),
    "curves": ("glassformer.render.figures.training", RunLog),
}
FORMATS = ("pdf", "svg", "png")
WIDTHS = {"column": COLUMN, "page": PAGE}
DOTS = 300  # a inch, of a PNG


@dataclass(frozen=True, slots=True)
class Choice:
    """What a figure shows; None leaves it to the view."""

    part: str | None = None  # encoder, decoder or cross
    layer: int | None = None
    heads: tuple[int, ...] | None = None
    metric: str = "entropy"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] | None = None  # curves of a run
    title: str | None = None

    @property
    def head(self) -> int | None:
        """The only head; None where none was chosen."""
        if self.heads is not None and len(self.heads) > 1:
            raise InputError(f"This view shows one head, and got {list(self.heads)}. Choose one of them.")
        return self.heads[0] if self.heads else None


@dataclass(slots=True)
class Sheet:
    """What a view draws on: the canvas, the thing, and the texts that need a font."""

    canvas: "Canvas"
    thing: Recording | RunLog
    choice: Choice
    width: float
    fonts: tuple[str, ...] = ()
    caption: str = ""

    @property
    def recording(self) -> Recording:
        assert isinstance(self.thing, Recording)
        return self.thing

    @property
    def log(self) -> RunLog:
        assert isinstance(self.thing, RunLog)
        return self.thing

    def set_size(self, height: float) -> None:
        """Inches; the width was asked for."""
        self.canvas.set_size_inches(self.width, height)

    def use_letters(self, *texts: str) -> None:
        """Choose fonts that can write these texts; views call it before they draw."""
        import matplotlib

        families = choose_fonts([*texts, self.choice.title or "", self.caption], self.fonts)
        matplotlib.rcParams["font.family"] = families  # inside the context that `figure` opens


class Figure:
    """A drawn figure. `canvas` is matplotlib's, for whoever wants to change something by hand."""

    def __init__(self, canvas: "Canvas", settings: Mapping[str, Any]) -> None:
        self.canvas = canvas
        self._settings: Any = dict(settings)

    def save(self, path: str | Path) -> Path:
        """Write a PDF, SVG or PNG by the ending of the name; an old file is replaced whole or not at all."""
        target = Path(path).expanduser()
        kind = target.suffix.lower().removeprefix(".")
        if kind not in FORMATS:
            raise InputError(
                f"{target.name} ends in {target.suffix or 'nothing'}. Wanted .pdf, .svg or .png. Rename it."
            )
        return write_whole(target, self.encode(kind))

    def encode(self, kind: str) -> bytes:
        """The bytes of a file of that kind."""
        import matplotlib

        buffer = io.BytesIO()
        with matplotlib.rc_context(self._settings):
            metadata = {"Creator": "glassformer"} | ({"CreationDate": None} if kind == "pdf" else {})
            metadata |= {"Date": None} if kind == "svg" else {}
            self.canvas.savefig(
                buffer, format=kind, dpi=DOTS, metadata={} if kind == "png" else metadata, bbox_inches="tight"
            )
        return buffer.getvalue()

    def _repr_png_(self) -> bytes:
        """What a notebook shows."""
        return self.encode("png")


def figure(  # noqa: PLR0913 - each is one word of one sentence
    thing: Recording | RunLog,
    view: str | None = None,
    *,
    part: str | None = None,
    layer: int | None = None,
    head: int | Sequence[int] | None = None,
    metric: str = "entropy",
    parameters: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
    width: str | float = "column",
    fonts: Sequence[str] = (),
) -> Figure:
    """Draw a view of a recording ("heatmap", "heads", "lines", "bars") or of a training run ("curves")."""
    name = view or ("curves" if isinstance(thing, RunLog) else "heatmap")
    draw = _find(name, thing)
    heads = None if head is None else (head,) if isinstance(head, int) else tuple(head)
    choice = Choice(part, layer, heads, metric, dict(parameters or {}), tuple(names or ()) or None, title)
    matplotlib = _require_matplotlib()
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context(dict(SETTINGS)):
        sheet = Sheet(Canvas(layout="constrained"), thing, choice, _measure(width), tuple(fonts))
        draw(sheet)
        settings = {key: matplotlib.rcParams[key] for key in (*SETTINGS, "font.family")}
    return Figure(sheet.canvas, settings)


def list_views() -> tuple[str, ...]:
    """The names of the views."""
    return tuple(VIEWS)


def _find(view: str, thing: object) -> Callable[[Sheet], None]:
    if view not in VIEWS:
        raise ConfigurationError(f"No figure is called {view!r}.{suggest(view, VIEWS)}")
    room, wanted = VIEWS[view]
    if not isinstance(thing, wanted):
        raise InputError(
            f"A {type(thing).__name__} has no {view}. Wanted a {wanted.__name__}. Choose another view."
        )
    draw: Callable[[Sheet], None] = import_module(room).draw
    return draw


def _measure(width: str | float) -> float:
    if isinstance(width, str):
        if width not in WIDTHS:
            raise InputError(f"The width is {width!r}. Wanted 'column', 'page' or inches.")
        return WIDTHS[width]
    if not 1 <= width <= 60:
        raise InputError(f"The width is {width} inches. Wanted 1 to 60.")
    return float(width)


def _require_matplotlib() -> Any:
    try:
        return import_module("matplotlib")
    except ModuleNotFoundError as error:
        raise InputError(
            "Figures need matplotlib, which is not installed. Install it: pip install matplotlib."
        ) from error
