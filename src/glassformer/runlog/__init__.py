"""Logs of training runs: written while a network learns, read by everything that shows one. No torch."""

from glassformer.runlog.alarms import ALARM, GREW, PASSED, Alarm, AlarmRecord
from glassformer.runlog.alive import find_process
from glassformer.runlog.index import Series
from glassformer.runlog.log import (
    BEST,
    CHANCE,
    DATA,
    ENVIRONMENT,
    EVENTS,
    LAYER_NORM,
    RECIPE,
    Curve,
    Event,
    HeadHistory,
    RunLog,
    RunWriter,
    find_runs,
    find_state,
    is_run,
    read_events,
    read_run,
)
from glassformer.runlog.overview import RunOverview, read_overview
from glassformer.runlog.probes import PROBES, Probe, find_probes, read_probe_texts
from glassformer.runlog.run_index import HEADS, SCALARS, RunIndex, count_unindexed, open_run

__all__ = [
    "ALARM",
    "BEST",
    "CHANCE",
    "DATA",
    "ENVIRONMENT",
    "EVENTS",
    "GREW",
    "HEADS",
    "LAYER_NORM",
    "PASSED",
    "PROBES",
    "RECIPE",
    "SCALARS",
    "Alarm",
    "AlarmRecord",
    "Curve",
    "Event",
    "HeadHistory",
    "Probe",
    "RunIndex",
    "RunLog",
    "RunOverview",
    "RunWriter",
    "Series",
    "count_unindexed",
    "find_probes",
    "find_process",
    "find_runs",
    "find_state",
    "is_run",
    "open_run",
    "read_events",
    "read_overview",
    "read_probe_texts",
    "read_run",
]
