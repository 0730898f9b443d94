"""Recordings as the terminal shows them.

In:   a Recording.
Out:  text as wide as the terminal, in colour where it has some.
"""

from typing import TYPE_CHECKING

from glassformer.cli.output import count_columns, has_colour

if TYPE_CHECKING:
    from glassformer.recording import Recording


def draw_recording(
    recording: "Recording", *, part: str | None = None, layer: int | None = None, head: int | None = None
) -> str:
    """One screen: how focused each head is, one of them drawn, what comes next, and the evidence."""
    from glassformer.render.terminal import heatmap

    return heatmap.draw_recording(
        recording, part=part, layer=layer, head=head, columns=count_columns(), colour=has_colour()
    )
