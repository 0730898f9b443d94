"""Whether the rows of a map sum to one, sink included: the check that catches most mistakes of a recorder.

In:   the statistics of a map and its dense weights or factors.
Out:  nothing, or a RecordingError that names head and row.

Every row counts in the mass that keys received, which is checked in O(n). Dense weights in memory are checked
row by row; factors, and whatever lives in a file, by samples, so that recording stays fast and opening lazy.
Of factors whose vectors are elsewhere, each head is checked so when it is first read.
"""

from collections.abc import Iterable

import numpy as np

from glassformer.errors import RecordingError
from glassformer.place import Place
from glassformer.recording.arrays import AnyArray, Booleans, Floats, choose, is_mapped
from glassformer.recording.factors import Factors
from glassformer.recording.statistics import HeadStatistics
from glassformer.rounding import FARTHEST, rounding

_SAMPLED_ROWS = 3
_SAMPLED_HEADS = 4
_SAMPLED_KEYS = 1 << 23  # elements of the key vectors that one check may read


def find_wrong_mass(
    statistics: HeadStatistics, sink: Floats | None, tolerance: float
) -> tuple[Booleans, Floats, AnyArray]:
    """Heads (head,) whose mass, summed over keys and sink, is not the number of rows that may look
    somewhere; that mass, and these rows."""
    looking = statistics.looking
    rows = np.count_nonzero(looking, axis=1)  # (head,)
    total = statistics.mass.sum(axis=1, dtype=np.float64)
    if sink is not None:
        total = total + np.where(looking, sink, 0).sum(axis=1, dtype=np.float64)
    return ~(np.abs(total - rows) <= tolerance * np.maximum(rows, 1)), total, rows


def check_mass(place: Place, statistics: HeadStatistics, sink: Floats | None, tolerance: float) -> None:
    """Refuse a map in which some head gave away more, or less, than its rows have."""
    wrong, totals, rows = find_wrong_mass(statistics, sink, tolerance)
    if wrong.any():
        head = int(wrong.argmax())
        seen = {"total": float(totals[head]), "rows": int(rows[head]), "tolerance": tolerance}
        raise RecordingError("recording.wrong_mass", place=place, head=head, **seen)


def check_rows(
    place: Place,
    statistics: HeadStatistics,
    dense: Floats | None,
    factors: Factors | None,
    sink: Floats | None,
    tolerance: float,
    only: int | None = None,
) -> None:
    """Rows, or a sample of them, are not negative and sum to one; rows with no allowed key are left out.

    `only` this head, where one is given.
    """
    real = np.flatnonzero(statistics.rows)
    if dense is not None and not is_mapped(dense):
        chosen: Iterable[tuple[int, AnyArray]] = ((head, real) for head in range(statistics.heads))
    else:
        chosen = _sample(statistics, real, factors, only)
    for head, rows in chosen:
        looking = rows[statistics.allowed[head, rows] > 0]
        if len(looking) == 0 or (dense is None and factors is None):
            continue
        weights = _read(head, looking, dense, factors)  # (row, key)
        sums = weights.sum(axis=-1)
        if sink is not None:
            sums = sums + sink[head, looking]
        limits = np.full(len(looking), tolerance)
        if dense is None and factors is not None:  # the error of a score is a relative error of its weight
            scores = np.abs(factors.log_sum_exp[head, looking])
            limits = np.clip(scores * rounding(), tolerance, FARTHEST)
        wrong = ~(np.abs(sums - 1) <= limits)  # NaN is wrong, too
        if wrong.any():
            row = int(wrong.argmax())
            seen = {"query": int(looking[row]), "total": float(sums[row]), "tolerance": float(limits[row])}
            raise RecordingError("recording.wrong_row", place=place, head=head, **seen)
        if (lowest := float(weights.min())) < -tolerance:
            raise RecordingError("recording.negative_weight", place=place, head=head, weight=lowest)


def _sample(
    statistics: HeadStatistics, real: AnyArray, factors: Factors | None, only: int | None
) -> Iterable[tuple[int, AnyArray]]:
    """A few rows of a few heads, fewer where keys are many; the last head shows a mix-up of key heads."""
    size = 1 if factors is None else factors.shape[2] * factors.width
    heads = choose(statistics.heads, min(_SAMPLED_HEADS, max(1, _SAMPLED_KEYS // max(size, 1)))).tolist()
    rows = real[choose(len(real), _SAMPLED_ROWS)]
    return ((head, rows) for head in (heads if only is None else [only]))


def _read(head: int, rows: AnyArray, dense: Floats | None, factors: Factors | None) -> Floats:
    """The weights of these rows of a head (row, key)."""
    if dense is not None:
        return dense[head] if len(rows) == dense.shape[1] else dense[head, rows]
    assert factors is not None
    whole = slice(0, factors.shape[2])
    return np.concatenate([factors.weights(head, slice(row, row + 1), whole) for row in rows.tolist()])
