"""Learning rates over time, by name.

In:   the number of a step, the settings, the used share of the steps (or of the time) after the warm-up.
Out:  the share of the highest rate. The warm-up before is the same for all.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from glassformer.registry import Registry

if TYPE_CHECKING:
    from glassformer.training.settings import TrainSettings

Schedule = Callable[[int, "TrainSettings", float], float]

SCHEDULES: Registry[Schedule] = Registry("schedule", __name__)


@SCHEDULES.register("inverse-sqrt")
def fall_with_root(step: int, settings: "TrainSettings", used: float) -> float:  # noqa: ARG001
    """Equation 3 of the paper."""
    return math.sqrt(max(settings.warmup, 1) / step)


@SCHEDULES.register("cosine")
def fall_as_cosine(step: int, settings: "TrainSettings", used: float) -> float:  # noqa: ARG001
    """Half a wave, down to the floor."""
    return settings.floor + (1 - settings.floor) * 0.5 * (1 + math.cos(math.pi * used))


@SCHEDULES.register("linear")
def fall_evenly(step: int, settings: "TrainSettings", used: float) -> float:  # noqa: ARG001
    """A straight line, down to the floor."""
    return 1 - (1 - settings.floor) * used


@SCHEDULES.register("constant")
def stay(step: int, settings: "TrainSettings", used: float) -> float:  # noqa: ARG001
    """The highest rate, always."""
    return 1.0
