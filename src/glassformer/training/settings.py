"""What a recipe's tables [train] and [monitor] may say.

In:   values that a person wrote.
Out:  frozen `TrainSettings` and `MonitorSettings`, known to be possible, or an error that names the word.
"""

import math
from dataclasses import dataclass
from typing import Literal

from glassformer.config import check_types
from glassformer.errors import ConfigurationError

Schedule = Literal["inverse-sqrt", "cosine", "linear", "constant"]
Compilation = Literal["no", "default", "graphs", "replay"]
Parallel = Literal["none", "ddp", "fsdp"]
Precision = Literal["auto", "float32", "bfloat16"]

LARGEST_SEED = 2**32 - 1  # with a step and a process it still makes one of 64 bits, see `seed_everything`


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """How a network learns: the table [train]."""

    steps: int = 10_000  # updates of the weights
    minutes: float | None = (
        None  # the run ends after these, too; rates then fall by steps or time, whichever is ahead
    )
    seed: int = 1
    accumulate: int = 1  # batches for each update, shared among all processes
    rate: float | None = None  # the highest learning rate; None: the paper's, 1/√(width · warmup)
    schedule: Schedule = "inverse-sqrt"
    warmup: int = 4000  # steps over which the rate rises from 0
    floor: float = 0.1  # what share of the highest rate cosine and linear schedules end at
    decay: float = 0.0  # weight decay, of matrices alone
    beta1: float = 0.9
    beta2: float = 0.98
    epsilon: float = 1e-9
    clip: float = 1.0  # the longest gradient; 0: any
    ema: float = 0.0  # share of the average of weights that is kept each step, as 0.999; 0: no average
    average: int = 0  # the mean of so many last checkpoints is made at the end; 0: none
    save_every: int = 1000  # steps between checkpoints
    evaluate_every: int = 1000  # steps between evaluations
    evaluate_on: str = "dev"  # the split that decides
    evaluate_limit: int | None = None  # examples of it; None: all
    best_by: str | None = None  # the score that says which checkpoint is best; None: the task's own
    patience: int = 0  # evaluations without a better score before the run stops; 0: never
    log_every: int = 10  # steps between two looks at the losses; every step is written all the same
    device: str = "auto"  # "cpu", "cuda", "cuda:1" …
    precision: Precision = "auto"  # bfloat16 on a GPU, float32 on a CPU
    # "default": fused by torch.compile; "graphs": and replayed as CUDA graphs; "replay": that without fusing,
    # which starts at once and is best for short runs of small networks
    compile: Compilation = "no"
    recompute: bool = False  # gradient checkpointing: activations are computed again instead of kept
    parallel: Parallel = "none"  # under torchrun: "ddp" copies the network, "fsdp" shares it out

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("steps", "accumulate", "save_every", "evaluate_every", "log_every"):
            _require(self, name, getattr(self, name) >= 1, "at least 1")
        limit = self.evaluate_limit
        _require(self, "evaluate_limit", limit is None or limit >= 1, "at least 1")
        for name in ("warmup", "decay", "clip", "average", "patience", "seed"):
            _require(self, name, getattr(self, name) >= 0, "at least 0")
        for name in ("beta1", "beta2", "ema"):
            _require(self, name, 0 <= getattr(self, name) < 1, "at least 0 and below 1")
        _require(self, "seed", self.seed <= LARGEST_SEED, f"at most {LARGEST_SEED}")
        for name in ("rate", "decay", "epsilon"):
            value = getattr(self, name)
            _require(self, name, value is None or math.isfinite(value), "a finite number")
        _require(self, "minutes", self.minutes is None or self.minutes > 0, "above 0")
        _require(self, "floor", 0 <= self.floor <= 1, "from 0 to 1")
        _require(self, "epsilon", self.epsilon > 0, "above 0")
        _require(self, "rate", self.rate is None or self.rate > 0, "above 0")
        if self.rate is None and self.schedule != "inverse-sqrt":
            raise ConfigurationError(
                f"schedule = {self.schedule!r} needs a rate; only 'inverse-sqrt' has one of its own "
                "(section 5.3 of the paper). Set `rate`, for example 3e-4."
            )
        if self.rate is None and self.warmup == 0:
            raise ConfigurationError(
                "The paper's rate is made of `warmup`, which is 0; set `warmup` or `rate`."
            )


@dataclass(frozen=True, slots=True)
class MonitorSettings:
    """How a run is watched: the table [monitor]."""

    every: int = 100  # steps between looks at every head; 0: never
    texts: int = 8  # of the probe batch that are looked at
    tokens: int = 128  # of each of them
    collapse: float = 0.03  # alarm: a layer whose heads' entropy is below this share of the largest possible
    dead: float = 0.01  # alarm: a head that adds less than this share of what its neighbours add
    identical: float = 0.99  # alarm: two heads of a layer whose patterns are as alike as this (cosine)
    explode: float = 100.0  # alarm: a score of attention beyond this
    spike: float = 6.0  # alarm: a loss so many standard deviations above its running mean
    tensorboard: bool = False  # write TensorBoard's event files too

    def __post_init__(self) -> None:
        check_types(self)
        _require(self, "every", self.every >= 0, "at least 0")
        for name in ("texts", "tokens"):
            _require(self, name, getattr(self, name) >= 1, "at least 1")
        for name in ("collapse", "dead", "identical"):
            _require(self, name, 0 <= getattr(self, name) <= 1, "from 0 to 1")
        for name in ("explode", "spike"):
            _require(self, name, getattr(self, name) > 0, "above 0")


def _require(settings: object, name: str, fulfilled: bool, wanted: str) -> None:
    if not fulfilled:
        raise ConfigurationError(
            f"{name} = {getattr(settings, name)!r} is out of range; it must be {wanted}."
        )
