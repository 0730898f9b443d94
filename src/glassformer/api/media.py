"""Pictures and sound behind tokens: their descriptions for the page, and their bytes.

In:   a Picture or a Sound of a recording.
Out:  descriptions, without pixels and samples; a PNG, a WAV. Both are written here from the arrays: no byte
      of a file that somebody gave reaches a browser.
"""

import struct
import zlib
from typing import Annotated

import numpy as np
from pydantic import BeforeValidator, Field

from glassformer.recording.media import Picture, Sound
from glassformer.schema import ResponseModel, replace_surrogates

Seconds = Annotated[tuple[float, ...], Field(min_length=2, max_length=2)]  # from, to


class PictureDescription(ResponseModel):
    """The picture that tokens were cut from, as patches of a grid."""

    rows: int
    columns: int
    width: int  # pixels
    height: int
    cells: tuple[int, ...]  # of each token: row * columns + column of its patch; -1: it has none


class SpokenWordDescription(ResponseModel):
    """A word that is known to be spoken at a time."""

    text: Annotated[str, BeforeValidator(replace_surrogates)]
    start: float
    end: float


class SoundDescription(ResponseModel):
    """The sound that tokens were cut from, as frames."""

    rate: int  # samples per second
    seconds: float
    spans: tuple[Seconds, ...]  # of each token: the seconds that it hears; -1, -1: none
    words: tuple[SpokenWordDescription, ...]


def describe_picture(picture: Picture | None) -> PictureDescription | None:
    """All but its pixels."""
    if picture is None:
        return None
    height, width, _ = picture.pixels.shape
    return PictureDescription(
        rows=picture.rows,
        columns=picture.columns,
        width=width,
        height=height,
        cells=tuple(picture.cells.tolist()),
    )


def describe_sound(sound: Sound | None) -> SoundDescription | None:
    """All but its samples."""
    if sound is None:
        return None
    return SoundDescription(
        rate=sound.rate,
        seconds=sound.seconds,
        spans=tuple(map(tuple, sound.spans.tolist())),
        words=tuple(SpokenWordDescription.model_validate(each) for each in sound.words),
    )


def write_png(picture: Picture) -> bytes:
    """The pixels, eight bits a colour; each row as its difference from the one above: it packs better."""
    height, width, _ = picture.pixels.shape
    rows = picture.pixels.reshape(height, 3 * width)
    above = np.zeros_like(rows)
    above[1:] = rows[:-1]
    filtered = np.full((height, 1 + 3 * width), 2, dtype=np.uint8)  # 2: the filter "up"
    filtered[:, 1:] = rows - above  # modulo 256, as the format wants
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(filtered.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_write_chunk(*part) for part in parts)


def _write_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def write_wav(sound: Sound) -> bytes:
    """The samples, sixteen bits, one channel."""
    data = sound.samples.astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", 1, 1, sound.rate, 2 * sound.rate, 2, 16)
    parts = b"WAVE" + b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data))
    return b"RIFF" + struct.pack("<I", len(parts) + len(data)) + parts + data
