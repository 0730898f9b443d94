"""Alarms: rules over the losses and over the statistics of heads.

In:   the loss of each step; now and then the statistics of every head, by map.
Out:  alarms, each once when its trouble begins, and again only after it had stopped.

The memory of both watches is plain numbers, so that a resumed run raises the same alarms.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from glassformer.messages import Message, message
from glassformer.place import Place
from glassformer.runlog import ALARM, Event
from glassformer.training.settings import MonitorSettings

MEMORY = 0.98  # of the running mean and variance of the loss: about 50 steps
SETTLING = 50  # steps before a spike can be distinguished from the start of training
MIN_RISE = 0.1  # a spike is at least this share of the running mean above it
LOOKS = 2  # looks in a row that must show trouble in a head: one may be chance
SHAPED = 0.9  # entropy as a share of its largest: only heads below this have a pattern to be alike in

Statistics = Mapping[Place, Mapping[str, Any]]  # by map and name: one number for each head


class Trouble(NamedTuple):
    """What is wrong with some heads of a map."""

    topic: str
    heads: tuple[int, ...]  # none: all of them
    value: float
    text: Message


class LossWatch:
    """Detects a sudden rise of the loss, by its running mean and variance."""

    def __init__(self, settings: MonitorSettings) -> None:
        self.settings = settings
        self.memory: dict[str, float] = {"steps": 0, "mean": 0.0, "variance": 0.0, "high": 0}

    def check(self, step: int, loss: float) -> Event | None:
        """An alarm if this loss begins a spike; mean and variance ignore spikes, unless they stay."""
        memory = self.memory
        rise = loss - memory["mean"]
        bound = max(self.settings.spike * math.sqrt(memory["variance"]), MIN_RISE * abs(memory["mean"]))
        high = memory["steps"] >= SETTLING and rise > bound
        memory["high"] = memory["high"] + 1 if high else 0
        if not high or memory["high"] > SETTLING:  # what stays high is the new level
            weight = max(1 - MEMORY, 1 / (memory["steps"] + 1))
            memory["variance"] = (1 - weight) * (memory["variance"] + weight * rise * rise)
            memory["mean"] += weight * rise
            memory["steps"] += 1
        if memory["high"] != 1:
            return None
        text = message(
            "training.alarm.loss_spike", loss=loss, mean=memory["mean"], noise=math.sqrt(memory["variance"])
        )
        return Event.from_message(step, ALARM, text, topic="loss spike", value=loss)


class HeadWatch:
    """Looks for trouble in the statistics of heads."""

    def __init__(self, settings: MonitorSettings) -> None:
        self.settings = settings
        self.memory: dict[str, int] = {}  # trouble → looks in a row that showed it

    def check(self, step: int, maps: Statistics) -> list[Event]:
        """Alarms for trouble that was seen LOOKS times in a row; for exploding scores at once."""
        seen: dict[str, int] = {}
        events = []
        for place, trouble in self._find(maps):
            key = f"{trouble.topic}: {place.address} {' '.join(map(str, trouble.heads))}"
            seen[key] = self.memory.get(key, 0) + 1
            if seen[key] == (1 if trouble.topic == "exploding scores" else LOOKS):
                events.append(
                    Event.from_message(
                        step, ALARM, trouble.text, topic=trouble.topic, place=place, value=trouble.value
                    )
                )
        self.memory = seen
        return events

    def _find(self, maps: Statistics) -> Iterator[tuple[Place, Trouble]]:
        for place, statistics in maps.items():
            numbers = {name: np.asarray(values, dtype=np.float64) for name, values in statistics.items()}
            for find in (self._collapsed, self._exploding, self._dead, self._identical):
                for trouble in find(place, numbers):
                    yield place, trouble

    def _collapsed(self, place: Place, numbers: Mapping[str, Any]) -> Iterator[Trouble]:
        share = _mean(numbers["entropy_share"])
        if share < self.settings.collapse:
            text = message("training.alarm.entropy_collapse", place=place, share=share)
            yield Trouble("entropy collapse", (), share, text)

    def _exploding(self, place: Place, numbers: Mapping[str, Any]) -> Iterator[Trouble]:
        for head, score in enumerate(numbers["score"]):
            if score > self.settings.explode:
                text = message("training.alarm.exploding_scores", place=place, head=head, score=float(score))
                yield Trouble("exploding scores", (head,), float(score), text)

    def _dead(self, place: Place, numbers: Mapping[str, Any]) -> Iterator[Trouble]:
        usual = _mean(numbers["contribution"])
        for head, contribution in enumerate(numbers["contribution"]):
            if len(numbers["contribution"]) > 1 and contribution < self.settings.dead * usual:
                share = float(contribution / usual)
                text = message("training.alarm.dead_head", place=place, head=head, share=share)
                yield Trouble("dead head", (head,), share, text)

    def _identical(self, place: Place, numbers: Mapping[str, Any]) -> Iterator[Trouble]:
        shaped = numbers["entropy_share"] < SHAPED
        for head, (likeness, twin) in enumerate(zip(numbers["likeness"], numbers["twin"], strict=True)):
            if likeness > self.settings.identical and head < twin and shaped[head] and shaped[int(twin)]:
                heads = (head, int(twin))
                text = message(
                    "training.alarm.identical_heads", place=place, heads=heads, likeness=float(likeness)
                )
                yield Trouble("identical heads", heads, float(likeness), text)


def _mean(values: Any) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan
