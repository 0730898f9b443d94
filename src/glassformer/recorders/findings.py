"""What kernels on a GPU found, and how it comes home.

In:   tensors on a GPU, filled by the kernels of statistics_kernels.py.
Out:  Numbers, when somebody asks. All arithmetic is queued on the GPU at once; see parcel.py for the journey.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log

import torch
from torch import Tensor
from torch.nn import functional as F

from glassformer.recorders.numbers import Numbers
from glassformer.recorders.parcel import Parcel
from glassformer.recorders.scoring import Scoring
from glassformer.recording import Pyramid, thumbnail_level

LOG2_E = 1.4426950408889634


@dataclass(frozen=True, slots=True)
class Rows:
    """What rows_kernel found."""

    log_sum_exp: Tensor  # (head, query) minus infinity where there is no key
    sums: Tensor  # (6, head, query) Σ w, Σ w log2 w, distance, above, peak, allowed (where it was counted)
    peak_key: Tensor  # (head, query)
    counting: bool
    block: int  # rows of a block

    def correct(self, scoring: Scoring) -> dict[str, Tensor]:
        """The numbers of rows; what rounding did to the log-sum-exp is corrected by the sum of weights."""
        total, energy, distance, _, peak, _ = self.sums.double()
        used = (self.log_sum_exp * LOG2_E).double() / LOG2_E  # as the kernels rounded it
        energy = log(2) * energy
        exact = total
        if scoring.sink is not None:
            logit = scoring.sink.double()[:, None] - used
            exact = total + logit.exp()
            energy = energy + logit.exp() * logit  # the sink's part of the entropy
        exact = exact.masked_fill(exact == 0, 1)  # nothing to see, nothing to correct; NaN stays
        logarithm = exact.log()
        if scoring.causal:
            places = torch.arange(total.shape[1], device=total.device) % self.block
            distance = places * total - distance
        corrected = {
            "log_sum_exp": used + logarithm,
            "entropy": (logarithm - energy / exact).clamp_min(0).float(),
            "distance": (distance / exact).float(),
            "peak": (peak / exact).float(),
            "peak_key": self.peak_key,
            "above": self.sums[3].int(),
        }
        return corrected | ({"allowed": self.sums[5].int()} if self.counting else {})


@dataclass(frozen=True, slots=True)
class Columns:
    """What columns_kernel found of some heads: pixels in parts, and some of them to be joined."""

    mass: Tensor  # (head, key)
    sums: Tensor  # (head, query pixel, narrow key pixel, part)
    maxima: Tensor  # (head, query pixel, narrow key pixel, part)
    narrow: int  # that make a pixel
    level: int  # pixels are squares of 2**level tokens

    def join(self) -> tuple[Tensor, Tensor]:
        """Sums and maxima of whole pixels (head, query pixel, key pixel)."""
        missing = -self.sums.shape[2] % self.narrow
        sums, maxima = (
            F.pad(each, (0, 0, 0, missing)).unflatten(2, (-1, self.narrow)).flatten(3)
            for each in (self.sums, self.maxima)
        )  # (head, query pixel, key pixel, part)
        return sums.sum(-1), maxima.amax(-1)


@dataclass(frozen=True, slots=True)
class Findings:
    """What kernels found, on its way from the GPU."""

    parcel: Parcel
    scoring: Scoring
    pyramids: Collection[int]  # the heads that have one
    level: int  # of the pyramids
    output: Tensor | None  # (head, query, value width)

    def fetch(self) -> Numbers:
        """Everything here; waits for the kernels of this attention, and for nothing that came after them."""
        arrays = self.parcel.open()
        pyramids = {}
        if self.pyramids:
            mean, maximum = arrays.pop("pyramid_mean"), arrays.pop("pyramid_max")
            pyramids = {head: Pyramid(self.level, mean[head], maximum[head]) for head in self.pyramids}
        if "allowed" not in arrays:
            queries, keys = arrays["entropy"].shape[1], arrays["mass"].shape[1]
            arrays["allowed"] = self.scoring.to("cpu").count_allowed(queries, keys).numpy()
        return Numbers(pyramids=pyramids, **arrays)


def pack(
    rows: Rows,
    columns: Sequence[Columns],
    scoring: Scoring,
    pyramids: Collection[int],
    output: Tensor | None,
    weights: Tensor | None,
) -> Findings:
    """Queue what is left to compute, and the packing; `columns` are of all heads, in order, finest first."""
    tensors = rows.correct(scoring)
    shape = rows.log_sum_exp.shape[1], columns[0].mass.shape[1]
    level = thumbnail_level(*shape)
    pixels = [each.join() for each in columns]
    thumbnails = [_coarsen(*pair, level - each.level) for each, pair in zip(columns, pixels, strict=True)]
    tensors["mass"] = torch.cat([each.mass for each in columns])
    tensors["thumbnail_mean"] = torch.cat([sums for sums, _ in thumbnails]) / _count_cells(shape, level, rows)
    tensors["thumbnail_max"] = torch.cat([maxima for _, maxima in thumbnails])
    if pyramids:  # of every head that was pooled so finely: to choose among them here would be to wait
        sums, maxima = pixels[0]
        tensors["pyramid_mean"] = sums / _count_cells(shape, columns[0].level, rows)
        tensors["pyramid_max"] = maxima
    if weights is not None:
        tensors["weights"] = weights
    return Findings(Parcel(tensors), scoring, tuple(pyramids), columns[0].level, output)


def _coarsen(sums: Tensor, maxima: Tensor, levels: int) -> tuple[Tensor, Tensor]:
    """The same pixels (head, query pixel, key pixel), so many levels coarser."""
    side = 1 << levels
    if side == 1:
        return sums, maxima
    missing = (0, -sums.shape[2] % side, 0, -sums.shape[1] % side)
    wide = (
        F.pad(each, missing).unflatten(2, (-1, side)).unflatten(1, (-1, side)) for each in (sums, maxima)
    )  # (head, query pixel, side, key pixel, side)
    coarse, tops = wide
    return coarse.sum((2, 4)), tops.amax((2, 4))


def _count_cells(shape: tuple[int, int], level: int, rows: Rows) -> Tensor:
    """How many cells of the map lie in each pixel (query pixel, key pixel)."""
    side, device = 1 << level, rows.sums.device
    down, across = (
        (length - torch.arange(0, length, side, device=device)).clamp_max(side) for length in shape
    )
    return down[:, None] * across
