"""A recording in a notebook cell: the page's own views, with the kernel in place of a server.

In:   a Recording.
Out:  a widget. `selection` is readable and settable from Python; requests of the views are answered here.

    w = gf.show(recording)
    w.select(layer=3, head=5)      # the picture follows
    w.selection                    # and what a person clicks is read back
"""

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from glassformer.errors import InputError
from glassformer.messages import known_languages
from glassformer.recording import Recording
from glassformer.render.choice import require_choice
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
    """The recording, interactive, in the cell of a notebook.

    >>> widget = gf.show(gf.record("zoo/bert", "The cat sleeps."), view="lines")
    >>> widget.close()
    """
    if not isinstance(recording, Recording):
        raise InputError("render.not_a_recording", type=type(recording).__name__)
    require_choice("language", language, known_languages())
    require_choice("theme", theme, ("light", "dark"))
    start = urlencode({} if view is None else {"view": view})
    if not EMBEDDED.is_file():
        raise InputError("render.not_built", file=EMBEDDED.name)
    from glassformer.render.notebook.widget import RecordingWidget, require_view  # late: heavy libraries

    require_view(view)
    return RecordingWidget(
        recording, selection=start, height=height, language=language or "", theme=theme or ""
    )
