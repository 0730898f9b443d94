"""Random numbers that depend on their purpose and place only, not on earlier draws.

In:   a seed, an epoch, the numbers of some examples.
Out:  uniform numbers that do not depend on the order or the batch in which examples are drawn.

The mixing is that of SplitMix64 (Steele, Lea and Flood 2014): each input bit changes half of the output.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ / golden ratio, odd


def draw_uniform(
    key: Sequence[int], indices: Sequence[int] | NDArray[np.int64], count: int
) -> NDArray[np.float64]:
    """(index, count) numbers in [0, 1); `key` is a seed, an epoch and what the numbers are for."""
    state = np.zeros(1, dtype=np.uint64)
    for word in key:
        state = _mix(state + np.array([word], dtype=np.uint64))
    rows = _mix(state + np.asarray(indices).astype(np.uint64))
    places = np.arange(1, count + 1, dtype=np.uint64)
    numbers = _mix(rows[:, None] + places * GOLDEN)  # (index, count)
    return (numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    numbers = numbers + GOLDEN  # arrays wrap around silently
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
