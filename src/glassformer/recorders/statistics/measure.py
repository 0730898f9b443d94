"""Statistics of attention without the n×n matrix: what every recording knows about every head.

In:   queries, keys (and values) as an attention function received them, and how it scores (Scoring).
Out:  HeadStatistics; on request, from the same pass, the attention's output, dense weights and pyramids.

`attend_and_measure` can stand for the attention product of a forward pass: its output comes from the same
blocks of weights as the statistics, and both cost little more than the product alone. The work is done in
cpu.py, or in gpu.py where the queries are on a GPU that Triton knows.
"""

from collections.abc import Collection, Mapping
from functools import cache, cached_property
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from glassformer.errors import RecordingError
from glassformer.recorders.statistics.cpu import measure_on_cpu
from glassformer.recorders.statistics.gpu_results import GpuStatistics
from glassformer.recorders.statistics.raw import RawStatistics
from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recording import THRESHOLD, HeadStatistics, Pyramid


class Measured:
    """The results of one pass over an attention. From a GPU they are copied when they are first read."""

    def __init__(
        self,
        output: Tensor | None,
        found: RawStatistics | GpuStatistics,
        rows: Tensor | None,
        threshold: float,
    ) -> None:
        self.output = output  # (head, query, value width), laid out query first; on the device of the queries
        self._found, self._rows, self._threshold = found, rows, threshold

    def fetch(self) -> None:
        """Copy the results from the GPU, in a background thread, before they are read."""
        if isinstance(self._found, GpuStatistics):
            self._found.transfer.fetch()

    @cached_property
    def raw(self) -> RawStatistics:
        """As they were measured, not checked."""
        return self._found.read() if isinstance(self._found, GpuStatistics) else self._found

    @cached_property
    def statistics(self) -> HeadStatistics:
        rows = None if self._rows is None else self._rows.cpu().numpy()
        return self.raw.check(rows, self._threshold)

    @property
    def weights(self) -> NDArray[np.float32] | None:
        """(head, query, key)"""
        return self.raw.weights

    @property
    def pyramids(self) -> Mapping[int, Pyramid]:
        """Of the chosen heads."""
        return self.raw.pyramids


def head_statistics(
    queries: Tensor,
    keys: Tensor,
    scoring: Scoring,
    *,
    rows: Tensor | None = None,
    threshold: float = THRESHOLD,
) -> HeadStatistics:
    """Of queries (head, query, width) looking at keys (key head, key, width); `rows` are real where True."""
    return attend_and_measure(queries, keys, None, scoring, rows=rows, threshold=threshold).statistics


def attend_and_measure(
    queries: Tensor,
    keys: Tensor,
    values: Tensor | None,
    scoring: Scoring,
    *,
    rows: Tensor | None = None,
    weights_too: bool = False,
    pyramids: Collection[int] = (),
    threshold: float = THRESHOLD,
) -> Measured:
    """The same, with the output where values (key head, key, width) are given, and what else is wanted."""
    _check_shapes(queries, keys, values, pyramids)
    if measures_there(queries):
        from glassformer.recorders.statistics.gpu import measure_on_gpu

        on_gpu, mixed = measure_on_gpu(
            queries,
            keys,
            values,
            scoring,
            rows=rows,
            threshold=threshold,
            weights_too=weights_too,
            pyramids=pyramids,
        )
        return Measured(mixed, on_gpu, rows, threshold)
    numbers, output = measure_on_cpu(
        queries.cpu(),
        keys.cpu(),
        None if values is None else values.cpu(),
        scoring.to("cpu"),
        rows=rows,
        threshold=threshold,
        weights_too=weights_too,
        pyramids=pyramids,
    )
    return Measured(None if output is None else output.to(queries.device), numbers, rows, threshold)


def measures_there(queries: Tensor) -> bool:
    """Whether an attention is measured on its GPU, and the results are copied later."""
    return queries.device.type == "cuda" and _has_triton()


@cache
def _has_triton() -> bool:
    return find_spec("triton") is not None


def _check_shapes(queries: Tensor, keys: Tensor, values: Tensor | None, pyramids: Collection[int]) -> None:
    seen = [tuple(tensor.shape) for tensor in (queries, keys, values) if tensor is not None]
    fits = all(len(shape) == 3 for shape in seen) and (
        queries.shape[2] == keys.shape[2]
        and keys.shape[0] > 0
        and queries.shape[0] % keys.shape[0] == 0
        and (values is None or values.shape[:2] == keys.shape[:2])
        and all(0 <= head < queries.shape[0] for head in pyramids)
    )
    if not fits:
        shapes = [str(shape) for shape in seen]
        raise RecordingError("recorders.statistics.bad_shapes", shapes=shapes, pyramids=sorted(pyramids))
