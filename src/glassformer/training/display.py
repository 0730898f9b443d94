"""Progress of a training run: one updated line in a terminal, plain lines elsewhere.

In:   numbers of a step; notes.
Out:  text on a stream.
"""

import shutil
import sys
import time
from typing import TextIO

from glassformer.messages import Message, message

BAR = 24  # characters of the progress bar
SECONDS = 30.0  # between plain lines, where there is no terminal
REFRESH = 0.2  # between redraws, where there is one
SMOOTHING = 0.8  # of the speed


class Display:
    """Progress, loss, speed and remaining time; nothing where `silent`."""

    def __init__(self, steps: int, stream: TextIO | None = None, *, silent: bool = False) -> None:
        self.steps = steps
        self.stream = sys.stderr if stream is None else stream
        self.silent = silent
        self.live = self.stream.isatty()
        self._shown = 0.0  # when a line was last shown
        self._mark: tuple[float, int, int] | None = None  # time, step and tokens at the last look
        self._speed = 0.0  # tokens a second
        self._pace = 0.0  # steps a second
        self._open = False  # whether the cursor stands behind an unfinished line

    def show(self, step: int, tokens: int, loss: float, rate: float) -> None:
        """The state after a step; `tokens` are all that were read so far, padding not counted."""
        if self.silent:
            return
        now = time.monotonic()
        self._measure(now, step, tokens)
        if now - self._shown < (REFRESH if self.live else SECONDS) and step < self.steps and self._shown:
            return
        self._shown = now
        parts = [message("training.progress.step", step=step, steps=self.steps)]
        parts.append(message("training.progress.loss", loss=loss, rate=rate))
        if self._pace:
            left = format_duration((self.steps - step) / self._pace)
            parts.append(message("training.progress.speed", speed=shorten(self._speed), left=left))
        words = [str(part) for part in parts]
        if self.live:
            full = round(BAR * step / self.steps)
            line = "━" * full + "─" * (BAR - full) + "  " + "  ".join(words)
            width = shutil.get_terminal_size().columns - 1
            self.stream.write(f"\r\x1b[2K{line[:width]}")
            self._open = True
        else:
            self.stream.write(", ".join(words) + "\n")
        self.stream.flush()

    def note(self, text: Message | str) -> None:
        """Write a line above the progress line."""
        if self.silent:
            return
        self._end_line()
        self.stream.write(f"{text}\n")
        self.stream.flush()

    def pause(self) -> None:
        """Measure the speed anew: what follows (an evaluation) takes no steps."""
        self._mark = None

    def close(self) -> None:
        self._end_line()

    def _measure(self, now: float, step: int, tokens: int) -> None:
        if self._mark is not None and now > self._mark[0]:
            past, last_step, last_tokens = self._mark
            keep = SMOOTHING if self._pace else 0.0
            self._speed = keep * self._speed + (1 - keep) * (tokens - last_tokens) / (now - past)
            self._pace = keep * self._pace + (1 - keep) * (step - last_step) / (now - past)
        self._mark = now, step, tokens

    def _end_line(self) -> None:
        if self._open:
            self.stream.write("\n")
            self.stream.flush()
            self._open = False


def shorten(number: float) -> str:
    """A number in three figures: 12.3k."""
    for unit in ("", "k", "M"):
        if number < 999.5:
            return f"{number:.3g}{unit}"
        number /= 1000
    return f"{number:.3g}G"


def format_duration(seconds: float) -> Message:
    """A time in two units: 2 h 05 min."""
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    if hours:
        return message("training.duration.hours", hours=hours, minutes=f"{minutes:02d}")
    if minutes:
        return message("training.duration.minutes", minutes=minutes, seconds=f"{rest:02d}")
    return message("training.duration.seconds", seconds=rest)
