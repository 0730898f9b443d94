"""A recording in a notebook cell: the page's own views, talking to the kernel instead of to a server.

In:   a Recording.
Out:  a widget. `selection` is readable and settable from Python; questions of the views are answered here.

    w = gf.show(recording)
    w.select(layer=3, head=5)      # the picture follows
    w.selection                    # and what a person clicks is read back
"""

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from glassformer.errors import InputError
from glassformer.recording import Recording
from glassformer.render.html.export import EMBEDDED
from glassformer.render.notebook import HEIGHT

if TYPE_CHECKING:
    from glassformer.render.notebook.widget import RecordingWidget


def show(
    recording: Recording,
    *,
    view: str | None = None,
    height: int = HEIGHT,
    language: str | None = None,
    theme: str | None = None,
) -> "RecordingWidget":
    """The recording, interactive, in the cell of a notebook."""
    if not isinstance(recording, Recording):
        raise InputError(
            f"A {type(recording).__name__} cannot be shown. Wanted a Recording. "
            "Make one with glassformer.record(model, text)."
        )
    for name, value, choices in (("language", language, ("en", "zh")), ("theme", theme, ("light", "dark"))):
        if value is not None and value not in choices:
            raise InputError(f"The {name} is {value!r}. Wanted {' or '.join(choices)}.")
    start = urlencode({} if view is None else {"view": view})
    return _require_class()(
        recording, selection=start, height=height, language=language or "", theme=theme or ""
    )


def _require_class() -> "type[RecordingWidget]":
    """The class lives in a room of its own: what it stands on is heavy, and nobody else needs it."""
    if not EMBEDDED.is_file():
        raise InputError("The page's code is missing. Wanted a built installation. Install again.")
    try:
        from glassformer.render.notebook.widget import RecordingWidget
    except ModuleNotFoundError as error:
        raise InputError(
            "Notebooks need anywidget, which is not installed. Install it: pip install anywidget."
        ) from error
    return RecordingWidget
