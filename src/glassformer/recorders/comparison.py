"""Whether a recording may be called exact: only after a comparison, within what rounding explains.

In:   the largest difference that a self-check found, and the model.
Out:  `Comparison`, from which `record` makes the evidence.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from torch import nn

from glassformer.messages import Message
from glassformer.rounding import EPSILON, model_tolerance


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a self-check compared, and how far apart the two were."""

    error: float | None = None  # the largest difference; None: nothing was compared
    reference: Message | None = None  # what it was compared with
    tolerance: float = 0.0
    complete: bool = True  # False: the model uses something that the recorder does not know

    @property
    def exact(self) -> bool:
        return self.complete and self.error is not None and self.error <= self.tolerance


def find_largest(errors: Iterable[float]) -> float:
    """The largest of these differences; NaN, which is within no tolerance, where one of them is."""
    return float(np.max([0.0, *errors]))


def tolerance_of(model: nn.Module, scores: float) -> float:
    """How far two ways to compute the same may be apart, given the largest attention score.

    Each weight matrix is one operation, whose sums are as long as its shorter side.
    """
    widths = [min(parameter.shape) for parameter in model.parameters() if parameter.dim() == 2]
    dtypes = {str(parameter.dtype).removeprefix("torch.") for parameter in model.parameters()}
    return model_tolerance(
        operations=max(1, len(widths)),
        summands=max(widths, default=1),
        scores=scores,
        dtype=max({"float32", *dtypes & EPSILON.keys()}, key=EPSILON.__getitem__),  # maps are float32
    )
