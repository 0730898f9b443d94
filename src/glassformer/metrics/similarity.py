"""Similarity: which heads look at the same places.

In:   a recording; rows of weights, a few at a time.
Out:  Jensen-Shannon divergences between heads, 0 (alike) to log 2 (nothing in common); clusters of heads.

    JS(p, q) = H((p + q) / 2) - (H(p) + H(q)) / 2, averaged over rows

Heads are compared across layers, among maps with the same tokens on both axes.
"""

from collections.abc import Sequence
from math import log
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.metrics.blocks import BLOCK, find_whole_heads, read_rows
from glassformer.metrics.linkage import cut, link
from glassformer.metrics.metric import recording_metric
from glassformer.metrics.parameters import About
from glassformer.metrics.scores import Numbers, Part
from glassformer.recording import AttentionMap, Recording
from glassformer.recording.arrays import choose

MOST_LOGARITHMS = 5 * 10**9  # logarithms that one comparison may take: some ten seconds

RowLimit = Annotated[int, About("metrics.parameters.rows", least=1)]
Clusters = Annotated[int, About("metrics.parameters.clusters", least=1)]


@recording_metric("head_divergence", unit="nats", over="pair", range=(0.0, log(2)))
def compare_heads(recording: Recording, *, rows: RowLimit = 256) -> tuple[Part, ...]:
    """The Jensen-Shannon divergence between the rows of two heads, averaged over rows.

    JS(p, q) = H((p + q) / 2) − (H(p) + H(q)) / 2, averaged over rows, at most `rows` of them, spread
    evenly. Heads of all layers whose maps have the same axes are compared; an attention sink is one
    more outcome.
    """
    parts = []
    for group in group_maps(recording):
        divergences, undefined = measure_divergences(group, rows)
        heads = [(each.place, head) for each in group for head in range(each.heads)]
        labels = tuple(str(message("metrics.head", place=place, head=head)) for place, head in heads)
        parts.append(Part(None, ("head", "head"), divergences, undefined=undefined, labels=(labels, labels)))
    return tuple(parts)


@recording_metric("head_clusters", unit="cluster", over="head", range=(0.0, None))
def cluster_heads(recording: Recording, *, clusters: Clusters = 8, rows: RowLimit = 256) -> tuple[Part, ...]:
    """The cluster a head belongs to, by average linkage of the divergences between heads.

    Average linkage of `head_divergence`, cut into at most `clusters`; the same on every machine.
    `glassformer.metrics.linkage` gives the tree.
    """
    parts, taken = [], 0
    for group in group_maps(recording):
        divergences, undefined = measure_divergences(group, rows)
        known = np.flatnonzero(~np.isnan(divergences).all(axis=1))
        numbers = np.full(len(divergences), np.nan)
        if len(known):
            found = cut(link(divergences[np.ix_(known, known)]), min(clusters, len(known)))
            numbers[known] = taken + found
            taken += len(np.unique(found))  # so that a number names one cluster of the whole recording
        for each in group:
            own, numbers = np.split(numbers, [each.heads])
            parts.append(Part(each.place, ("head",), own, undefined=undefined))
    return tuple(parts)


def group_maps(recording: Recording) -> list[list[AttentionMap]]:
    """Maps whose heads can be compared: those of the same stack, kind, step and length."""
    groups: dict[object, list[AttentionMap]] = {}
    for each in recording.maps:
        groups.setdefault((each.stack, each.kind, each.step, each.shape[1:]), []).append(each)
    return list(groups.values())


def measure_divergences(group: Sequence[AttentionMap], most: int) -> tuple[Numbers, tuple[Message, ...]]:
    """Divergences (head, head) over at most so many rows, and why some are NaN."""
    heads = sum(each.heads for each in group)
    nothing = np.full((heads, heads), np.nan)
    if not all(each.has_weights for each in group):
        return nothing, (message("metrics.only_statistics"),)
    looking = np.concatenate([each.statistics.looking for each in group])  # (head, row)
    rows = np.flatnonzero(looking.all(axis=0))
    rows = rows[choose(len(rows), most)]
    if len(rows) == 0:
        return nothing, (message("metrics.no_common_row"),)
    keys = group[0].shape[2] + 1
    work = heads * heads // 2 * len(rows) * keys
    if work > MOST_LOGARITHMS:
        few = max(1, len(rows) * MOST_LOGARITHMS // work)
        raise InputError("metrics.long_comparison", heads=heads, rows=len(rows), keys=keys - 1, fewer=few)
    mixed = np.zeros((heads, heads))  # entropies of the means of two heads, summed over rows
    height = max(1, BLOCK // (heads * keys))
    for start in range(0, len(rows), height):
        weights = _read(group, rows[start : start + height])  # (head, row, key + sink)
        for head in range(heads):
            means = (weights[head] + weights[head:]) * np.float32(0.5)  # (other head, row, key + sink)
            mixed[head, head:] += _sum_entropy(means)
    own = np.diagonal(mixed)
    divergences = np.maximum(mixed - (own[:, None] + own) / 2, 0.0) / len(rows)
    divergences = np.triu(divergences) + np.triu(divergences, 1).T
    whole = np.concatenate([find_whole_heads(each) for each in group])
    divergences[~whole] = divergences[:, ~whole] = np.nan
    return divergences, () if whole.all() else (message("metrics.edited_rows"),)


def _read(group: Sequence[AttentionMap], rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Whole distributions (head, row, key + 1): the last column is the sink's."""
    parts = []
    for each in group:
        sink = np.zeros((each.heads, len(rows)), dtype=np.float32)
        if each.sink_weights is not None:
            sink = each.sink_weights[:, rows]
        parts.append(np.concatenate([read_rows(each, rows), sink[..., None]], axis=-1))
    return np.concatenate(parts)


def _sum_entropy(weights: NDArray[np.float32]) -> Numbers:
    """Entropies summed over rows (head,)."""
    logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -np.multiply(weights, logarithms, out=logarithms).sum(axis=(1, 2), dtype=np.float64)
