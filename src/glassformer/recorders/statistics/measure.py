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
from glassformer.recorders.statistics.device import DeviceStatistics, keep_cpu_results
from glassformer.recorders.statistics.gpu_results import GpuStatistics
from glassformer.recorders.statistics.raw import STATISTICS_ONLY, RawStatistics, Wanted
from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recording import THRESHOLD, HeadStatistics, Pyramid


class Measured:
    """The results of one pass over an attention. From a GPU they are copied when they are first read."""

    def __init__(self, output: Tensor | None, found: RawStatistics | GpuStatistics, wanted: Wanted) -> None:
        self.output = output  # (head, query, value width), laid out query first; on the device of the queries
        self.fetch = found.fetch  # copies the results from the GPU, in a background thread
        self._found, self._wanted = found, wanted

    @cached_property
    def raw(self) -> RawStatistics:
        """As they were measured, not checked."""
        return self._found.read()

    @cached_property
    def statistics(self) -> HeadStatistics:
        rows = None if self._wanted.rows is None else self._wanted.rows.cpu().numpy()
        return self.raw.check(rows, self._wanted.threshold)

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
    return attend_and_measure(queries, keys, None, scoring, Wanted(rows, threshold=threshold)).statistics


def attend_and_measure(
    queries: Tensor, keys: Tensor, values: Tensor | None, scoring: Scoring, wanted: Wanted = STATISTICS_ONLY
) -> Measured:
    """The same, with the output where values (key head, key, width) are given, and what else is wanted."""
    _check_shapes(queries, keys, values, wanted.pyramids)
    if measures_there(queries):
        from glassformer.recorders.statistics.gpu import measure_on_gpu  # needs Triton

        on_gpu, output = measure_on_gpu(queries, keys, values, scoring, wanted)
        return Measured(output, on_gpu, wanted)
    on_cpu, output = measure_on_cpu(queries, keys, values, scoring, wanted)
    return Measured(output, on_cpu, wanted)


def attend_and_keep(
    queries: Tensor, keys: Tensor, values: Tensor, scoring: Scoring
) -> tuple[Tensor, DeviceStatistics]:
    """Output and statistics, without pictures, left on the device of the queries."""
    _check_shapes(queries, keys, values, ())
    if measures_there(queries):
        from glassformer.recorders.statistics.gpu import keep_on_gpu  # needs Triton

        return keep_on_gpu(queries, keys, values, scoring)
    on_cpu, output = measure_on_cpu(queries, keys, values, scoring, STATISTICS_ONLY)
    assert output is not None
    return output, keep_cpu_results(on_cpu, scoring)


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
