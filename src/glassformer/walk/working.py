"""One cell of a step: where it is, what is read for it, and its arithmetic.

In:   arrays, a step, a position in its output.
Out:  numbers in double precision; Working, filled by an operation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from glassformer.recording.arrays import AnyArray
from glassformer.recording.visible import make_visible
from glassformer.walk.arrays import Arrays, soften
from glassformer.walk.types import Reading, Step

Numbers = NDArray[np.float64]

WAVELENGTH = 10_000.0  # of positions, as in the model


@dataclass(slots=True)
class Working:
    """How a number came about: Σ left · right, a bias, and what else was needed."""

    result: float
    left: Numbers = field(default_factory=lambda: np.zeros(0))
    right: Numbers = field(default_factory=lambda: np.zeros(0))
    products: Numbers | None = None  # None: left times right
    labels: Sequence[str] | None = None  # None: numbered
    sum: float | None = None
    bias: float | None = None
    numbers: Mapping[str, float | None] = field(default_factory=dict)
    reads: Sequence[Reading] = ()

    @classmethod
    def add_up(
        cls,
        left: Numbers,
        right: Numbers,
        reads: Sequence[Reading],
        labels: Sequence[str] | None = None,
        bias: float | None = None,
    ) -> Self:
        """A sum of products, plus the bias."""
        total = float(left @ right)
        return cls(total + (bias or 0.0), left, right, None, labels, total, bias, reads=reads)


@dataclass(slots=True)
class Cell:
    """A cell in the output of a step."""

    arrays: Arrays
    step: Step
    head: int | None
    row: int
    column: int

    def array(self, name: str) -> AnyArray:
        """An array that the plan has found before."""
        found = self.arrays.find(name)
        assert found is not None, name
        return found

    def parameter(self, name: str | None) -> AnyArray:
        assert name is not None
        return self.array(name)

    def vector(self, name: str, row: int | None = None) -> Numbers:
        """One row of an array (row, column) or (head, row, column); of (column,) all."""
        if name == "output/probabilities":  # of one position only: the vocabulary is large
            place = "output/logits" if "output/logits" in self.arrays.recording.trace else "output/classes"
            return soften(self.vector(place, row)).astype(np.float32).astype(np.float64)
        array = self.array(name)
        if array.ndim == 3:
            array = array[self._share(array)]
        if array.ndim == 2:
            array = array[self.row if row is None else row]
        return array.astype(np.float64)

    def matrix(self, name: str) -> AnyArray:
        """(row, column) of the head in question."""
        array = self.array(name)
        return array[self._share(array)] if array.ndim == 3 else array

    def value(self, name: str) -> float:
        """The number at this place."""
        return float(self.vector(name)[self.column])

    def texts(self, side: str) -> list[str]:
        """The tokens of an axis."""
        recording = self.arrays.recording
        tokens = recording.source if side == "source" or recording.target is None else recording.target
        return [make_visible(text) for text in tokens.texts]

    def read(self, name: str, row: int | None = None, column: int | None = None) -> Reading:
        """Where something was read from, for the page to point at."""
        array = self.array(name)
        head = self._share(array) if array.ndim == 3 and self.head is not None else None
        return Reading(name=name, head=head, row=row, column=column)

    def _share(self, array: AnyArray) -> int:
        """The head of an array that several heads may share."""
        shape, head = self.step.shape.output or (), self.head or 0
        heads = shape[0] if len(shape) == 3 else 1
        return head // max(1, heads // len(array)) if len(array) < heads else head


def find_place(cell: Cell) -> tuple[int, int] | None:
    """Row and column of a token on its picture; None of a class token."""
    numbers = cell.step.numbers
    place = cell.row - int(numbers["first"])
    return None if place < 0 else divmod(place, int(numbers["grid"]))
