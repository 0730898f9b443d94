"""Statistics from the results of the GPU kernels.

In:   tensors on a GPU, filled by the kernels of gpu_kernels.py.
Out:  `GpuStatistics`: all arithmetic is queued on the GPU at once, and the results are copied when they are
      first read (see transfer.py).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from glassformer.recorders.statistics.raw import RawStatistics
from glassformer.recorders.statistics.scoring import LOG2_E, Scoring
from glassformer.recorders.statistics.transfer import PackedTransfer
from glassformer.recording import Pyramid, thumbnail_level

LEAST = 1e-300  # sum of the weights of a row that sees nothing: all that is divided by it is 0


@dataclass(frozen=True, slots=True)
class Rows:
    """The results of rows_kernel."""

    log_sum_exp: Tensor  # (head, query) minus infinity where there is no key
    sums: Tensor  # (6, head, query) Σ w, Σ w log2 w, distance, above, peak, allowed (where it was counted)
    peak_key: Tensor  # (head, query)
    counting: bool
    block: int  # rows of a block

    def correct(self, scoring: Scoring) -> dict[str, Tensor]:
        """Statistics of rows; the rounding error of the log-sum-exp is corrected by the sum of weights.

        Launching an operation takes longer than running it, so there are few, on several numbers at once.
        """
        sums = self.sums.to(torch.float64, copy=True)
        total, energy, distance, *_ = sums  # (head, query) each
        used = (self.log_sum_exp * LOG2_E).double()  # as the kernels rounded it, to base 2
        if scoring.causal:
            places = torch.arange(total.shape[1], dtype=total.dtype, device=total.device) % self.block
            distance.neg_().addcmul_(places, total)
        if scoring.sink is not None:
            logit = scoring.sink.double()[:, None] - used / LOG2_E
            energy.addcmul_(logit.exp(), logit, value=LOG2_E)  # the sink's part of the entropy
            total += logit.exp()
        total.clamp_min_(LEAST)  # rows without keys have nothing to correct; NaN stays
        logarithm = total.log()
        sums[1:5].div_(total)
        energy.mul_(-log(2)).add_(logarithm).clamp_min_(0)
        singles = sums[1:5].float()
        corrected = {
            "log_sum_exp": logarithm.add_(used, alpha=1 / LOG2_E),
            "entropy": singles[0],
            "distance": singles[1],
            "peak": singles[3],
            "peak_key": self.peak_key,
            "above": self.sums[3].int(),
        }
        return corrected | ({"allowed": self.sums[5].int()} if self.counting else {})


@dataclass(frozen=True, slots=True)
class Columns:
    """The results of columns_kernel for some heads: parts of pixels that are to be joined."""

    mass: Tensor  # (head, key)
    sums: Tensor  # (head, query pixel, narrow key pixel, part)
    maxima: Tensor  # (head, query pixel, narrow key pixel, part)
    narrow: int  # narrow key pixels in a pixel
    level: int  # pixels are squares of 2**level tokens

    def join(self) -> tuple[Tensor, Tensor]:
        """Sums and maxima of whole pixels (head, query pixel, key pixel)."""
        missing = (0, 0, 0, -self.sums.shape[2] % self.narrow)
        sums, maxima = (
            _pad(each, missing).unflatten(2, (-1, self.narrow)).flatten(3)
            for each in (self.sums, self.maxima)
        )  # (head, query pixel, key pixel, part)
        if sums.shape[3] == 1:
            return sums[..., 0], maxima[..., 0]
        return sums.sum(-1), maxima.amax(-1)


@dataclass(frozen=True, slots=True)
class GpuStatistics:
    """Statistics that may still be on the GPU."""

    transfer: PackedTransfer
    scoring: Scoring  # without its tensors, so that their memory is freed
    pyramids: Collection[int]  # the heads that have one
    level: int  # of the pyramids

    def fetch(self) -> None:
        """Copy the results from the GPU, in a background thread, before they are read."""
        self.transfer.fetch()

    def read(self) -> RawStatistics:
        """Wait for the kernels of this attention, not for later ones, and copy the results."""
        arrays = self.transfer.read()
        finite = bool(np.isfinite(arrays.pop("largest", 0.0)).all())
        pyramids = {}
        if self.pyramids:
            mean, maximum = arrays.pop("pyramid_mean"), arrays.pop("pyramid_max")
            pyramids = {head: Pyramid(self.level, mean[head], maximum[head]) for head in self.pyramids}
        if "allowed" not in arrays:
            queries, keys = arrays["entropy"].shape[1], arrays["mass"].shape[1]
            mask = arrays.pop("key_mask", None)
            scoring = replace(self.scoring, key_mask=None if mask is None else torch.from_numpy(mask))
            arrays["allowed"] = scoring.count_allowed(queries, keys).numpy()
        weights = arrays.pop("weights", None)
        return RawStatistics(arrays, weights, pyramids, finite)


def pack(
    rows: Rows,
    columns: Sequence[Columns],
    scoring: Scoring,
    pyramids: Collection[int],
    *,
    weights: Tensor | None = None,
    given: Collection[Tensor] = (),
) -> GpuStatistics:
    """Queue the rest of the arithmetic and the packing; `columns` are of all heads, in order, finest first.

    `given` are the inputs of the attention, which are checked for NaN and infinity.
    """
    tensors = rows.correct(scoring)
    if given:  # the maximum is NaN where any number is
        largest = [torch.linalg.vector_norm(states, torch.inf) for states in given]
        tensors["largest"] = torch.stack(largest).float()
    shape = rows.log_sum_exp.shape[1], columns[0].mass.shape[1]
    level = thumbnail_level(*shape)
    pixels = [each.join() for each in columns]
    thumbnails = [_coarsen(*pair, level - each.level) for each, pair in zip(columns, pixels, strict=True)]
    tensors["mass"] = _join([each.mass for each in columns])
    tensors["thumbnail_mean"] = _average(_join([sums for sums, _ in thumbnails]), shape, level)
    tensors["thumbnail_max"] = _join([maxima for _, maxima in thumbnails])
    if pyramids:  # of every head pooled so finely: choosing among them here would wait for the GPU
        sums, maxima = pixels[0]
        tensors["pyramid_mean"] = _average(sums, shape, columns[0].level)
        tensors["pyramid_max"] = maxima
    if weights is not None:
        tensors["weights"] = weights
    if scoring.key_mask is not None and not rows.counting:
        tensors["key_mask"] = scoring.key_mask
    plain = replace(scoring, key_mask=None, bias=None, distance_bias=None, sink=None)
    return GpuStatistics(PackedTransfer(tensors), plain, tuple(pyramids), columns[0].level)


def _coarsen(sums: Tensor, maxima: Tensor, levels: int) -> tuple[Tensor, Tensor]:
    """Pixels (head, query pixel, key pixel) made coarser by some levels."""
    side = 1 << levels
    if side == 1:
        return sums, maxima
    missing = (0, -sums.shape[2] % side, 0, -sums.shape[1] % side)
    wide = (
        _pad(each, missing).unflatten(2, (-1, side)).unflatten(1, (-1, side)) for each in (sums, maxima)
    )  # (head, query pixel, side, key pixel, side)
    coarse, tops = wide
    return coarse.sum((2, 4)), tops.amax((2, 4))


def _average(sums: Tensor, shape: tuple[int, int], level: int) -> Tensor:
    """Sums (head, query pixel, key pixel) divided by the number of cells in each pixel of a map."""
    side = 1 << level
    if shape[0] % side == shape[1] % side == 0:
        return sums / side**2
    down, across = (
        (length - torch.arange(0, length, side, device=sums.device)).clamp_max(side) for length in shape
    )
    return sums / (down[:, None] * across)


def _pad(pixels: Tensor, missing: tuple[int, ...]) -> Tensor:
    return F.pad(pixels, missing) if any(missing) else pixels


def _join(parts: Sequence[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(list(parts))
