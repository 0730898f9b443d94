"""Progress of a training run: a bar with loss, speed and remaining time in a terminal, plain lines elsewhere.

In:   numbers of a step; notes.
Out:  text on a stream.
"""

import shutil
import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, TextIO

from glassformer.messages import Message, message
from glassformer.place import name_term
from glassformer.runlog import ALARM, BEST, GREW, PASSED, Event
from glassformer.runlog.log import ENDINGS
from glassformer.training.callbacks.callback import Callback, Rows

if TYPE_CHECKING:
    from rich.progress import Progress

BAR = 24  # characters of the progress bar; fewer in a narrow terminal
SECONDS = 30.0  # between plain lines, where there is no terminal
READING_SECONDS = 5.0  # the same while files are read
SMOOTHING = 0.8  # of the speed


class ReadingDisplay:
    """Progress before the first step, while files are read: see `text.progress`."""

    def __init__(self, stream: TextIO | None = None, *, silent: bool = False) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.silent = silent
        self._shown = time.monotonic()  # nothing is said about what takes no time

    def __call__(self, text: Message, share: float) -> None:
        """Show a text and the share that is done: in place in a terminal, otherwise a line now and then."""
        if self.silent:
            return
        now = time.monotonic()
        line = f"{text}, {share:.0%}"
        if self.stream.isatty():
            end = "\n" if share >= 1 else ""
            self.stream.write(f"\r\x1b[2K{line[: shutil.get_terminal_size().columns - 1]}{end}")
            self.stream.flush()
        elif now - self._shown >= READING_SECONDS:
            self._shown = now
            print(line, file=self.stream, flush=True)


class Display(Callback):
    """Progress, loss, speed and remaining time; nothing where `silent`."""

    def __init__(self, steps: int, stream: TextIO | None = None, *, silent: bool = False) -> None:
        self.steps = steps
        self.stream = sys.stderr if stream is None else stream
        self.silent = silent
        self.bar = _open_bar(self.stream, steps) if self.stream.isatty() and not silent else None
        self._shown: float | None = None  # when a plain line was last written
        self._mark: tuple[float, int, int] | None = None  # time, step and tokens at the last report
        self._speed = 0.0  # tokens a second
        self._pace = 0.0  # steps a second

    def on_steps(self, rows: Rows) -> None:
        step, numbers = rows[-1]
        self.show(step, int(numbers["tokens"]), numbers["loss"], numbers["rate"])

    def on_evaluation(self, step: int, split: str, scores: Mapping[str, float]) -> None:
        shown = [  # not those of single labels, "f1.NOUN": the log has them
            message("training.score", name=name, score=score)
            for name, score in scores.items()
            if "." not in name
        ]
        self.note(message("training.scores", step=step, split=split, scores=shown))
        self.pause()

    def on_event(self, event: Event) -> None:
        text = event.as_message()
        if event.kind in ENDINGS:
            self.close()
        if event.kind == PASSED:
            self.note(message("training.alarm_passed_at", step=event.step, text=text))
        elif event.kind in (ALARM, GREW):
            topic = name_term(event.topic)
            self.note(message("training.alarm_at", step=event.step, topic=topic, text=text))
        elif event.kind not in (BEST, "failed"):  # a failure is printed by whoever catches the error
            self.note(text)

    def on_end(self) -> None:
        self.close()

    def show(self, step: int, tokens: int, loss: float, rate: float) -> None:
        """The state after a step; `tokens` are all that were read so far, padding not counted."""
        if self.silent:
            return
        now = time.monotonic()
        self._measure(now, step, tokens)
        parts = [message("training.progress.step", step=step, steps=self.steps)]
        parts.append(message("training.progress.loss", loss=loss, rate=rate))
        if self._pace:
            left = str(timedelta(seconds=round((self.steps - step) / self._pace)))
            parts.append(message("training.progress.speed", speed=shorten(self._speed), left=left))
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=step, description="  ".join(map(str, parts)))
            self.bar.start()
        elif self._shown is None or now - self._shown >= SECONDS or step == self.steps:
            self._shown = now
            self.note(", ".join(map(str, parts)))

    def note(self, text: Message | str) -> None:
        """Write a line above the progress bar."""
        if self.bar is not None:
            self.bar.console.print(str(text), markup=False, soft_wrap=True)
        elif not self.silent:
            print(text, file=self.stream, flush=True)

    def pause(self) -> None:
        """Measure the speed anew: what follows (an evaluation) takes no steps."""
        self._mark = None

    def close(self) -> None:
        """Leave the bar as it stands."""
        if self.bar is not None:
            self.bar.stop()

    def _measure(self, now: float, step: int, tokens: int) -> None:
        if self._mark is not None and now > self._mark[0]:
            past, last_step, last_tokens = self._mark
            keep = SMOOTHING if self._pace else 0.0
            self._speed = keep * self._speed + (1 - keep) * (tokens - last_tokens) / (now - past)
            self._pace = keep * self._pace + (1 - keep) * (step - last_step) / (now - past)
        self._mark = now, step, tokens


def _open_bar(stream: TextIO, steps: int) -> "Progress | None":
    """A bar that moves; None for a terminal that cannot move its cursor."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    console = Console(file=stream, force_terminal=True, force_jupyter=False, emoji=False, highlight=False)
    if not console.is_interactive:
        return None
    line = Column(no_wrap=True, overflow="ellipsis")
    text = TextColumn("{task.description}", markup=False, table_column=line)
    # stdout is not redirected to the console: it may be a file
    bar = Progress(BarColumn(BAR), text, console=console, refresh_per_second=5, redirect_stdout=False)
    bar.add_task("", total=steps)
    return bar


def shorten(number: float) -> str:
    """A number in three figures: 12.3k."""
    for unit in ("", "k", "M"):
        if number < 999.5:
            return f"{number:.3g}{unit}"
        number /= 1000
    return f"{number:.3g}G"
