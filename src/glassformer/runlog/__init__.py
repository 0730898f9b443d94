"""Logs of training runs: written while a network learns, read by everything that shows one. No torch."""

from glassformer.runlog.log import (
    ALARM,
    BEST,
    ENVIRONMENT,
    EVENTS,
    HEADS,
    RECIPE,
    SCALARS,
    Curve,
    Event,
    HeadHistory,
    RunLog,
    RunWriter,
    find_runs,
    is_run,
    read_run,
)

__all__ = [
    "ALARM",
    "BEST",
    "ENVIRONMENT",
    "EVENTS",
    "HEADS",
    "RECIPE",
    "SCALARS",
    "Curve",
    "Event",
    "HeadHistory",
    "RunLog",
    "RunWriter",
    "find_runs",
    "is_run",
    "read_run",
]
