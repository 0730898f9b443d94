"""The table [search] of a recipe: what may change, how it is searched, how long.

In:   the table. Names with a dot are settings of the recipe, and their values where to search:
          "model.heads" = [2, 4, 8]
          "train.rate" = { low = 1e-4, high = 1e-2, log = true }
          "model.layers" = { low = 2, high = 6 }
      All other names are those of `SearchSettings`.
Out:  `SearchSettings` and a space: by name, a `Choice` or a `Range`.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from glassformer.errors import ConfigurationError
from glassformer.registry import suggestion
from glassformer.settings import Count, CountOrZero, Positive, Settings, read_settings
from glassformer.training.alarms import CAUSES

OBJECTIVES = ("score", "parameters", "seconds", "tokens")  # besides the names of scores on held-out text
LIMITS = ("parameters",)
DIVERGED = ("bad_start", "loss_rising", "gradient_explosion", "not_finite")

Sampler = Literal["tpe", "random", "grid"]
Pruner = Literal["halving", "hyperband", "median", "none"]


@dataclass(frozen=True, slots=True)
class SearchSettings(Settings):
    """How to search: the table [search] without the space."""

    trials: Count = 20  # configurations that are trained, the recipe's own among them
    minutes: Positive | None = None  # no trial begins after these; None: no limit of time
    seeds: Count = 1  # runs of each configuration, with other seeds
    confirm: CountOrZero = 0  # runs of the best and the recipe's own configuration at the end, with new seeds
    confirm_on: str | None = None  # a split that is evaluated in these runs only, such as "test"
    # the first one is a score on held-out text; "score" is the one that decides which checkpoint is best
    objectives: list[str] = field(default_factory=lambda: ["score"])
    # of the recipe's own: { parameters = 1.05 } leaves out networks with 5 % more parameters
    limits: dict[str, Any] = field(default_factory=dict)
    sampler: Sampler = "tpe"
    pruner: Pruner = "halving"
    prune_on: list[str] = field(default_factory=lambda: ["collapsed_heads", *DIVERGED])  # causes of alarms
    seed: CountOrZero = 1  # of the sampler
    keep_states: bool = False  # of trials that have ended, so that their runs can be resumed and forked

    def check(self) -> None:
        if not self.objectives:
            raise ConfigurationError("training.search.no_objective")
        if self.objectives[0] in OBJECTIVES[1:]:
            raise ConfigurationError("training.search.first_objective", name=self.objectives[0])
        if len(set(self.objectives)) < len(self.objectives):
            raise ConfigurationError("training.search.same_objectives")
        for cause in self.prune_on:
            if cause not in CAUSES:
                near = suggestion(cause, CAUSES)
                raise ConfigurationError("training.search.unknown_alarm", name=cause, suggestion=near)
        for name, share in self.limits.items():
            if name not in LIMITS:
                near = suggestion(name, LIMITS)
                raise ConfigurationError("training.search.unknown_limit", name=name, suggestion=near)
            if not isinstance(share, int | float) or isinstance(share, bool) or not share > 0:
                raise ConfigurationError("training.search.wrong_limit", name=name, value=repr(share))


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some values."""

    values: tuple[Any, ...]

    def contains(self, value: Any) -> bool:
        return any(type(each) is type(value) and each == value for each in self.values)

    def ends(self) -> tuple[Any, ...]:
        """Values that show whether all are possible."""
        return self.values

    def draw(self, random: Random) -> Any:
        """A value at random."""
        return random.choice(self.values)

    def to_json(self) -> dict[str, Any]:
        return {"kind": "choice", "values": list(self.values)}


@dataclass(frozen=True, slots=True)
class Range:
    """A number between two others, both included."""

    low: float
    high: float
    log: bool = False
    step: float | None = None

    @property
    def whole(self) -> bool:
        return isinstance(self.low, int) and isinstance(self.high, int)

    def contains(self, value: Any) -> bool:
        kinds = (int,) if self.whole else (int, float)
        if not isinstance(value, kinds) or isinstance(value, bool) or not self.low <= value <= self.high:
            return False
        return not self.step or math.isclose((value - self.low) / self.step % 1.0, 0, abs_tol=1e-9)

    def ends(self) -> tuple[Any, ...]:
        return self.low, self.high

    def draw(self, random: Random) -> Any:
        """A value at random."""
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        if not self.whole and not self.step:
            drawn = random.uniform(low, high)
            return min(max(math.exp(drawn), self.low), self.high) if self.log else drawn
        if self.log:
            return min(max(round(math.exp(random.uniform(low, high))), int(self.low)), int(self.high))
        step = self.step or 1
        return self.low + step * random.randrange(int((self.high - self.low) / step + 1e-9) + 1)

    def to_json(self) -> dict[str, Any]:
        kind = "int" if self.whole else "float"
        return {"kind": kind, "low": self.low, "high": self.high, "log": self.log, "step": self.step}


Space = dict[str, Choice | Range]


def read_search(table: Mapping[str, Any]) -> tuple[SearchSettings, Space]:
    """Settings and space of a table [search]."""
    space = {name: read_parameter(name, value) for name, value in table.items() if "." in name}
    settings = read_settings(
        SearchSettings, {name: value for name, value in table.items() if "." not in name}
    )
    if not space:
        raise ConfigurationError("training.search.no_space")
    if settings.sampler == "grid":
        for name, where in space.items():
            if isinstance(where, Range) and not where.step:
                raise ConfigurationError("training.search.grid_needs_steps", name=name)
    if "train.seed" in space:
        raise ConfigurationError("training.search.seed_in_space")
    return settings, space


def read_parameter(name: str, value: Any) -> Choice | Range:
    """Where to look for the value of one setting."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        values = tuple(value)
        if len({json.dumps(each, sort_keys=True) for each in values}) < max(2, len(values)):
            raise ConfigurationError("training.search.few_choices", name=name, value=repr(list(value)))
        return Choice(values)
    if isinstance(value, Mapping) and {"low", "high"} <= set(value) <= {"low", "high", "log", "step"}:
        return _read_range(name, value)
    raise ConfigurationError("training.search.bad_parameter", name=name, value=repr(value))


def _read_range(name: str, value: Mapping[str, Any]) -> Range:
    low, high, log, step = value["low"], value["high"], value.get("log", False), value.get("step")
    numbers = [low, high, *([] if step is None else [step])]
    fine = isinstance(log, bool) and all(
        isinstance(each, int | float) and not isinstance(each, bool) and math.isfinite(each)
        for each in numbers
    )
    if not fine or not low < high or (log and low <= 0) or (step is not None and (step <= 0 or log)):
        raise ConfigurationError("training.search.bad_range", name=name, value=repr(dict(value)))
    if isinstance(low, float) != isinstance(high, float):
        low, high = float(low), float(high)
    return Range(low, high, log, step)
