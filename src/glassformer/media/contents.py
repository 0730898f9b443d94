"""What a file is by its first bytes; its name is not asked, since names are often wrong.

In:   a path, or the bytes of a file.
Out:  a stream to read from, the name of its format, and what errors call it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import BinaryIO, NamedTuple

from glassformer.errors import InputError
from glassformer.messages import Message, message

Content = str | os.PathLike[str] | bytes | bytearray | memoryview

# Where a mark stands, the mark, and whose it is; the first that fits counts.
_MARKS = (
    (0, b"\x89PNG\r\n\x1a\n", "PNG"),
    (0, b"\xff\xd8\xff", "JPEG"),
    (8, b"WEBP", "WebP"),
    (8, b"WAVE", "WAV"),
    (0, b"fLaC", "FLAC"),
    (0, b"GIF8", "GIF"),
    (0, b"BM", "BMP"),
    (0, b"II*\x00", "TIFF"),
    (0, b"MM\x00*", "TIFF"),
    (4, b"ftyp", "MP4, M4A, HEIC or AVIF"),
    (0, b"ID3", "MP3"),
    *((0, bytes((0xFF, second)), "MP3") for second in (0xE2, 0xE3, 0xF2, 0xF3, 0xFA, 0xFB)),
    (0, b"OggS", "Ogg"),
    (0, b"\x1aE\xdf\xa3", "WebM"),
    (0, b"FORM", "AIFF"),
    (0, b"%PDF", "PDF"),
    (0, b"PK", "ZIP"),
    (0, b"<", "SVG, XML or HTML"),
)


MOST_BYTES = 64 << 20  # of what is read whole: WebP, and what comes through a pipe


class Opened(NamedTuple):
    """A file that has contents."""

    stream: BinaryIO
    name: str | Message  # what errors call it
    format: str | None  # None: unknown
    size: int  # bytes


@contextmanager
def open_content(content: Content) -> Iterator[Opened]:
    """A file or its bytes, from the beginning; refuses what is missing, empty or no file at all."""
    if isinstance(content, (bytes, bytearray, memoryview)):
        yield _look(BytesIO(content), message("media.bytes"))
        return
    if not isinstance(content, (str, os.PathLike)):
        raise InputError("media.not_a_file", kind=type(content).__name__)
    try:
        stream = open(content, "rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise InputError("media.unreadable", path=str(content), reason=error.strerror or str(error)) from None
    name = os.path.basename(os.fspath(content))
    with stream:
        yield _look(stream if stream.seekable() else _keep(stream, name), name)


def _keep(pipe: BinaryIO, name: str) -> BinaryIO:
    """All that comes through a pipe, such as that of another program."""
    kept = pipe.read(MOST_BYTES + 1)
    if len(kept) > MOST_BYTES:
        raise InputError("media.large_stream", name=name, limit=MOST_BYTES / 2**20)
    return BytesIO(kept)


def _look(stream: BinaryIO, name: str | Message) -> Opened:
    head = stream.read(16)
    if not head:
        raise InputError("media.empty", name=name)
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    known = (kind for start, mark, kind in _MARKS if head[start:].startswith(mark))
    return Opened(stream, name, next(known, None), size)
