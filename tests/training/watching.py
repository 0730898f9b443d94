"""Alarms in tests: losses and looks to watch, and what is told of them."""

import numpy as np

from glassformer.place import Place
from glassformer.runlog import Event
from glassformer.training.alarms import AlarmWatch
from glassformer.training.settings import MonitorSettings

PLACE = Place("decoder", "self", 3)
HEALTHY = {
    "entropy_share": [0.5, 0.02, 0.7],  # one sharp head is fine
    "spread": [5.0, 40.0, 3.0],
    "contribution": [1.0, 0.5, 0.2],
    "likeness": [0.6, 0.5, 0.6],
    "twin": [2.0, 0.0, 0.0],
}
Changes = dict[str, list[float]]


def look(*looks: Changes, watch: AlarmWatch | None = None) -> list[Event]:
    """What a watch tells when it looks at a healthy map with these changes, look after look."""
    watch = watch or AlarmWatch(MonitorSettings())
    return [
        event
        for step, changes in enumerate(looks)
        for event in watch.check_look(step, {PLACE: HEALTHY | changes})
    ]


def told(events: list[Event]) -> list[tuple[int, str, str]]:
    """Step, kind and cause of events."""
    return [(event.step, event.kind, event.alarm["cause"]) for event in events if event.alarm]


def follow(losses: list[float], watch: AlarmWatch | None = None, start: int = 0) -> list[Event]:
    """What a watch tells of these losses, one a step."""
    watch = watch or AlarmWatch(MonitorSettings())
    return [
        event
        for step, loss in enumerate(losses, start + 1)
        for event in watch.check_step(step, loss, norm=1.0, rate=1e-3, layers={})
    ]


def falling(steps: int, seed: int = 0, noise: float = 0.05) -> list[float]:
    """Losses that fall from 8 to 2, with noise."""
    noises = np.random.default_rng(seed).normal(0, noise, steps)
    return (2 + 6 * np.exp(-np.arange(steps) / 100) + noises).tolist()
