"""Heads that behave alike share a cluster and stand near each other."""

import numpy as np

from glassformer.corpus.atlas.clusters import cluster, place_points, separate

CENTRES = np.array([[0.0, 0, 0], [1.0, 0, 0], [0, 0, 1.0]])
FEATURES = np.repeat(CENTRES, 5, axis=0) + np.random.default_rng(0).normal(0, 0.02, (15, 3))


def test_groups_are_found_with_their_number() -> None:
    assert cluster(FEATURES).tolist() == [0] * 5 + [1] * 5 + [2] * 5


def test_silhouettes_prefer_the_right_clusters() -> None:
    distances = np.abs(np.subtract.outer([0.0, 0.1, 5.0, 5.1], [0.0, 0.1, 5.0, 5.1]))
    right, wrong = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert separate(distances, right) > 0.9 > 0 > separate(distances, wrong)


def test_points_keep_groups_together() -> None:
    points = place_points(FEATURES)
    assert points.shape == (15, 2)
    spread = max(np.ptp(points[start : start + 5], axis=0).max() for start in (0, 5, 10))
    assert spread < 0.3 < np.linalg.norm(points[0] - points[5])


def test_heads_that_are_all_alike_are_one_cluster() -> None:
    assert cluster(np.ones((4, 2))).tolist() == [0, 0, 0, 0]
    assert place_points(np.ones((1, 3))).tolist() == [[0.0, 0.0]]
