"""Views: what a person sees of a recording. Arrays in, pictures out; no network is ever asked.

The verb `glassformer.show` and this room have one name; as with `train`, the room itself can be called.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glassformer.recording import Recording
    from glassformer.show.cell import RecordingWidget

HEIGHT = 640  # pixels of a notebook's cell


class _Room(ModuleType):
    def __call__(
        self,
        recording: "Recording",
        *,
        view: str | None = None,
        height: int = HEIGHT,
        language: str | None = None,
        theme: str | None = None,
    ) -> "RecordingWidget":
        """See `glassformer.show.widget.show`."""
        from glassformer.show.widget import show

        return show(recording, view=view, height=height, language=language, theme=theme)


sys.modules[__name__].__class__ = _Room
