"""What kernels on a GPU found, and how it comes home.

In:   tensors on a GPU, filled by the kernels of statistics_kernels.py.
Out:  Numbers, when somebody asks: until then nothing is copied or waited for.
"""

from dataclasses import dataclass
from math import log

import numpy as np
from torch import Tensor

from glassformer.recorders.numbers import Numbers
from glassformer.recorders.pyramid import finish_pixels, pixel_level
from glassformer.recorders.scoring import Scoring
from glassformer.recording import Pyramid, thumbnail_level


@dataclass(frozen=True, slots=True)
class Columns:
    """What columns_kernel found."""

    mass: Tensor  # (head, key)
    sums: Tensor  # (head, query pixel, key pixel)
    maxima: Tensor  # (head, query pixel, key pixel)

    def pool(self, shape: tuple[int, int]) -> Pyramid:
        """The pyramid of the only head."""
        level = pixel_level(*shape)
        return finish_pixels(self.sums[0].cpu().numpy(), self.maxima[0].cpu().numpy(), shape, level, level)


@dataclass(frozen=True, slots=True)
class Findings:
    """What kernels found, still on the GPU."""

    scoring: Scoring
    log_sum_exp: Tensor  # (head, query) base 2, minus infinity where there is no key
    rows: Tensor  # (6, head, query) Σ w, Σ w log2 w, distance, above, peak, allowed
    peak_key: Tensor  # (head, query)
    columns: Columns
    counting: bool
    block: int  # rows of a block
    output: Tensor | None  # (head, query, value width)
    weights: Tensor | None  # (head, query, key)
    pyramids: dict[int, Columns]  # by head

    def fetch(self) -> Numbers:
        """Bring everything here; what rounding did to the log-sum-exp is corrected by the sum of weights."""
        total, energy, distance, above, peak, allowed = self.rows.double().cpu().numpy()
        log_sum_exp = log(2) * self.log_sum_exp.double().cpu().numpy()  # (head, query)
        queries, keys = total.shape[1], self.columns.mass.shape[1]
        seeing = total != 0  # NaN sees, and is for the statistics to refuse
        weight, spread = np.zeros(()), np.zeros(())  # of the sink, and its part of the entropy
        if self.scoring.sink is not None:
            logit = self.scoring.sink.double().cpu().numpy()[:, None] - log_sum_exp
            weight = np.exp(logit)
            spread = -weight * logit
        exact = np.where(seeing, total, 1) + weight * seeing  # 1, but for rounding
        correction = np.log(exact)
        entropy = correction + (spread - log(2) * energy) / exact
        if self.scoring.causal:
            distance = np.arange(queries) % self.block * total - distance
        shared = self.scoring.to("cpu").count_allowed(queries, keys).numpy()
        return Numbers(
            entropy=np.maximum(entropy, 0).astype(np.float32),
            peak=(peak / exact).astype(np.float32),
            peak_key=self.peak_key.cpu().numpy(),
            above=above.astype(np.int32),
            log_sum_exp=log_sum_exp + correction,
            distance=(distance / exact).astype(np.float32),
            allowed=allowed.astype(np.int64) if self.counting else shared,
            mass=self.columns.mass.cpu().numpy(),
            sums=self.columns.sums.cpu().numpy(),
            maxima=self.columns.maxima.cpu().numpy(),
            level=thumbnail_level(queries, keys),
            weights=None if self.weights is None else self.weights.cpu().numpy(),
            pyramids={head: each.pool((queries, keys)) for head, each in self.pyramids.items()},
        )
