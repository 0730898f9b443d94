"""Statistics of attention on a CPU: padding, memory for results, and threads that share the work.

In:   queries, keys (and values) of one attention, and how it scores.
Out:  RawStatistics; cpu_rows.py does the arithmetic.
"""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from math import log
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from glassformer.recorders.statistics.cpu_rows import ROW_NUMBERS, Job, Part, Results, measure_part
from glassformer.recorders.statistics.raw import Picture, RawStatistics, Wanted, finish_pixels, pixel_level
from glassformer.recorders.statistics.scoring import HIDDEN, LOG2_E, MASKED, Scoring
from glassformer.recording import Pyramid, thumbnail_level

LONG = 1 << 15  # keys; beyond, blocks are lower, so that memory stays small
CELLS = 1 << 19  # scores worth a block: several heads share one where texts are short
FEW = 1 << 18  # scores that are measured faster than threads are started
_UNIT = 64  # keys whose maximum is taken at once


def measure_on_cpu(
    queries: Tensor, keys: Tensor, values: Tensor | None, scoring: Scoring, wanted: Wanted
) -> tuple[RawStatistics, Tensor | None]:
    """Statistics of all heads, and the output (head, query, value width) where there are values."""
    job = _prepare(queries, keys, values, scoring.to("cpu"), wanted)
    results = _allocate(job, wanted.weights)
    mass = _run(job, results)
    output = None if results.output is None else results.output[:, : job.shape[1]].to(queries)
    return _finish(job, results, mass, wanted.pyramids), output


def _prepare(queries: Tensor, keys: Tensor, values: Tensor | None, scoring: Scoring, wanted: Wanted) -> Job:
    """Pad to whole strips and units; without padding nothing is copied."""
    heads, count, _ = queries.shape
    key_count = keys.shape[1]
    side = 1 << pixel_level(count, key_count)
    unit = max(side, min(_UNIT, 1 << max(key_count - 1, 0).bit_length()))
    height = 128 if key_count <= LONG else 64
    padded_rows = -(-count // side) * side if count > side else count
    real = None
    if wanted.rows is not None and not bool(wanted.rows.all()):
        real = F.pad(wanted.rows.cpu().float(), (0, padded_rows - count))
    if scoring.key_mask is not None and bool(scoring.key_mask.all()):
        scoring = replace(scoring, key_mask=None)
    counting = scoring.hides_by_bias
    return Job(
        queries=_pad(queries, padded_rows),
        keys=_pad(keys, -(-key_count // unit) * unit),
        values=None if values is None else values.cpu().float(),
        scoring=scoring,
        shape=(heads, count, key_count),
        height=height,
        side=side,
        unit=unit,
        threshold=wanted.threshold,
        rows=real,
        counting=counting,
        blind=counting or bool((scoring.count_allowed(count, key_count) == 0).any()),
    )


def _pad(vectors: Tensor, length: int) -> Tensor:
    missing = length - vectors.shape[1]
    vectors = vectors.cpu().float()
    return F.pad(vectors, (0, 0, 0, missing)) if missing else vectors


def _allocate(job: Job, weights_too: bool) -> Results:
    heads, padded = job.queries.shape[:2]
    rows = _zeros(len(ROW_NUMBERS), heads, padded)
    sink = job.scoring.sink  # all that a row has which reaches no key
    rows[ROW_NUMBERS.index("top")] = MASKED if sink is None else sink[:, None] * LOG2_E
    rows[ROW_NUMBERS.index("total")] = 1
    output = None
    if job.values is not None:  # query first: joining the heads then needs no copy
        output = _zeros(padded, heads, job.values.shape[2]).transpose(0, 1)
    pixels = (heads, -(-padded // job.side), job.keys.shape[1] // job.side)
    sums = _zeros(*pixels)
    return Results(
        rows=rows,
        allowed=_zeros(heads, padded),
        sums=sums,
        maxima=sums if job.side == 1 else _zeros(*pixels),
        output=output,
        weights=torch.empty(job.shape, dtype=torch.float32) if weights_too else None,  # all is written
    )


def _zeros(*shape: int, dtype: type[np.floating[Any]] = np.float32) -> Tensor:
    """Zeros made by NumPy in this thread.

    Torch would start its own threads, which spin while they wait for work and take the cores from ours.
    """
    return torch.from_numpy(np.zeros(shape, dtype=dtype))


def _run(job: Job, results: Results) -> NDArray[np.float64]:
    """Measure all blocks of all heads, with as many threads as torch may use; mass received (head, key)."""
    heads, padded = job.queries.shape[:2]
    key_count = job.keys.shape[1]
    threads = 1 if heads * padded * key_count <= FEW else torch.get_num_threads()
    share = -(-heads // threads)  # heads for each thread
    group = max(1, min(CELLS // max(1, min(job.height, padded) * key_count), share))
    groups = [slice(first, min(first + group, heads)) for first in range(0, heads, group)]
    mass = _zeros(threads, heads, key_count, dtype=np.float64)
    starts = range(0, padded, job.height)
    if len(groups) % threads == 0 or len(groups) >= 4 * threads:
        parts = [Part(groups[thread::threads], starts, mass[thread]) for thread in range(threads)]
    else:  # few heads: threads share them, block by block
        parts = [Part(groups, starts[thread::threads], mass[thread]) for thread in range(threads)]
    if threads == 1:
        measure_part(job, results, parts[0])
        return mass[0].numpy()
    try:
        with ThreadPoolExecutor(threads, initializer=_settle_thread) as workers:
            list(workers.map(partial(measure_part, job, results), parts))
    finally:
        torch.set_num_threads(torch.get_num_threads())  # new threads must not inherit a worker's setting
    return mass.numpy().sum(axis=0)


def _settle_thread() -> None:
    """Make torch compute with one thread here, and treat denormal numbers, which are very slow, as 0."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)


def _finish(
    job: Job, results: Results, mass: NDArray[np.float64], pyramids: Collection[int]
) -> RawStatistics:
    """Entropy and log-sum-exp of rows from their sums, in float64 and to base e; pictures from pixels."""
    _, queries, keys = job.shape
    top, total, energy, peak, peak_key, above, distance = results.rows.numpy()[:, :, :queries]
    blind = top <= HIDDEN  # neither key nor sink; NaN is refused later, by HeadStatistics
    logarithm = np.log(total, dtype=np.float64)
    finest = job.side.bit_length() - 1

    def draw(heads: int | slice, level: int) -> tuple[Picture, Picture]:
        return finish_pixels(
            results.sums[heads].numpy(), results.maxima[heads].numpy(), (queries, keys), finest, level
        )

    thumbnails = draw(slice(None), thumbnail_level(queries, keys))
    counted = results.allowed.numpy()[:, :queries].astype(np.int64)
    arrays = {
        "entropy": np.where(blind, 0, np.maximum(logarithm - log(2) * energy / total, 0)).astype(np.float32),
        "peak": peak,
        "peak_key": peak_key.astype(np.int64),
        "above": above.astype(np.int32),
        "log_sum_exp": np.where(blind, -np.inf, log(2) * top.astype(np.float64) + logarithm),
        "distance": distance,
        "allowed": counted if job.counting else job.scoring.count_allowed(queries, keys).numpy(),
        "mass": mass[:, :keys],
        "thumbnail_mean": thumbnails[0],
        "thumbnail_max": thumbnails[1],
    }
    weights = None if results.weights is None else results.weights.numpy()
    return RawStatistics(arrays, weights, {head: Pyramid(finest, *draw(head, finest)) for head in pyramids})
