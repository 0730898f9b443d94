"""Generation after a long prompt: the peak of every row that a step computes, without a matrix.

In:   the attention calls of a generation, for all beams.
Out:  the output of each call; for each step the largest weight of every head, with which the maps of one pass
      over the finished text are compared.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.place import Place
from glassformer.recorders.call import Call
from glassformer.recorders.masks import Masks
from glassformer.recorders.statistics.measure import attend_and_measure

Peak = NDArray[np.floating]  # (head,)


class Peaks:
    """The peaks of every pass of the decoder, for all beams."""

    def __init__(self, *, translates: bool) -> None:
        self.translates = translates
        self.found: dict[Place, list[NDArray[np.floating]]] = {}  # for each pass (B or 1, H)

    def receive(self, call: Call) -> Tensor:
        """Compute attention and keep the peak of the last row; returns the output (B, T, H, V)."""
        scoring = Masks().score(call)  # beams have no padding and share one mask
        reads = self.translates and call.place.stack == "encoder"
        begins = reads or call.place not in self.found  # then all beams are equal
        texts = range(1 if begins else len(call.queries))
        measured = [
            attend_and_measure(call.queries[text], call.keys[text], call.values[text], scoring)
            for text in texts
        ]
        if not reads:
            peaks = np.stack([each.statistics.peak[:, -1] for each in measured])
            self.found.setdefault(call.place, []).append(peaks)
        outputs = [each.output.transpose(0, 1) for each in measured if each.output is not None]  # (T, H, V)
        whole = torch.stack(outputs).to(call.values.dtype)
        return whole.expand(len(call.queries), -1, -1, -1)

    def choose(self, rows: Sequence[int]) -> dict[Place, list[Peak]]:
        """Of each pass the peaks of the beam that led to the text."""
        return {
            place: [each[0 if len(each) == 1 else row] for each, row in zip(passes, rows, strict=False)]
            for place, passes in self.found.items()
        }
