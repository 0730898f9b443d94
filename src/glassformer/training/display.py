"""Progress of a training run: a bar with loss, speed and remaining time in a terminal, plain lines elsewhere.

In:   numbers of a step; notes.
Out:  text on a stream.
"""

import sys
import time
from datetime import timedelta
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

from glassformer.messages import Message, message

BAR = 24  # characters of the progress bar; fewer in a narrow terminal
SECONDS = 30.0  # between plain lines, where there is no terminal
PERIOD = 300.0  # seconds over which the speed is measured


class Display:
    """Progress, loss, speed and remaining time; nothing where `silent`."""

    def __init__(self, steps: int, stream: TextIO | None = None, *, silent: bool = False) -> None:
        self.steps = steps
        self.silent = silent
        stream = sys.stderr if stream is None else stream
        self.console = Console(
            file=stream, force_terminal=stream.isatty(), force_jupyter=False, emoji=False, highlight=False
        )
        line = Column(no_wrap=True, overflow="ellipsis")
        self.progress = Progress(
            BarColumn(BAR),
            TextColumn("{task.description}", markup=False, table_column=line),
            console=self.console,
            refresh_per_second=5,
            speed_estimate_period=PERIOD,
            redirect_stdout=False,  # it may be a file
        )
        self.progress.add_task("", total=steps)
        self.progress.add_task("", total=None, visible=False)  # tokens, for their speed
        self._shown: float | None = None  # when a plain line was last written

    def show(self, step: int, tokens: int, loss: float, rate: float) -> None:
        """The state after a step; `tokens` are all that were read so far, padding not counted."""
        if self.silent:
            return
        bar, read = self.progress.tasks
        self.progress.update(bar.id, completed=step)
        self.progress.update(read.id, completed=tokens)
        parts = [message("training.progress.step", step=step, steps=self.steps)]
        parts.append(message("training.progress.loss", loss=loss, rate=rate))
        if read.speed is not None and bar.time_remaining is not None:
            left = str(timedelta(seconds=bar.time_remaining))
            parts.append(message("training.progress.speed", speed=shorten(read.speed), left=left))
        if self.console.is_interactive:
            self.progress.update(bar.id, description="  ".join(map(str, parts)))
            self.progress.start()
            return
        now = time.monotonic()
        if self._shown is None or now - self._shown >= SECONDS or step == self.steps:
            self._shown = now
            self.note(", ".join(map(str, parts)))

    def note(self, text: Message | str) -> None:
        """Write a line above the progress bar."""
        if not self.silent:
            self.console.print(str(text), markup=False, soft_wrap=True)

    def pause(self) -> None:
        """Measure the speed anew: what follows (an evaluation) takes no steps."""
        for task in self.progress.tasks:
            self.progress.reset(task.id, completed=int(task.completed))

    def close(self) -> None:
        """Leave the bar as it stands."""
        if self.progress.live.is_started:
            self.progress.stop()


def shorten(number: float) -> str:
    """A number in three figures: 12.3k."""
    for unit in ("", "k", "M"):
        if number < 999.5:
            return f"{number:.3g}{unit}"
        number /= 1000
    return f"{number:.3g}G"
