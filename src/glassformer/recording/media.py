"""The picture or the sound that the tokens of a side were cut from.

In:   pixels and the patch of each token; samples and the seconds of each token.
Out:  Picture, Sound and SpokenWord, checked and read-only. They are kept as the model saw and heard them.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import RecordingError
from glassformer.recording.arrays import (
    DOUBLES,
    LONGS,
    Rebuilt,
    freeze_field,
    keep,
    require_count,
    require_text,
    require_type,
    wrong_value,
)

MOST_PIXELS = 4 << 20  # of a picture
MOST_SAMPLES = 30 * 48_000  # of a sound: half a minute as studios record it
HIGHEST_RATE = 192_000  # samples per second
NO_PATCH = -1  # the cell of a class token, or of a word beside the picture


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Picture(Rebuilt):
    """A picture cut into patches: row r of them covers the pixels from height·r/rows to height·(r+1)/rows.

    >>> pixels = np.zeros((28, 28, 3), np.uint8)
    >>> gf.Picture(pixels, rows=2, columns=2, cells=[-1, 0, 1, 2, 3]).find_box(1)  # 0 is a class token
    (0, 0, 14, 14)
    """

    pixels: NDArray[np.uint8]  # (height, width, 3) sRGB
    rows: int
    columns: int
    cells: NDArray[np.int64]  # (token,) row · columns + column of its patch; -1: it has none

    def __post_init__(self) -> None:
        freeze_field(self, "pixels", ("uint8",), [("height", None), ("width", None), ("colour", 3)])
        height, width, _ = self.pixels.shape
        if not 0 < height * width <= MOST_PIXELS:
            raise RecordingError("recording.picture_size", height=height, width=width, most=MOST_PIXELS)
        for name, most in (("rows", height), ("columns", width)):
            require_count(f"Picture.{name}", getattr(self, name))
            if not 1 <= getattr(self, name) <= most:
                raise wrong_value(f"Picture.{name}", getattr(self, name), "part_of", most=most)
        freeze_field(self, "cells", LONGS, [("token", None)])
        last = self.rows * self.columns - 1
        wrong = self.cells[(self.cells < NO_PATCH) | (self.cells > last)]
        if wrong.size:
            raise wrong_value("Picture.cells", int(wrong[0]), "cell", last=last)

    def find_box(self, token: int) -> tuple[int, int, int, int] | None:
        """Left, top, right and bottom of a token's patch, in pixels; None: it has none."""
        cell = int(self.cells[token])
        if cell == NO_PATCH:
            return None
        height, width, _ = self.pixels.shape
        row, column = divmod(cell, self.columns)
        tops = (height * row // self.rows, height * (row + 1) // self.rows)
        lefts = (width * column // self.columns, width * (column + 1) // self.columns)
        return lefts[0], tops[0], lefts[1], tops[1]

    def take(self, part: slice) -> "Picture":
        """The same picture for a slice of the tokens."""
        return replace(self, cells=self.cells[part])

    def __repr__(self) -> str:
        height, width, _ = self.pixels.shape
        return f"Picture({width} × {height} pixels, {self.rows} × {self.columns} patches)"


@dataclass(frozen=True, slots=True)
class SpokenWord(Rebuilt):
    """A word that is known to be spoken between two seconds.

    >>> gf.SpokenWord("seven", 0.3, 0.8).end
    0.8
    """

    text: str
    start: float
    end: float

    def __post_init__(self) -> None:
        require_text("SpokenWord.text", self.text)
        for name in ("start", "end"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
                raise wrong_value(f"SpokenWord.{name}", value, "seconds")
            keep(self, **{name: float(value)})
        if not 0 <= self.start <= self.end:
            raise wrong_value("SpokenWord.end", self.end, "seconds")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sound(Rebuilt):
    """A sound cut into frames.

    >>> gf.Sound(np.zeros(8000, np.int16), rate=8000, spans=[[0, 0.5], [0.5, 1]]).seconds
    1.0
    """

    samples: NDArray[np.int16]  # (sample,) one channel
    rate: int  # samples per second
    spans: NDArray[np.float64]  # (token, 2) the seconds that each token hears; -1, -1: none
    words: tuple[SpokenWord, ...] = ()  # where it is known what is spoken when

    def __post_init__(self) -> None:
        freeze_field(self, "samples", ("int16",), [("sample", None)])
        if not 0 < len(self.samples) <= MOST_SAMPLES:
            raise RecordingError("recording.sound_size", count=len(self.samples), most=MOST_SAMPLES)
        require_count("Sound.rate", self.rate)
        if not 1 <= self.rate <= HIGHEST_RATE:
            raise wrong_value("Sound.rate", self.rate, "part_of", most=HIGHEST_RATE)
        freeze_field(self, "spans", DOUBLES, [("token", None), ("end", 2)])
        start, end = self.spans.T
        none = (start == NO_PATCH) & (end == NO_PATCH)
        wrong = ~none & ~((start >= 0) & (end >= start) & np.isfinite(end))
        if wrong.any():
            raise wrong_value("Sound.spans", str(self.spans[int(wrong.argmax())].tolist()), "span")
        keep(self, words=tuple(self.words))
        for each in self.words:
            require_type("Sound.words", each, SpokenWord)

    @property
    def seconds(self) -> float:
        """How long it is."""
        return len(self.samples) / self.rate

    def take(self, part: slice) -> "Sound":
        """The same sound for a slice of the tokens."""
        return replace(self, spans=self.spans[part])

    def __repr__(self) -> str:
        return f"Sound({self.seconds:.2f} s at {self.rate} Hz, {len(self.spans)} frames)"
