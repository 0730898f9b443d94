"""Logs of training runs: written while a network learns, read by everything that shows one. No torch."""

from glassformer.runlog.index import Series
from glassformer.runlog.log import (
    ALARM,
    BEST,
    ENVIRONMENT,
    EVENTS,
    RECIPE,
    Curve,
    Event,
    HeadHistory,
    RunLog,
    RunWriter,
    find_runs,
    is_run,
    read_run,
)
from glassformer.runlog.run_index import HEADS, SCALARS, RunIndex, open_run

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
    "RunIndex",
    "RunLog",
    "RunWriter",
    "Series",
    "find_runs",
    "is_run",
    "open_run",
    "read_run",
]
