"""Repetitions: heads that find a token again, or what followed it (Olsson et al. 2022; Wang et al. 2023).

In:   a view of a text.
Out:  where such heads look. Special tokens are never sought.
"""

import numpy as np

from glassformer.corpus.atlas.detector import Mask, View, Wanted, detector


@detector("induction", null="shuffled", threshold=0.2, rank=60, probe="repeats")
def find_successors(view: View) -> Wanted:
    """What followed the same token before, in random tokens that are read twice."""
    if view.text.probe != "repeats":
        return None
    earlier = _find_earlier(view)
    wanted = np.zeros_like(earlier)
    wanted[:, 1:] = earlier[:, :-1]
    return wanted & _before(view)


@detector("duplicate", null="shuffled", threshold=0.2, rank=50)
def find_duplicates(view: View) -> Wanted:
    """The same token at an earlier place."""
    return _find_earlier(view)


def _find_earlier(view: View) -> Mask:
    """Earlier occurrences of each query's token."""
    alike = view.query.ids[:, None] == view.key.ids[None, :]
    return alike & ~view.key.special[None, :] & _before(view)


def _before(view: View) -> Mask:
    queries, keys = view.visible.shape
    return np.tri(queries, keys, -1, dtype=bool)
