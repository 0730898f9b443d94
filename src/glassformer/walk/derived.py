"""Arrays derived from kept ones, where the network's own were not kept; marked as computed.

In:   an operation without parameters, and the arrays that it reads.
Out:  the array that it gives, in single precision; before that, its shape alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from glassformer.recording.arrays import AnyArray
from glassformer.walk.functions import ACTIVATIONS

DERIVABLE = ("scale", "divide", "add", "dot", "join", "activate")

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Derivation:
    """How to make an array: a step of the plan that needs no parameters."""

    operation: str
    inputs: tuple[str, ...]
    numbers: Mapping[str, float]
    words: Mapping[str, str]

    def measure(self, shapes: Sequence[Shape | None], most: int) -> Shape | None:
        """The shape of what comes out; None where something is missing, does not fit, or is too much."""
        known = [shape for shape in shapes if shape is not None]
        if self.operation not in DERIVABLE or not known or len(known) < len(shapes):
            return None
        first, last = known[0], known[-1]
        match self.operation:
            case "dot":
                fits = len(first) == len(last) == 3 and first[2] == last[2]
                fits = fits and last[0] > 0 and first[0] % last[0] == 0  # heads may share keys
                made: Shape = (*first[:2], last[-2])
            case "join":
                fits = len(first) == 3
                made = (first[-2], first[0] * first[-1])
            case _:
                fits = first == last
                made = first
        return made if fits and prod(made) <= most else None

    def make(self, arrays: Sequence[AnyArray]) -> AnyArray:
        """What comes out."""
        first, last = arrays[0], arrays[-1]
        match self.operation:
            case "scale":
                made = first * np.float32(self.numbers["factor"])
            case "divide":
                made = first * np.float32(self.numbers["scale"])
            case "add":
                made = sum(arrays[1:], first)
            case "dot":
                made = first @ np.repeat(last, len(first) // len(last), axis=0).transpose(0, 2, 1)
            case "join":
                made = first.transpose(1, 0, 2).reshape(first.shape[1], -1)  # (token, head · k)
            case _:
                function = np.vectorize(ACTIVATIONS[self.words["function"]], otypes=[np.float64])
                made = function(first.astype(np.float64))
        return np.asarray(made, dtype=np.float32)
