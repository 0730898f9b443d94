"""Comparing float32 results: the tolerance follows from the arithmetic, see `glassformer.rounding`."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glassformer.rounding import rounding


def assert_near(
    found: Any,
    wanted: Any,
    *,
    operations: float = 4,
    layers: float = 0,
    summands: int = 64,
    magnitude: float | None = None,
    scores: float = 1.0,
    dtype: str = "float32",
    where: object = "",
) -> None:
    """Every number within rounding of the one wanted; what is not finite must be the same.

    Without `magnitude`, the largest number wanted, and at least 1. Four operations are one attention:
    projection, scores, softmax, mix.
    """
    seen, known = _numbers(found), _numbers(wanted)
    assert known.shape == seen.shape[seen.ndim - known.ndim :], f"{seen.shape} beside {known.shape}. {where}"
    known = np.broadcast_to(known, seen.shape)
    finite = np.isfinite(known)
    np.testing.assert_array_equal(seen[~finite], known[~finite], err_msg=str(where))
    if magnitude is None:
        magnitude = max(1.0, largest(known))
    allowed = rounding(
        operations=operations,
        layers=layers,
        summands=summands,
        magnitude=magnitude,
        scores=scores,
        dtype=dtype,
    )
    far = float(np.abs(seen[finite] - known[finite]).max(initial=0))
    assert far <= allowed, f"{far:.3g} apart; rounding explains {allowed:.3g}. {where}"


def near(value: float, *, summands: int = 16, magnitude: float | None = None) -> Any:
    """A number that float32 computed from sums of so many; by its own size, or by a given one."""
    size = abs(value) if magnitude is None else magnitude
    return pytest.approx(value, rel=0, abs=rounding(summands=summands, magnitude=size))


def shown(value: Any, digits: int = 4) -> Any:
    """Numbers as they are written with so many digits that count: off by half of the last one."""
    return pytest.approx(value, rel=0.5 * 10.0 ** (1 - digits))


def largest(values: Any) -> float:
    """The largest finite number, by size: of scores, for `scores=`."""
    numbers = np.abs(_numbers(values))
    return float(numbers[np.isfinite(numbers)].max(initial=0))


def _numbers(values: Any) -> NDArray[np.float64]:
    if hasattr(values, "detach"):
        values = values.detach().cpu().double().numpy()
    return np.asarray(values, dtype=np.float64)
