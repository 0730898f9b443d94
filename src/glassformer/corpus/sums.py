"""Metrics of heads added up over the rows of many texts at once, on the device that measured them.

In:   `DeviceMap`s of a batch: the statistics of one layer each, for all heads of all texts.
Out:  totals and counts of each metric, text and head, as `metrics/` would find them one map at a time.

Copying rows from a GPU and adding them up with NumPy takes many times as long as the model's pass. The
metrics here are those that every study measures by default; a test compares each with its namesake.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from glassformer.recorders.statistics.device import DeviceMap
from glassformer.rounding import row_tolerance


@dataclass(frozen=True, slots=True)
class Rows:
    """Maps of one shape, stacked: (map, head of all texts, query); booleans and tables may be shared."""

    arrays: dict[str, Tensor]
    allowed: Tensor  # (map, head or 1, query)
    looking: Tensor  # the same: rows that may look at some key
    outcomes: Tensor  # the same: keys, and the sink where there is one
    most: Tensor  # the same: log of outcomes
    sink: Tensor | None  # (map, head, query)
    marked: Tensor | None  # (head, key)
    positions: bool  # whether queries stand among the keys

    def total(self, values: Tensor, where: Tensor | None = None) -> Tensor:
        """The sum over rows (map, head) of values (map, head or 1, query), in float64."""
        chosen = self.looking if where is None else where
        return torch.where(chosen, values, 0).sum(-1, dtype=torch.float64)

    @property
    def rows(self) -> Tensor:
        return self.looking.sum(-1, dtype=torch.float64)

    @property
    def entropy(self) -> Tensor:
        return self.arrays["entropy"].double().clamp_min(0)


Sums = tuple[Tensor, Tensor]  # totals and counts (map, head or 1)


def _add_entropy(rows: Rows) -> Sums:
    return rows.total(rows.entropy), rows.rows


def _add_entropy_share(rows: Rows) -> Sums:
    return rows.total(rows.entropy.minimum(rows.most)), rows.total(rows.most)


def _add_divergence(rows: Rows) -> Sums:
    return rows.total((rows.most - rows.entropy).clamp_min(0)), rows.rows


def _add_distance(rows: Rows) -> Sums:
    if not rows.positions:
        return rows.rows * 0, rows.rows * 0
    distance = rows.arrays["distance"]
    known = rows.looking & distance.isfinite()
    attended = torch.ones_like(distance) if rows.sink is None else (1 - rows.sink.double()).clamp_min(0)
    return rows.total(distance, known), rows.total(attended, known)


def _compare_nonzero(rows: Rows) -> Sums:
    above = rows.arrays["above"]
    return rows.total(above), rows.total(rows.allowed - above)


def _share_nonzero(rows: Rows) -> Sums:
    return rows.total(rows.arrays["above"]), rows.total(rows.allowed)


def _average_nonzero(rows: Rows) -> Sums:
    return rows.total(rows.arrays["above"]), rows.rows


def _find_most_nonzero(rows: Rows) -> Sums:
    most = torch.where(rows.looking, rows.arrays["above"], 0).amax(-1)
    return most.double(), (rows.rows > 0).double()


def _add_sink(rows: Rows) -> Sums:
    top = rows.arrays["mass"].amax(-1).double()
    return top if rows.sink is None else top + rows.total(rows.sink), rows.rows


def _add_delimiters(rows: Rows) -> Sums:
    assert rows.marked is not None
    totals = torch.where(rows.marked, rows.arrays["mass"], 0).sum(-1, dtype=torch.float64)
    return totals, torch.where(rows.marked.any(-1), rows.rows, 0)


def _add_first(rows: Rows) -> Sums:
    choosing = rows.looking & (rows.outcomes > 1)
    forced = rows.looking & ~choosing & (rows.arrays["peak_key"] == 0)
    without_choice = rows.total(rows.arrays["peak"], forced)
    totals = (rows.arrays["mass"][..., 0].double() - without_choice).clamp_min(0)
    return totals, choosing.sum(-1, dtype=torch.float64)


SUMMED: dict[str, Callable[[Rows], Sums]] = {
    "average_nonzero": _average_nonzero,
    "delimiter": _add_delimiters,
    "distance": _add_distance,
    "entropy": _add_entropy,
    "entropy_share": _add_entropy_share,
    "first_token": _add_first,
    "maximum_nonzero": _find_most_nonzero,
    "nonzero_share": _share_nonzero,
    "overall_sparsity": _compare_nonzero,
    "sink_mass": _add_sink,
    "uniform_divergence": _add_divergence,
}


def add_rows(maps: Sequence[DeviceMap], names: Sequence[str], marked: Tensor | None) -> tuple[Tensor, Tensor]:
    """Of maps of one stack, kind and shape: totals and counts (2, map, metric, head), and whether all inputs
    were finite and all rows sum to one; `marked` are delimiters (head, key)."""
    found = [each.statistics for each in maps]
    sinks = [each.sink for each in found if each.sink is not None]
    wide = max(each.allowed.shape[0] for each in found)
    allowed = torch.stack([each.allowed.expand(wide, -1) for each in found])
    outcomes = allowed + bool(sinks)
    rows = Rows(
        arrays={name: torch.stack([each.arrays[name] for each in found]) for name in found[0].arrays},
        allowed=allowed,
        looking=allowed > 0,
        outcomes=outcomes,
        most=outcomes.clamp_min(1).double().log(),
        sink=torch.stack(sinks) if sinks else None,
        marked=marked,
        positions=maps[0].place.kind == "self" and maps[0].shape[1] <= maps[0].shape[2],
    )
    shape = (len(maps), maps[0].heads)
    pairs = [[part.expand(shape) for part in SUMMED[name](rows)] for name in names]
    sums = torch.stack([torch.stack(pair) for pair in pairs], dim=2)  # (2, map, metric, head)
    given = rows.arrays["mass"].sum(-1, dtype=torch.float64)
    given = given if rows.sink is None else given + rows.total(rows.sink)
    close = (given - rows.rows).abs() <= row_tolerance(maps[0].dtype) * rows.rows.clamp_min(1)
    return sums, close.all() & torch.stack([each.finite for each in found]).all()
