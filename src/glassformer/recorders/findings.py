"""What kernels on a GPU found, and how it comes home.

In:   tensors on a GPU, filled by the kernels of statistics_kernels.py.
Out:  Numbers, when somebody asks: until then nothing is copied or waited for.
"""

from dataclasses import dataclass
from math import log

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from glassformer.recorders.numbers import Numbers
from glassformer.recorders.pyramid import finish_pixels, pixel_level
from glassformer.recorders.scoring import Scoring
from glassformer.recording import Pyramid, thumbnail_level

LOG2_E = 1.4426950408889634


@dataclass(frozen=True, slots=True)
class Columns:
    """What columns_kernel found: pixels in parts, and some of them to be joined."""

    mass: Tensor  # (head, key)
    sums: Tensor  # (head, query pixel, narrow key pixel, part)
    maxima: Tensor  # (head, query pixel, narrow key pixel, part)
    narrow: int  # that make a pixel

    def join(self) -> tuple[Tensor, Tensor]:
        """Sums and maxima of whole pixels (head, query pixel, key pixel)."""
        missing = -self.sums.shape[2] % self.narrow
        sums, maxima = (
            F.pad(each, (0, 0, 0, missing)).unflatten(2, (-1, self.narrow)).flatten(3)
            for each in (self.sums, self.maxima)
        )  # (head, query pixel, key pixel, part)
        return sums.sum(-1), maxima.amax(-1)

    def pool(self, shape: tuple[int, int]) -> Pyramid:
        """The pyramid of the only head."""
        level = pixel_level(*shape)
        sums, maxima = (each[0].cpu().numpy() for each in self.join())
        return finish_pixels(sums, maxima, shape, level, level)


@dataclass(frozen=True, slots=True)
class Findings:
    """What kernels found, still on the GPU."""

    scoring: Scoring
    log_sum_exp: Tensor  # (head, query) minus infinity where there is no key
    rows: Tensor  # (6, head, query) Σ w, Σ w log2 w, distance, above, peak, allowed (where it was counted)
    peak_key: Tensor  # (head, query)
    columns: Columns
    counting: bool
    block: int  # rows of a block
    pyramids: dict[int, Columns]  # by head
    output: Tensor | None = None  # (head, query, value width)
    weights: Tensor | None = None  # (head, query, key)

    def fetch(self) -> Numbers:
        """Bring everything here; what rounding did to the log-sum-exp is corrected by the sum of weights."""
        log_sum_exp, entropy, distance, peak = self._correct()
        singles = torch.stack([entropy, distance, peak, *self.rows[3:4]]).cpu().numpy()
        entropy_here, distance_here, peak_here, above = singles
        queries, keys = self.log_sum_exp.shape[1], self.columns.mass.shape[1]
        sums, maxima = (each.cpu().numpy() for each in self.columns.join())
        if self.counting:
            allowed = self.rows[5].long().cpu().numpy()
        else:
            allowed = self.scoring.to("cpu").count_allowed(queries, keys).numpy()
        return Numbers(
            entropy=entropy_here,
            peak=peak_here,
            peak_key=self.peak_key.cpu().numpy(),
            above=above.astype(np.int32),
            log_sum_exp=log_sum_exp.cpu().numpy(),
            distance=distance_here,
            allowed=allowed,
            mass=self.columns.mass.cpu().numpy(),
            sums=sums,
            maxima=maxima,
            level=thumbnail_level(queries, keys),
            weights=None if self.weights is None else self.weights.cpu().numpy(),
            pyramids={head: each.pool((queries, keys)) for head, each in self.pyramids.items()},
        )

    def _correct(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Log-sum-exp in float64; entropy, distance and peak (head, query) in float32."""
        total, energy, distance, _, peak, _ = self.rows.double()
        used = (self.log_sum_exp * LOG2_E).double() / LOG2_E  # as the kernels rounded it
        exact = total
        spread: Tensor | float = 0.0
        if self.scoring.sink is not None:
            logit = self.scoring.sink.double()[:, None] - used
            exact = total + logit.exp()
            spread = -logit.exp() * logit  # the sink's part of the entropy
        exact = exact.masked_fill(exact == 0, 1)  # nothing to see, nothing to correct; NaN stays
        entropy = exact.log() + (spread - log(2) * energy) / exact
        if self.scoring.causal:
            places = torch.arange(total.shape[1], device=total.device) % self.block
            distance = places * total - distance
        return (
            used + exact.log(),
            entropy.clamp_min(0).float(),
            (distance / exact).float(),
            (peak / exact).float(),
        )
