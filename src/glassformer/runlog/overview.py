"""Where a run stands, for lists of many runs: steps, score, alarms, a sparkline of the loss.

In:   the folder of a run; its events and its index. The log itself is not read.
Out:  a `RunOverview`. It is kept beside the index, and made again once the log has grown.
"""

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from glassformer.runlog.alarms import join_alarms
from glassformer.runlog.alive import is_alive
from glassformer.runlog.log import BEST, EVENTS, Event, find_ending, read_events
from glassformer.runlog.run_index import HEADS, INDEX, SCALARS, open_run

SPARK = 50  # points of the loss; the last one is its mean over the last 2 % of the rows
FILE = "overview.json"
VERSION = 1

Stamp = list[list[int] | None]  # of each file: when it was written, and its size


@dataclass(frozen=True, slots=True)
class RunOverview:
    """What a list says of a run; numbers that are not finite are None."""

    name: str
    state: str  # see `RunLog.state`
    last_step: int
    started: float | None  # seconds since 1970
    updated: float
    alarms: int
    score_name: str | None  # what decides which checkpoint is best
    score: float | None  # the best one so far
    loss: tuple[float | None, ...]  # means over equal stretches of steps
    best_dev_loss: float | None  # the lowest one
    scalars: dict[str, float | None]  # the last value of every curve


def read_overview(folder: Path, *, keep: bool = True) -> RunOverview:
    """Where a run stands; `keep=False` writes nothing into its folder."""
    stamp = stamp_run(folder)
    known = _read_known(folder, stamp)
    made = known or _describe(folder, read_events(folder)[0], stamp, keep=keep)
    state = made.state or ("running" if is_alive(folder) else "killed")
    if keep and known is None and state != "running":
        _keep(folder, stamp, made)
    return replace(made, state=state)


def stamp_run(folder: Path) -> Stamp:
    """Something that changes whenever the log of a run grows."""
    return [_stamp(folder / name) for name in (SCALARS, HEADS, EVENTS)]


def describe_without_index(folder: Path, events: Sequence[Event]) -> RunOverview:
    """What the events alone say: for a run whose index is still being made."""
    best = next((event for event in reversed(events) if event.kind == BEST), None)
    ending = find_ending(events) or ""
    written = [stamp[0] / 1e9 for stamp in stamp_run(folder) if stamp is not None]
    if ending and (ended := events[-1].time) is not None:  # files may have been copied since
        written = [ended]
    return RunOverview(
        name=folder.resolve().name,
        state=ending,
        last_step=max((event.step for event in events), default=0),
        started=next((event.time for event in events if event.time is not None), None),
        updated=max(written, default=0.0),
        alarms=len(join_alarms(events)),
        score_name=None if best is None else best.topic,
        score=None if best is None else best.value,
        loss=(),
        best_dev_loss=None,
        scalars={},
    )


def _describe(folder: Path, events: Sequence[Event], stamp: Stamp, *, keep: bool) -> RunOverview:
    overview = describe_without_index(folder, events)
    if stamp[0] is None and stamp[1] is None:
        return overview
    with open_run(folder, keep=keep) as run:
        names = run.names
        loss = run.series("loss", points=SPARK).mean[:, 0].tolist() if "loss" in names else ()
        dev = run.series("dev_loss", points=1).low[:, 0].tolist() if "dev_loss" in names else ()
        return replace(
            overview,
            last_step=max(run.last_step, 0),
            loss=tuple(map(_shorten, loss)),
            best_dev_loss=_finite(dev[0]) if dev else None,
            scalars={name: _finite(value) for name, value in run.last_values().items()},
        )


def _read_known(folder: Path, stamp: Stamp) -> RunOverview | None:
    try:
        kept = json.loads((folder / INDEX / FILE).read_text(encoding="utf-8"))
        if kept["version"] != VERSION or kept["stamp"] != stamp:
            return None
        overview: dict[str, Any] = kept["overview"] | {"loss": tuple(kept["overview"]["loss"])}
        return RunOverview(**overview | {"name": folder.resolve().name})  # a folder may be renamed
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(folder: Path, stamp: Stamp, overview: RunOverview) -> None:
    """Write it for the next time, in one piece; where that is not possible, it is made again."""
    path = folder / INDEX / FILE
    new = path.with_name(f".{FILE}.{os.getpid()}")
    text = json.dumps({"version": VERSION, "stamp": stamp, "overview": asdict(overview)}, allow_nan=False)
    try:
        new.write_text(text, encoding="utf-8")
        os.replace(new, path)
    except OSError:
        new.unlink(missing_ok=True)


def _stamp(path: Path) -> list[int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return [state.st_mtime_ns, state.st_size]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _shorten(value: float) -> float | None:
    return float(f"{value:.4g}") if math.isfinite(value) else None
