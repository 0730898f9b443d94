"""What a recipe's tables [train] and [monitor] may say.

In:   values that a person wrote.
Out:  frozen `TrainSettings` and `MonitorSettings`, known to be possible, or an error that names the word.
"""

import math
from dataclasses import dataclass
from typing import Literal

from glassformer.config import check_least, check_types
from glassformer.errors import ConfigurationError

Schedule = Literal["inverse-sqrt", "cosine", "linear", "constant"]
Compilation = Literal["no", "default", "graphs", "replay"]
Parallel = Literal["none", "ddp", "fsdp"]
Precision = Literal["auto", "float32", "bfloat16"]

MAX_SEED = 2**32 - 1  # with a step and a process it still makes one of 64 bits, see `seed_everything`


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """How a network learns: the table [train]."""

    steps: int = 10_000  # updates of the weights
    # The run ends after these, too; rates then fall by steps or time, whichever is ahead.
    minutes: float | None = None
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
        check_least(
            self, steps=1, accumulate=1, save_every=1, evaluate_every=1, log_every=1, evaluate_limit=1
        )
        check_least(self, warmup=0, decay=0, clip=0, average=0, patience=0, seed=0)
        for name in ("beta1", "beta2", "ema"):
            _check(self, name, 0 <= getattr(self, name) < 1, "settings.not_a_share")
        if self.seed > MAX_SEED:
            raise ConfigurationError("settings.too_large", name="seed", value=self.seed, most=MAX_SEED)
        _check(self, "decay", math.isfinite(self.decay), "settings.not_finite")
        for name in ("rate", "epsilon", "minutes"):
            value = getattr(self, name)
            _check(self, name, value is None or 0 < value < math.inf, "settings.not_positive")
        _check(self, "floor", 0 <= self.floor <= 1, "settings.not_in_unit")
        if self.rate is None and self.schedule != "inverse-sqrt":
            raise ConfigurationError("training.schedule_needs_rate", schedule=self.schedule)
        if self.rate is None and self.warmup == 0:
            raise ConfigurationError("training.rate_needs_warmup")


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
        check_least(self, every=0, texts=1, tokens=1)
        for name in ("collapse", "dead", "identical"):
            _check(self, name, 0 <= getattr(self, name) <= 1, "settings.not_in_unit")
        for name in ("explode", "spike"):
            _check(self, name, getattr(self, name) > 0, "settings.not_positive")


def _check(settings: object, name: str, fulfilled: bool, code: str) -> None:
    if not fulfilled:
        raise ConfigurationError(code, name=name, value=getattr(settings, name))
