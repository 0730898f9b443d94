"""A recording, a training run or an atlas in a notebook: the page's views, the kernel in place of a server.

In:   a Recording, a RunLog, a RunIndex or an Atlas.
Out:  a widget. `selection` is readable and settable from Python; requests of the views are answered here.

    w = gf.show(recording)
    w.select(layer=3, head=5)      # the picture follows
    w.selection                    # and what a person clicks is read back
"""

from typing import TYPE_CHECKING, Any, overload
from urllib.parse import urlencode

from glassformer.atlases import Atlas
from glassformer.errors import InputError
from glassformer.messages import known_languages
from glassformer.recording import Recording
from glassformer.render.choice import require_choice
from glassformer.render.html.export import EMBEDDED
from glassformer.render.notebook import HEIGHT
from glassformer.runlog import RunIndex, RunLog, read_run

if TYPE_CHECKING:
    from glassformer.render.notebook.widget import AtlasWidget, RecordingWidget, RunWidget


@overload
def show(
    source: Recording,
    *,
    view: str | None = None,
    height: int = HEIGHT,
    language: str | None = None,
    theme: str | None = None,
) -> "RecordingWidget": ...


@overload
def show(
    source: RunLog | RunIndex,
    *,
    view: str | None = None,
    height: int = HEIGHT,
    language: str | None = None,
    theme: str | None = None,
) -> "RunWidget": ...


@overload
def show(
    source: Atlas,
    *,
    view: str | None = None,
    height: int = HEIGHT,
    language: str | None = None,
    theme: str | None = None,
) -> "AtlasWidget": ...


def show(
    source: Recording | RunLog | RunIndex | Atlas,
    *,
    view: str | None = None,
    height: int = HEIGHT,
    language: str | None = None,
    theme: str | None = None,
) -> "RecordingWidget | RunWidget | AtlasWidget":
    """The recording, the training run or the atlas, interactive, in the cell of a notebook.

    >>> widget = gf.show(gf.record("zoo/bert", "The cat sleeps."), view="lines")
    >>> widget.close()
    """
    if not isinstance(source, (Recording, RunLog, RunIndex, Atlas)):
        raise InputError("render.not_a_recording", type=type(source).__name__)
    require_choice("language", language, known_languages())
    require_choice("theme", theme, ("light", "dark"))
    run = read_run(source.folder) if isinstance(source, (RunLog, RunIndex)) else None
    wanted = {"run": None if run is None else run.name, "view": view}
    start = urlencode({name: value for name, value in wanted.items() if value is not None})
    if not EMBEDDED.is_file():
        raise InputError("render.not_built", file=EMBEDDED.name)
    from glassformer.render.notebook import widget as widgets  # late: heavy libraries

    looks: dict[str, Any] = {"height": height, "language": language or "", "theme": theme or ""}
    if isinstance(source, Atlas):
        require_choice("view", view, ("atlas",))
        return widgets.AtlasWidget(source, **looks)
    widgets.require_view(view, run=run is not None)
    if run is not None:
        return widgets.RunWidget(run, selection=start, **looks)
    assert isinstance(source, Recording)
    return widgets.RecordingWidget(source, selection=start, **looks)
