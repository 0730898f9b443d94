"""What a network that looks or listens was given, as arrays of numbers.

In:   the settings of an architecture, the tokens of a recording.
Out:  bytes of pixels, or samples.
"""

from collections.abc import Mapping

import numpy as np

from glassformer.recording import Tokens
from glassformer.recording.arrays import AnyArray

Architecture = Mapping[str, str | int | float | bool | None]  # its settings by name

FULL = 2**15  # of a sample of 16 bits


def perceives(architecture: Architecture) -> bool:
    """Whether the encoder reads pictures or sounds; older recordings do not say, and are of texts."""
    return architecture.get("reads", "text") != "text"


def read_given(architecture: Architecture, source: Tokens) -> dict[str, AnyArray]:
    """encoder/pixels (channel · row, column), or encoder/samples (sample,) from -1 to 1, up to the end of the
    last token."""
    reads = architecture.get("reads")
    if reads == "picture" and source.picture is not None:
        pixels = source.picture.pixels if architecture["color"] else source.picture.pixels[..., :1]
        planes = pixels.transpose(2, 0, 1)  # (channel, row, column)
        return {"encoder/pixels": planes.reshape(-1, planes.shape[-1]).astype(np.int32)}
    if reads == "sound" and source.sound is not None:
        heard = source.sound.samples
        length = len(source) * int(architecture["hop"] or 1) * int(architecture["frame_stride"] or 1)
        samples = np.zeros(max(len(heard), length), np.float32)
        samples[: len(heard)] = heard / np.float32(FULL)
        return {"encoder/samples": samples}
    return {}
