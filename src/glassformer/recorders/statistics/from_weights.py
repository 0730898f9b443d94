"""Statistics of a short text whose weights are known: few calls of torch, each over several heads.

In:   weights (head, query, key) that a model computed, and the queries and keys that they are to follow from.
Out:  HeadStatistics of these weights; None where the weights do not follow from queries and keys.

Of a short text the calls cost more than the arithmetic. With weights w and scores s of a row, whose largest
weight is at key p, log_sum_exp = s_p - ln w_p; then every w must be exp(s - log_sum_exp), within rounding.
Scores are in base 2, as in cpu_rows.py.
"""

from math import log

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from glassformer.recorders.statistics.scoring import LOG2_E, Scoring
from glassformer.recording import THRESHOLD, HeadStatistics, thumbnail_level
from glassformer.recording.pooling import count_cells
from glassformer.rounding import rounding

# Tokens, by whether attention is causal: of longer texts, blocks that leave out hidden keys are faster.
LONGEST = {True: 128, False: 256}
CELLS = 1 << 18  # weights at once: what fits the cache


def can_measure(weights: Tensor, queries: Tensor, scoring: Scoring) -> bool:
    """Whether weights can be measured here: of a short text, in float32, with no mask but a causal one."""
    single = (
        weights.dtype == queries.dtype == torch.float32
        and weights.device == queries.device == torch.device("cpu")
    )
    enough = weights.numel() > 0 and scoring.offset >= 0  # then every query sees a key
    return single and enough and max(weights.shape[1:]) <= LONGEST[scoring.causal] and scoring.is_plain


@torch.inference_mode()
def measure_weights(
    weights: Tensor, queries: Tensor, keys: Tensor, scoring: Scoring, rows: NDArray[np.bool_]
) -> HeadStatistics | None:
    """Of queries (head, query, width) and keys (key head, key, width), where `can_measure` says so."""
    heads, count, key_count = weights.shape
    places = torch.arange(count, dtype=torch.float32)[:, None] + scoring.offset
    gaps = (places - torch.arange(key_count, dtype=torch.float32)).abs_()  # (query, key)
    hidden = torch.ones(count, key_count).triu_(scoring.offset + 1).bool() if scoring.causal else None
    if len(keys) < heads:
        keys = keys.repeat_interleave(heads // len(keys), dim=0)
    queries = queries * (scoring.scale * LOG2_E)
    found: list[list[Tensor]] = []
    most = max(1, CELLS // (count * key_count))
    for own in (slice(first, min(first + most, heads)) for first in range(0, heads, most)):
        each = weights[own]
        scores = torch.bmm(queries[own], keys[own].transpose(1, 2))
        peak, peak_key = each.max(-1)
        total = scores.gather(-1, peak_key[..., None])[..., 0] - peak.log2()
        scores.sub_(total[..., None])  # now logarithms of weights
        entropy = torch.mul(scores, each).sum(-1)  # negative, in bits
        expected = scores.exp2_() if hidden is None else scores.exp2_().masked_fill_(hidden, 0)
        largest = float(total.abs().max()) * log(2)
        tolerance = rounding(operations=2, summands=queries.shape[-1], scores=largest)
        lowest, highest = torch.aminmax(expected.sub_(each))
        if not max(-float(lowest), float(highest)) <= tolerance:  # nor NaN
            return None
        received = each.sum(1) if rows.all() else each[:, torch.from_numpy(rows)].sum(1)
        distance = torch.mul(each, gaps, out=expected).sum(-1)
        above = torch.gt(each, THRESHOLD, out=expected).sum(-1)
        found.append([entropy, peak, peak_key, above, total, distance, received, *_pool(each)])
    parts = [torch.cat(each) if len(found) > 1 else each[0] for each in zip(*found, strict=True)]
    names = ("entropy", "peak", "peak_key", "above", "total", "distance", "mass", "mean", "most")
    numbers = {name: part.numpy() for name, part in zip(names, parts, strict=True)}
    return HeadStatistics(
        entropy=np.maximum(numbers["entropy"] * np.float32(-log(2)), 0),
        peak=numbers["peak"],
        peak_key=numbers["peak_key"],
        above=numbers["above"].astype(np.int32),
        log_sum_exp=numbers["total"] * np.float64(log(2)),
        distance=numbers["distance"],
        allowed=scoring.count_allowed(count, key_count).numpy(),
        mass=numbers["mass"].astype(np.float64),
        thumbnail_mean=numbers["mean"],
        thumbnail_max=numbers["most"],
        rows=rows,
    )


def _pool(weights: Tensor) -> tuple[Tensor, Tensor]:
    """Means and maxima of squares (head, query pixel, key pixel); those at the edges may be smaller."""
    side = 2 ** thumbnail_level(*weights.shape[1:])
    if side == 1:
        return weights, weights
    _, queries, keys = weights.shape
    padded = F.pad(weights, (0, -keys % side, 0, -queries % side)).unflatten(1, (-1, side))
    sums, largest = (each.unflatten(-1, (-1, side)) for each in (padded.sum(2), padded.amax(2)))
    cells = torch.from_numpy(count_cells((queries, keys), side.bit_length() - 1))
    return sums.sum(-1).div_(cells), largest.amax(-1)
