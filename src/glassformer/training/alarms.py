"""When training goes wrong: rules over losses and over the statistics of heads.

In:   the loss of each step; now and then the statistics of every head, by map.
Out:  alarms, each once when its trouble begins, and again only after it had passed.

The memory of both watches is plain numbers, so that a run that resumes raises the same alarms.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from glassformer.place import Place
from glassformer.runlog import ALARM, Event
from glassformer.training.settings import MonitorSettings

MEMORY = 0.98  # of the running mean and variance of the loss: about 50 steps
SETTLING = 50  # steps before a spike can be told from the beginning
LEAST_RISE = 0.1  # a spike is at least this share of the running mean above it
LOOKS = 2  # looks in a row that must show trouble in a head: one may be chance
SHAPED = 0.9  # entropy as a share of its largest: only heads below this have a pattern to be alike in

Statistics = Mapping[Place, Mapping[str, Any]]  # by map and name: one number for each head


class LossWatch:
    """Tells a sudden rise of the loss from its usual noise, by its running mean and variance."""

    def __init__(self, settings: MonitorSettings) -> None:
        self.settings = settings
        self.memory: dict[str, float] = {"steps": 0, "mean": 0.0, "variance": 0.0, "high": 0}

    def check(self, step: int, loss: float) -> Event | None:
        """An alarm if this loss begins a spike. A spike is not learnt from, unless it stays."""
        memory = self.memory
        rise = loss - memory["mean"]
        bound = max(self.settings.spike * math.sqrt(memory["variance"]), LEAST_RISE * abs(memory["mean"]))
        high = memory["steps"] >= SETTLING and rise > bound
        memory["high"] = memory["high"] + 1 if high else 0
        if not high or memory["high"] > SETTLING:  # what stays high is the new level
            weight = max(1 - MEMORY, 1 / (memory["steps"] + 1))
            memory["variance"] = (1 - weight) * (memory["variance"] + weight * rise * rise)
            memory["mean"] += weight * rise
            memory["steps"] += 1
        if memory["high"] != 1:
            return None
        message = (
            f"The loss rose to {loss:.3g}, from {memory['mean']:.3g} on average before; usual noise "
            f"is {math.sqrt(memory['variance']):.2g}. If it stays, lower the rate, clip or warm up more."
        )
        return Event(step, ALARM, message, topic="loss spike", value=loss)


class HeadWatch:
    """Looks for trouble in the statistics of heads."""

    def __init__(self, settings: MonitorSettings) -> None:
        self.settings = settings
        self.memory: dict[str, int] = {}  # trouble → looks in a row that showed it

    def check(self, step: int, maps: Statistics) -> list[Event]:
        """Alarms for trouble that has just been seen LOOKS times in a row; exploding scores at once."""
        seen: dict[str, int] = {}
        events = []
        for event in self._find(step, maps):
            trouble = f"{event.topic}: {event.place}"
            seen[trouble] = self.memory.get(trouble, 0) + 1
            if seen[trouble] == (1 if event.topic == "exploding scores" else LOOKS):
                events.append(event)
        self.memory = seen
        return events

    def _find(self, step: int, maps: Statistics) -> Iterator[Event]:
        for place, statistics in maps.items():
            numbers = {name: np.asarray(values, dtype=np.float64) for name, values in statistics.items()}
            for topic, where, value, message in (
                *self._collapsed(place, numbers),
                *self._exploding(place, numbers),
                *self._dead(place, numbers),
                *self._identical(place, numbers),
            ):
                yield Event(step, ALARM, message, topic=topic, place=where, value=value)

    def _collapsed(self, place: Place, numbers: Mapping[str, Any]) -> Iterator[tuple[str, str, float, str]]:
        share = _mean(numbers["entropy_share"])
        if share < self.settings.collapse:
            yield (
                "entropy collapse",
                str(place),
                share,
                f"All heads of {place} look at single tokens: their entropy is {share:.1%} of the largest "
                "possible. Training often breaks after this; lower the rate or warm up longer.",
            )

    def _exploding(self, place: Place, numbers: Mapping[str, Any]) -> Iterator[tuple[str, str, float, str]]:
        for head, score in enumerate(numbers["score"]):
            if score > self.settings.explode:
                yield (
                    "exploding scores",
                    f"{place} head {head}",
                    float(score),
                    f"Scores of {place}, head {head}, reach {score:.3g}: softmax is a hard choice there and "
                    "passes hardly any gradient. Lower the rate, or use more weight decay.",
                )

    def _dead(self, place: Place, numbers: Mapping[str, Any]) -> Iterator[tuple[str, str, float, str]]:
        usual = _mean(numbers["contribution"])
        for head, contribution in enumerate(numbers["contribution"]):
            if len(numbers["contribution"]) > 1 and contribution < self.settings.dead * usual:
                share = float(contribution / usual)
                yield (
                    "dead head",
                    f"{place} head {head}",
                    share,
                    f"Head {head} of {place} adds {share:.1%} of what a head there adds on average: idle.",
                )

    def _identical(self, place: Place, numbers: Mapping[str, Any]) -> Iterator[tuple[str, str, float, str]]:
        shaped = numbers["entropy_share"] < SHAPED
        for head, (likeness, twin) in enumerate(zip(numbers["likeness"], numbers["twin"], strict=True)):
            if likeness > self.settings.identical and head < twin and shaped[head] and shaped[int(twin)]:
                yield (
                    "identical heads",
                    f"{place} heads {head} and {int(twin)}",
                    float(likeness),
                    f"Heads {head} and {int(twin)} of {place} look at the same (likeness {likeness:.3f}): "
                    "one of them is wasted. Fewer heads may do.",
                )


def _mean(values: Any) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan
