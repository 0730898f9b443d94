"""Weights of a pass that were used and measured, but not kept: they are formed again when someone reads them.

In:   queries and keys of one attention, how it scores, and the statistics of its weights.
Out:  the weights of a head, or of all, to the last bit those of the pass.

New memory for the maps of a thousand tokens takes longer than forming them, and mostly nobody reads them all.
What is formed again is measured again, too: where a row has another peak, entropy or log-sum-exp than in the
pass, by a single bit, it is refused.
"""

import os
import threading

import numpy as np
import torch
from torch import Tensor

from glassformer.errors import RecordingError
from glassformer.place import Place
from glassformer.recorders.call import repeat_heads
from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recorders.statistics.softmax_rows import form_weights
from glassformer.recorders.store import Array
from glassformer.recording import HeadStatistics
from glassformer.recording.later import Later

COMPARED = ("peak", "entropy", "log_sum_exp")


class FormedLater(Later):
    """Weights (head, query, key)."""

    def __init__(
        self, place: Place, queries: Tensor, keys: Tensor, scoring: Scoring, statistics: HeadStatistics
    ) -> None:
        """Queries (1, head, query, width) and keys (1, key head, key, width) are copied."""
        super().__init__((*queries.shape[1:3], keys.shape[2]))
        self._place = place
        self._queries, self._keys = queries.detach().clone(), keys.detach().clone()
        self._scoring = scoring
        self._statistics = statistics
        self._process = os.getpid()
        self._formed: Array | None = None
        self._last: tuple[int, Array] | None = None  # the head read last: tiles beside each other need it
        self._lock = threading.Lock()

    @property
    def memory(self) -> int:
        formed = self._formed
        return self._queries.nbytes + self._keys.nbytes + (0 if formed is None else formed.nbytes)

    def is_reproducible(self) -> bool:
        """Whether the first head, alone or with the others, has the same bits as in the pass: matrix products
        may give others for another layout of memory."""
        with self._lock:
            return any(self._form(slice(0, count)) is not None for count in (1, self.shape[0]))

    def read_head(self, head: int) -> Array:
        with self._lock:
            if self._formed is not None:
                return self._formed[head]
            if self._last is None or self._last[0] != head:
                alone = self._form(slice(head, head + 1))
                if alone is None:  # with many threads the product of one head may be divided otherwise
                    return self._form_all()[head]
                self._last = head, alone[0]
            return self._last[1]

    def read(self) -> Array:
        with self._lock:
            return self._form_all()

    def _form_all(self) -> Array:
        if self._formed is None:
            self._formed = self._form(slice(0, self.shape[0]))
            if self._formed is None:
                raise RecordingError("recorders.maps.formed_otherwise", place=self._place)
        return self._formed

    def _form(self, heads: slice) -> Array | None:
        """Some heads; None where a row is not measured as in the pass."""
        if os.getpid() != self._process:
            torch.set_num_threads(1)  # a forked process has none of the threads that torch would wait for
        keys = repeat_heads(self._keys, self.shape[0])
        with torch.inference_mode():
            weights = torch.matmul(self._queries[:, heads], keys[:, heads].transpose(2, 3))[0]
        found = form_weights(weights, self._scoring, self._statistics.rows)
        for name in COMPARED:
            if not np.array_equal(getattr(found, name), getattr(self._statistics, name)[heads]):
                return None
        array = weights.numpy()
        array.flags.writeable = False
        return array
