"""Statistics of attention that stay where they were computed: sums over many texts need no copies of rows.

In:   what the kernels of a GPU, or the blocks of a CPU, found.
Out:  `DeviceStatistics`: the numbers of `HeadStatistics` as tensors, without thumbnails.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from glassformer.place import Place
from glassformer.recorders.statistics.gpu_results import Columns, Rows
from glassformer.recorders.statistics.raw import RawStatistics
from glassformer.recorders.statistics.scoring import Scoring

FIELDS = ("entropy", "peak", "peak_key", "above", "log_sum_exp", "distance", "mass")


@dataclass(frozen=True, slots=True)
class DeviceStatistics:
    """The statistics of every head of one attention; see `HeadStatistics` for what each means."""

    arrays: dict[str, Tensor]  # by the names of FIELDS
    allowed: Tensor  # (head or 1, query)
    sink: Tensor | None  # (head, query) weight that goes to no key
    finite: Tensor = field(default_factory=lambda: torch.tensor(True))  # () whether the inputs were


@dataclass(frozen=True, slots=True)
class DeviceMap:
    """The statistics of one attention of a batch, in the place of its `AttentionMap`."""

    place: Place
    shape: tuple[int, int, int]  # (head, query, key)
    statistics: DeviceStatistics
    dtype: str  # that the model computed in

    @property
    def heads(self) -> int:
        return self.shape[0]


def keep_gpu_results(
    rows: Rows, columns: list[Columns], scoring: Scoring, inputs: list[Tensor]
) -> DeviceStatistics:
    """Queue the rest of the arithmetic on the GPU."""
    found = rows.correct(scoring)
    found["mass"] = torch.cat([each.mass for each in columns])
    queries, keys = rows.log_sum_exp.shape[1], found["mass"].shape[1]
    allowed = found.pop("allowed", None)
    if allowed is None:
        allowed = scoring.count_allowed(queries, keys)[None].to(rows.log_sum_exp.device, non_blocking=True)
    largest = torch.stack([torch.linalg.vector_norm(states, torch.inf) for states in inputs])
    sink = _weigh_sink(scoring.sink, found["log_sum_exp"])
    return DeviceStatistics(found, allowed, sink, largest.isfinite().all())


def keep_cpu_results(found: RawStatistics, scoring: Scoring) -> DeviceStatistics:
    """The same on a CPU, where everything was checked to be finite before."""
    arrays = {name: torch.from_numpy(found.arrays[name]) for name in FIELDS}
    allowed = torch.from_numpy(found.arrays["allowed"])
    shared = allowed[None] if allowed.dim() == 1 else allowed
    return DeviceStatistics(arrays, shared, _weigh_sink(scoring.sink, arrays["log_sum_exp"]))


def _weigh_sink(sink: Tensor | None, log_sum_exp: Tensor) -> Tensor | None:
    return None if sink is None else (sink.to(log_sum_exp)[:, None] - log_sum_exp).exp().float()
