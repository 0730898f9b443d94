"""What the verbs print: errors in one line, pictures as wide as the terminal, progress.

In:   text, and the stream it goes to.
Out:  text on stdout or stderr.
"""

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from glassformer.messages import Message, message
from glassformer.render.terminal.text import wrap

if TYPE_CHECKING:
    from glassformer.recording import Recording

WIDEST = 160  # columns that a picture takes
SECONDS = 30.0  # between plain lines of progress, where there is no terminal

_LONG_WORD = re.compile(r"(\S{60})\S{200,}(\S{20})")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")  # not tab, not line feed

T = TypeVar("T")


def print_error(text: str) -> int:
    """Print an error, in a terminal as several lines; the exit code of errors that a person can correct."""
    shown = _LONG_WORD.sub(lambda word: f"{word[1]}…{word[2]}", text)
    line = f"glassformer:\0{escape_controls(shown, sys.stderr)}"  # \0: no line ends here
    line = wrap(line, count_columns(), hanging=2) if sys.stderr.isatty() else line
    print(line.replace("\0", " ", 1), file=sys.stderr)
    return 2


def escape_controls(text: str, stream: TextIO) -> str:
    """The text; for a terminal, characters that move its cursor or reverse its lines are spelt out."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text) if stream.isatty() else text


def count_columns() -> int:
    """How wide a picture may be."""
    return min(shutil.get_terminal_size().columns, WIDEST)


def has_colour() -> bool:
    """Whether stdout is a terminal that knows colours, and nobody has declined them (no-color.org)."""
    declined = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not declined


def draw_recording(recording: "Recording", chosen: Mapping[str, Any] | None = None) -> str:
    """One screen: how focused each head is, the head that was chosen, what comes next, and the evidence."""
    from glassformer.render.terminal import heatmap

    return heatmap.draw_recording(recording, columns=count_columns(), colour=has_colour(), **(chosen or {}))


def with_progress(items: Iterable[T], label: Message, total: int | None = None) -> Iterator[T]:
    """The same items, counted on stderr where that is a terminal."""
    with show_progress(label, total) as report:
        for count, item in enumerate(items, 1):
            yield item
            report(count)


@contextmanager
def show_progress(label: Message, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar on stderr, if that is a terminal; the function sets how much is done."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(str(label), total=total)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def show_remaining(label: Message) -> Iterator[Callable[[int, int | None, float | None], None]]:
    """The same for work that knows how many seconds are left: the function gets what is done, of how many.

    Elsewhere, as in the log of a job, a plain line now and then.
    """
    if not sys.stderr.isatty():
        yield _PlainLines(label)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    left = TextColumn("{task.fields[left]}")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), left)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(str(label), total=None, left="")

        def report(done: int, total: int | None, seconds: float | None) -> None:
            shown = "" if seconds is None else f"-{timedelta(seconds=round(seconds))}"
            progress.update(task, completed=done, total=total, left=shown)

        yield report


class _PlainLines:
    """Progress where there is no terminal."""

    def __init__(self, label: Message) -> None:
        self._label = label
        self._shown = time.monotonic()  # nothing is said about what takes no time

    def __call__(self, done: int, total: int | None, seconds: float | None) -> None:
        now = time.monotonic()
        if now - self._shown < SECONDS:
            return
        self._shown = now
        left = None if seconds is None else timedelta(seconds=round(seconds))
        code = "cli.progress.counted" if total is None else "cli.progress.of"
        said = message(code, label=self._label, done=done, total=total)
        line = said if left is None else message("cli.progress.left", progress=said, left=str(left))
        print(line, file=sys.stderr, flush=True)
