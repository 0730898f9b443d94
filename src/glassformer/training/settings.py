"""What a recipe's tables [train], [monitor] and [probe] may say.

In:   values that a person wrote.
Out:  frozen `TrainSettings`, `MonitorSettings` and `ProbeSettings`, known to be possible, or an error that
      names the setting.
"""

import shlex
from dataclasses import dataclass, field
from typing import Annotated, Literal

from glassformer.errors import ConfigurationError
from glassformer.settings import (
    AboveZero,
    AtLeastZero,
    Count,
    CountOrZero,
    Limits,
    Positive,
    Settings,
    Share,
    UpToOne,
)
from glassformer.training.schedules import SCHEDULES

Schedule = Literal["inverse-sqrt", "cosine", "linear", "constant"] | str  # or one of a plug-in
Compilation = Literal["no", "default", "graphs", "replay"]
Parallel = Literal["none", "ddp", "fsdp"]
Precision = Literal["auto", "float32", "bfloat16"]

MAX_SEED = 2**32 - 1  # with a step and a process it still makes one of 64 bits, see `seed_everything`


@dataclass(frozen=True, slots=True)
class TrainSettings(Settings):
    """How a network learns: the table [train]."""

    steps: Count = 10_000  # updates of the weights
    # The run ends after these, too; rates then fall by steps or time, whichever is ahead.
    minutes: Positive | None = None
    seed: Annotated[int, Limits(least=0, most=MAX_SEED)] = 1
    accumulate: Count = 1  # batches for each update, shared among all processes
    rate: Positive | None = None  # the highest learning rate; None: the paper's, 1/√(width · warmup)
    schedule: Schedule = "inverse-sqrt"
    optimiser: Literal["adamw"] | str = "adamw"  # or one of a plug-in
    warmup: CountOrZero = 4000  # steps over which the rate rises from 0
    floor: UpToOne = 0.1  # what share of the highest rate cosine and linear schedules end at
    decay: AtLeastZero = 0.0  # weight decay, of matrices alone
    beta1: Share = 0.9
    beta2: Share = 0.98
    epsilon: Positive = 1e-9
    clip: Annotated[float, Limits(least=0)] = 1.0  # the longest gradient; 0: any
    freeze: list[str] = field(default_factory=list)  # what stays: "embeddings", "layers 0-3", "*.bias"
    layer_decay: Annotated[float, Limits(above=0, most=1)] = 1.0  # the rate of each layer, of that above it
    lora_rank: CountOrZero = 0  # LoRA: adapters of this rank learn instead of the weights; 0: the weights do
    lora_alpha: Positive | None = None  # what they add is multiplied by alpha / rank; None: by 1
    lora_targets: list[str] | None = None  # the matrices with adapters; None: those of attention
    lora_also: list[str] | None = None  # what learns besides, whole; None: the head of a classifier
    ema: Share = 0.0  # share of the average of weights that is kept each step, as 0.999; 0: no average
    average: CountOrZero = 0  # the mean of so many last checkpoints is made at the end; 0: none
    save_every: Count = 1000  # steps between checkpoints
    evaluate_every: Count = 1000  # steps between evaluations
    evaluate_on: str = "dev"  # the split that decides
    evaluate_limit: Count | None = None  # examples of it; None: all
    best_by: str | None = None  # the score that says which checkpoint is best; None: the task's own
    scores: list[str] = field(default_factory=list)  # of plug-ins, beside those of the task
    patience: CountOrZero = 0  # evaluations without a better score before the run stops; 0: never
    log_every: Count = 10  # steps between two looks at the losses; every step is written all the same
    device: str = "auto"  # "cpu", "cuda", "cuda:1" …
    precision: Precision = "auto"  # bfloat16 on a GPU, float32 on a CPU
    # "default": fused by torch.compile; "graphs": and replayed as CUDA graphs; "replay": that without fusing,
    # which starts at once and is best for short runs of small networks
    compile: Compilation = "no"
    recompute: bool = False  # gradient checkpointing: activations are computed again instead of kept
    parallel: Parallel = "none"  # under torchrun: "ddp" copies the network, "fsdp" shares it out

    @property
    def lora_scale(self) -> float:
        """What the product of an adapter is multiplied by."""
        return 1.0 if self.lora_alpha is None else self.lora_alpha / max(1, self.lora_rank)

    def check(self) -> None:
        SCHEDULES[self.schedule]  # an unknown name is an error
        if self.rate is None and self.schedule != "inverse-sqrt":
            raise ConfigurationError("training.schedule_needs_rate", schedule=self.schedule)
        if self.rate is None and self.warmup == 0:
            raise ConfigurationError("training.rate_needs_warmup")


@dataclass(frozen=True, slots=True)
class MonitorSettings(Settings):
    """How a run is watched: the table [monitor]."""

    every: CountOrZero = 100  # steps between looks at every head; 0: never
    texts: Count = 8  # of the probe batch that are looked at
    tokens: Count = 128  # of each of them
    on_alarm: str = "continue"  # when an alarm begins: "continue", "stop", or a command to start
    collapse: UpToOne = 0.03  # alarm: heads that lately have an entropy below this share of the largest
    dead: UpToOne = 0.01  # alarm: a head that adds less than this share of what is usual in its layer
    identical: UpToOne = 0.99  # alarm: two heads of a layer whose patterns are as alike as this (cosine)
    explode: AboveZero = 100.0  # alarm: scores of a row differ by more than this on average
    spike: AboveZero = 6.0  # alarm: a loss above its level by so many times the noise
    callbacks: list[str] = field(default_factory=list)  # "tensorboard", "mlflow", "wandb", or your own
    tensorboard: bool = False  # the same as callbacks = ["tensorboard"]

    def list_callbacks(self) -> list[str]:
        """The names of all callbacks."""
        return [*self.callbacks, *(["tensorboard"] if self.tensorboard else [])]

    def check(self) -> None:
        try:
            words = shlex.split(self.on_alarm)
        except ValueError:  # a quotation mark is missing
            words = []
        if not words:
            raise ConfigurationError("training.on_alarm", value=self.on_alarm, suggestion="")


@dataclass(frozen=True, slots=True)
class ProbeSettings(Settings):
    """Which texts are recorded while a network learns, and when: the table [probe]."""

    count: CountOrZero = 2  # texts of the split that is evaluated, where `texts` names none; 0: no probes
    # "a text"; of a pair ["a text", "another"]; of a translator ["source", "target"], or with the language
    # that it is asked for, ["source", "target", "fr"]
    texts: list[str | list[str]] | None = None
    tokens: Count = 48  # of each text, on each side
    steps: list[CountOrZero] | None = None  # None: at 0, 1, 2, 3, 5, 8 … and at every evaluation
    megabytes: Positive = 32.0  # of all probes; beyond that, steps between others are removed
    share: UpToOne = 0.02  # of training time; beyond that, steps that `steps` does not name are left out

    def check(self) -> None:
        for text in self.texts or ():
            if isinstance(text, list) and not 1 <= len(text) <= 3:
                raise ConfigurationError("training.probe.not_a_pair", count=len(text))
