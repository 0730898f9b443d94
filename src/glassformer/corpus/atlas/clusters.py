"""Heads that behave alike: clusters, and a point in a plane for each head.

In:   what each head does, as one row of numbers.
Out:  the cluster of each head (Ward's linkage, as many as fit best) and two coordinates (principal axes).
"""

import numpy as np
from numpy.typing import NDArray

from glassformer.metrics.scores import Numbers

MOST = 10  # clusters


def cluster(features: Numbers) -> NDArray[np.int64]:
    """The cluster of each head (head,): of 2 to 10, the number whose clusters are best apart (silhouette)."""
    count = len(features)
    distances = measure_distances(features)
    if count < 3 or not distances.any():
        return np.zeros(count, dtype=np.int64)
    from scipy.cluster.hierarchy import fcluster, linkage

    tree = linkage(features, "ward")
    cuts = [_number(fcluster(tree, number, "maxclust")) for number in range(2, min(MOST, count - 1) + 1)]
    return max(cuts, key=lambda clusters: separate(distances, clusters))


def _number(clusters: NDArray[np.int32]) -> NDArray[np.int64]:
    """Clusters in the order of their first heads, from 0."""
    _, firsts, inverse = np.unique(clusters, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(firsts))[inverse]


def separate(distances: Numbers, clusters: NDArray[np.int64]) -> float:
    """The mean silhouette (Rousseeuw 1987): how much nearer heads are to their own cluster than to others."""
    numbers = np.arange(clusters.max() + 1)
    members = clusters[:, None] == numbers[None, :]  # (head, cluster)
    sizes = members.sum(axis=0)
    sums = distances @ members
    own = sums[members] / np.maximum(sizes[clusters] - 1, 1)
    others = np.where(members, np.inf, sums / sizes)
    nearest = others.min(axis=1)
    width = np.maximum(own, nearest)
    scores = np.where(
        (sizes[clusters] > 1) & (width > 0), (nearest - own) / np.where(width > 0, width, 1), 0.0
    )
    return float(scores.mean())


def place_points(features: Numbers) -> Numbers:
    """(head, 2): the two directions in which heads differ most; the largest coordinates are positive."""
    centred = features - features.mean(axis=0)
    left, strengths, _ = np.linalg.svd(centred, full_matrices=False)
    points = np.zeros((len(features), 2))
    count = min(2, len(strengths))
    points[:, :count] = left[:, :count] * strengths[:count]
    for axis in range(2):
        column = points[:, axis]
        if column[np.abs(column).argmax()] < 0:
            points[:, axis] = -column
    return points


def measure_distances(features: Numbers) -> Numbers:
    """(head, head): the root of the mean squared difference."""
    differences = features[:, None, :] - features[None, :, :]
    distances: Numbers = np.sqrt((differences**2).mean(axis=2))
    return distances
