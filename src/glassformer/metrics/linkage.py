"""Hierarchical clustering by average linkage, the same on every machine.

In:   a matrix of distances.
Out:  merges, nearest first; clusters when the tree is cut.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.metrics.scores import Numbers


class Merge(NamedTuple):
    """Two clusters become one. Leaves are 0 … n - 1, the cluster of merge m is n + m."""

    first: int
    second: int
    distance: float
    size: int


def link(distances: Numbers) -> tuple[Merge, ...]:
    """Join the two nearest clusters until one is left; of equal distances, the lowest numbers first."""
    count = len(distances)
    between = np.array(distances, dtype=np.float64)
    np.fill_diagonal(between, np.inf)
    names, sizes = list(range(count)), np.ones(count)
    merges = []
    for step in range(count - 1):
        first, second = sorted(divmod(int(between.argmin()), count))
        total = sizes[first] + sizes[second]
        low, high = sorted((names[first], names[second]))
        merges.append(Merge(low, high, float(between[first, second]), int(total)))
        # The average distance to a cluster, each of its leaves counting once.
        joined = (sizes[first] * between[first] + sizes[second] * between[second]) / total
        between[first] = between[:, first] = joined
        between[first, first] = np.inf
        between[second] = between[:, second] = np.inf
        names[first], sizes[first] = count + step, total
    return tuple(merges)


def cut(merges: tuple[Merge, ...], clusters: int) -> NDArray[np.int64]:
    """The cluster of each leaf (leaf,), numbered in the order of their first leaves."""
    count = len(merges) + 1
    members = {leaf: [leaf] for leaf in range(count)}
    for step, merge in enumerate(merges[: count - clusters]):
        members[count + step] = members.pop(merge.first) + members.pop(merge.second)
    numbers = np.zeros(count, dtype=np.int64)
    for number, leaves in enumerate(sorted(members.values(), key=min)):
        numbers[leaves] = number
    return numbers
