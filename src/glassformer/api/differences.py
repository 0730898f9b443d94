"""Differences as recordings: the id `FIRST~SECOND` is the first recording minus the second.

In:   two ids, and recordings by their ids.
Out:  Difference, the few used last kept. Its recording has signed maps, so that every route about a recording
      answers about a difference, too; metrics are subtracted.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable

from glassformer.comparison.difference import Difference, make_difference
from glassformer.recording import Recording

SEPARATOR = "~"  # in no id of a recording
KEPT = 4


def split_id(id: str) -> tuple[str, str] | None:
    """The ids of the two recordings; None for the id of one."""
    first, sign, second = id.partition(SEPARATOR)
    return (first, second) if sign and first and second and SEPARATOR not in second else None


class Differences:
    """Differences by id. Safe to use from several threads."""

    def __init__(self, get: Callable[[str], Recording]) -> None:
        self._get = get
        self._kept: OrderedDict[str, Difference] = OrderedDict()  # least recently used first
        self._lock = threading.Lock()

    def find(self, id: str) -> Difference | None:
        """The difference with this id; None for the id of one recording."""
        pair = split_id(id)
        if pair is None:
            return None
        first, second = (self._get(each) for each in pair)  # also where it is kept: one may be gone
        with self._lock:
            known = self._kept.get(id)
            if known is None or known.first is not first or known.second is not second:
                known = self._kept[id] = make_difference(first, second)
            self._kept.move_to_end(id)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return known
