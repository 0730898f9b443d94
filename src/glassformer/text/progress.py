"""How far the reading of files has come.

In:   files that are being read, and a way to show progress, which a command sets with `showing`.
Out:  calls of it, a few each second: a text and the share that is done.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO

from glassformer.messages import Message

Show = Callable[[Message, float], None]  # what is done, and the share of it that is done

SECONDS = 0.2  # between two calls

_show: ContextVar[Show | None] = ContextVar("show", default=None)
_opened: ContextVar[list[tuple[IO[bytes], int]] | None] = ContextVar("opened", default=None)


@contextmanager
def showing(show: Show) -> Iterator[None]:
    """Show the progress of everything that is read inside."""
    token = _show.set(show)
    try:
        yield
    finally:
        _show.reset(token)


class Tracker:
    """The progress of one reading of some files."""

    def __init__(self, text: Callable[[], Message], size: int) -> None:
        self._text = text
        self._size = size  # bytes of all files
        self._next = time.monotonic() + SECONDS
        self._files: list[tuple[IO[bytes], int]] = []

    def tick(self) -> None:
        """Show where the reading is, if it is time to."""
        show, now = _show.get(), time.monotonic()
        if show is not None and now >= self._next:
            self._next = now + SECONDS
            show(self._text(), min(1.0, sum(map(_position, self._files)) / max(1, self._size)))


@contextmanager
def tracking(text: Callable[[], Message], paths: Iterable[Path]) -> Iterator[Tracker]:
    """Follow the files that are opened inside; `text` says what is done with them."""
    size = 0
    for path in paths:
        with suppress(OSError):
            size += path.stat().st_size
    tracker = Tracker(text, size)
    token = _opened.set(tracker._files)
    try:
        yield tracker
    finally:
        _opened.reset(token)
        show = _show.get()
        if show is not None and time.monotonic() >= tracker._next:
            show(text(), 1.0)


@contextmanager
def untracked() -> Iterator[None]:
    """Leave out files that are opened inside: those that are read twice count once."""
    token = _opened.set(None)
    try:
        yield
    finally:
        _opened.reset(token)


def note_opened(file: IO[bytes], path: Path) -> None:
    """A file was opened; where nobody follows, nothing happens."""
    files = _opened.get()
    if files is not None:
        with suppress(OSError):
            files.append((file, path.stat().st_size))


def _position(opened: tuple[IO[bytes], int]) -> int:
    """The bytes of a file that were read: where it is packed, of the packed ones."""
    file, size = opened
    if file.closed:
        return size
    try:
        return os.lseek(file.fileno(), 0, os.SEEK_CUR)
    except (OSError, ValueError):  # closed meanwhile, or no file of the system
        return size
