"""Softmax and statistics of an attention at once, in place: a block of rows at a time, in the cache.

In:   products (head, query, key) of queries and keys, in float32 on a CPU, and how they are scored.
Out:  the products have become weights, to the last bit those of `torch.softmax`; HeadStatistics.

An eager attention function reads and writes the whole matrix for its scale, its mask, its softmax, in memory
that is new each time; that, and not the arithmetic, is what it waits for. Here the matrix is read once and
written once. Keys that causality hides from a whole block are left out: their exponentials would be zeros.

Shapes: g heads at once, b rows of a block, w keys; b and w are filled up to whole pixels of the thumbnails.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.recorders.statistics.raw import finish_pixels
from glassformer.recorders.statistics.scoring import MASKED, Scoring
from glassformer.recording import THRESHOLD, HeadStatistics, thumbnail_level

HEIGHT = 64  # rows of a block under a causal mask: fewer leave out more of what is hidden
CELLS = 1 << 20  # weights of a block at most: more do not fit the cache
UNIT = 32  # keys whose largest weight is found at once
SHORTEST = 64  # keys; torch adds up shorter rows in another order when they are filled up
_ROWS = ("peak", "peak_key", "above", "log_sum_exp", "distance", "entropy")


@dataclass(frozen=True, slots=True)
class _Job:
    """One attention, and where its results go."""

    weights: Tensor  # (head, query, key) products, and weights afterwards
    scoring: Scoring
    side: int  # tokens a pixel
    rows: Tensor | None  # (query,) 1 for real rows; None: all are
    numbers: Tensor  # (number, head, query): see _ROWS
    sums: Tensor  # (head, query pixel, key pixel)
    maxima: Tensor


def can_form(queries: Tensor, keys: Tensor, scoring: Scoring) -> bool:
    """Whether scores are products and a scale, hidden by causality or not at all, in float32 on a CPU."""
    here = all(each.device.type == "cpu" and each.dtype == torch.float32 for each in (queries, keys))
    long = keys.shape[-2] >= SHORTEST and queries.numel() > 0
    return here and long and scoring.offset >= 0 and scoring.is_plain


@torch.inference_mode()
def form_weights(products: Tensor, scoring: Scoring, rows: NDArray[np.bool_]) -> HeadStatistics:
    """Softmax of the scores, where `can_form` says so; every query sees a key."""
    heads, queries, keys = products.shape
    level = thumbnail_level(queries, keys)
    side = 1 << level
    pixels = (heads, -(-queries // side), -(-keys // side))
    job = _Job(
        products,
        scoring,
        side,
        None if rows.all() else torch.from_numpy(rows).float(),
        torch.from_numpy(np.empty((len(_ROWS), heads, queries), np.float32)),
        torch.from_numpy(np.zeros(pixels, np.float32)),
        torch.from_numpy(np.zeros(pixels, np.float32)),
    )
    mass = _run(job)
    numbers = dict(zip(_ROWS, job.numbers.numpy(), strict=True))
    mean, most = finish_pixels(job.sums.numpy(), job.maxima.numpy(), (queries, keys), level, level)
    return HeadStatistics(
        entropy=np.maximum(numbers["entropy"], 0),
        peak=numbers["peak"],
        peak_key=numbers["peak_key"].astype(np.int64),
        above=numbers["above"].astype(np.int32),
        log_sum_exp=numbers["log_sum_exp"].astype(np.float64),
        distance=numbers["distance"],
        allowed=scoring.count_allowed(queries, keys).numpy(),
        mass=mass,
        thumbnail_mean=mean,
        thumbnail_max=most,
        rows=rows,
    )


def _run(job: _Job) -> NDArray[np.float64]:
    """All blocks of all heads, each shared by the threads of torch; mass received (head, key)."""
    heads, queries, keys = job.weights.shape
    most = min(HEIGHT, queries) if job.scoring.causal else queries
    height = max(1, min(most, CELLS // keys) // job.side) * job.side
    together = max(1, min(heads, CELLS // (min(height, queries) * keys)))  # heads of a block
    room = torch.empty(2, together, min(height, _fill(queries, job.side)), _fill(keys, max(job.side, UNIT)))
    mass = torch.zeros(heads, keys, dtype=torch.float64)
    for start in range(0, queries, height):
        for first in range(0, heads, together):
            group = slice(first, min(first + together, heads))
            _form_block(job, group, slice(start, min(start + height, queries)), room.flatten(1), mass)
    return mass.numpy()


def _fill(count: int, unit: int) -> int:
    """The next multiple of a unit."""
    return -(-count // unit) * unit


def _form_block(job: _Job, heads: slice, rows: slice, room: Tensor, mass: Tensor) -> None:
    """Weights and all numbers of a block; `room` holds its scores and its weights."""
    _, _, keys = job.weights.shape
    first = rows.start + job.scoring.offset  # the position of the first row
    reach = min(keys, first + rows.stop - rows.start) if job.scoring.causal else keys
    group, height = heads.stop - heads.start, rows.stop - rows.start
    filled = _fill(height, job.side), _fill(reach, max(job.side, UNIT))
    cells = group * filled[0] * filled[1]
    scores, weights = (each[:cells].view(group, *filled) for each in room)

    torch.mul(job.weights[heads, rows, :reach], job.scoring.scale, out=scores[:, :height, :reach])
    if filled != (height, reach):
        scores[:, :, reach:] = MASKED
        scores[:, height:] = MASKED
    if job.scoring.causal and first + 1 < reach:
        later = torch.ones(height, reach - first - 1).triu().bool()
        scores[:, :height, first + 1 : reach].masked_fill_(later, MASKED)
    torch.softmax(scores, -1, out=weights)
    weights[:, height:] = 0
    job.weights[heads, rows, :reach] = weights[:, :height, :reach]
    job.weights[heads, rows, reach:] = 0

    strips = weights.unflatten(1, (-1, job.side))  # (g, strip, side, w)
    sums = weights if job.side == 1 else strips.sum(2)
    received = sums.sum(1) if job.rows is None else torch.matmul(job.rows[rows], weights[:, :height])
    mass[heads, :reach] += received[:, :reach]
    pixels = slice(rows.start // job.side, -(-rows.stop // job.side)), slice(0, filled[1] // job.side)
    columns = min(pixels[1].stop, job.sums.shape[2])
    for results, found in ((job.sums, sums), (job.maxima, weights if job.side == 1 else strips.amax(2))):
        pooled = found.unflatten(-1, (-1, job.side))
        pooled = pooled.sum(-1) if results is job.sums else pooled.amax(-1)
        results[heads, pixels[0], :columns] = pooled[..., :columns]

    peak, peak_key = _find_peaks(weights)
    weights, scores = weights[:, :height], scores[:, :height]
    peak, peak_key = peak[:, :height], peak_key[:, :height]
    total = scores.gather(-1, peak_key[..., None])[..., 0] - peak.log()  # log-sum-exp: s - ln w, anywhere
    distance = _sum_distances(weights, first, causal=job.scoring.causal)
    entropy = scores.sub_(total[..., None]).mul_(weights).sum(-1).neg_()
    above = torch.gt(weights, THRESHOLD, out=scores).sum(-1)
    job.numbers[:, heads, rows] = torch.stack([peak, peak_key.float(), above, total, distance, entropy])


def _find_peaks(weights: Tensor) -> tuple[Tensor, Tensor]:
    """The largest weight of each row (g, b) and the first key that has it; `max` alone is slow."""
    group, height, width = weights.shape
    peak, unit = weights.unflatten(-1, (-1, UNIT)).amax(-1).max(-1)
    places = torch.arange(group * height).view(group, height) * (width // UNIT) + unit
    within = weights.view(-1, UNIT).index_select(0, places.flatten()).argmax(-1).view(group, height)
    return peak, within.add_(unit, alpha=UNIT)


def _sum_distances(weights: Tensor, first: int, *, causal: bool) -> Tensor:
    """The sum of weight * |position - key| of each row (g, b), whose first is at this position."""
    group, height, width = weights.shape
    places = torch.arange(width, dtype=torch.float32)
    rows = torch.arange(first, first + height, dtype=torch.float32)
    if not causal:
        return torch.matmul(weights.transpose(0, 1), (rows[:, None] - places).abs_()[..., None])[..., 0].t()
    flat = weights.reshape(group * height, width)
    before = torch.mv(flat, first - places).view(group, height)  # seen from the first row
    return before.addcmul_(torch.mv(flat, torch.ones(width)).view(group, height), rows - first)
