"""Places: heads that look at a fixed distance or at a fixed position, whatever the text says.

In:   a view of a text.
Out:  where such heads look. Shuffled words change nothing here: chance is to look everywhere alike.
"""

import numpy as np

from glassformer.corpus.atlas.detector import Mask, View, Wanted, detector
from glassformer.metrics.alignment import align_diagonally

OFFSETS = (-4, -3, -2, 2, 3, 4)
NEAR = 2  # tokens on either side


@detector("previous_token", null="uniform", threshold=0.3, rank=30)
def find_previous(view: View) -> Wanted:
    """The token just before."""
    return look_along(view, -1)


@detector("next_token", null="uniform", threshold=0.3, rank=30)
def find_next(view: View) -> Wanted:
    """The token just after."""
    return look_along(view, 1)


@detector("same_token", null="uniform", threshold=0.3, rank=30)
def find_same(view: View) -> Wanted:
    """The token itself."""
    return look_along(view, 0)


@detector("offset", null="uniform", threshold=0.3, rank=30)
def find_offsets(view: View) -> Wanted:
    """The token some places away."""
    return {f"{offset:+d}": look_along(view, offset) for offset in OFFSETS}


@detector("first_token", kinds=("self", "cross"), null="uniform", threshold=0.3, rank=30)
def find_first(view: View) -> Wanted:
    """The first token."""
    wanted = np.zeros(view.visible.shape, dtype=bool)
    wanted[:, :1] = True
    return wanted


@detector("window", null="uniform", threshold=0.4, rank=10)
def find_near(view: View) -> Wanted:
    """The token itself and two on either side."""
    return {f"±{NEAR}": abs(_measure_distances(view)) <= NEAR}


@detector("diagonal", kinds=("cross",), null="uniform", threshold=0.3, rank=30)
def find_diagonal(view: View) -> Wanted:
    """The token at the same part of the other text."""
    wanted = np.zeros(view.visible.shape, dtype=bool)
    queries, keys = (np.flatnonzero(~side.special) for side in (view.query, view.key))
    for key, query in align_diagonally(len(keys), len(queries)):
        wanted[queries[query], keys[key]] = True
    return wanted


def look_along(view: View, offset: int) -> Mask:
    """Every key at one distance."""
    return _measure_distances(view) == offset


def _measure_distances(view: View) -> np.ndarray:
    queries, keys = view.visible.shape
    return np.arange(keys)[None, :] - np.arange(queries)[:, None]
