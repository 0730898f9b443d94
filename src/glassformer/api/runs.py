"""Training runs of one folder, for pages that follow them.

In:   a folder of runs (runlog), a step from which on news are wanted, how many points fit.
Out:  RunEntry and RunDescription for JSON. Logs that have not changed are not read again.
"""

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, Literal

import numpy as np

from glassformer.errors import ApiError, InputError
from glassformer.place import Place
from glassformer.recording.arrays import choose
from glassformer.runlog import (
    EVENTS,
    HEADS,
    SCALARS,
    Curve,
    Event,
    HeadHistory,
    RunLog,
    find_runs,
    is_run,
    read_run,
)
from glassformer.schema import Finite, MessageField, PlaceModel, ResponseModel

State = Literal["open", "finished", "stopped", "failed"]

MOST_OPEN = 16  # logs that stay in memory
LONGEST_RECIPE = 100_000  # characters
MOST_EVENTS = 2_000  # the last ones


class RunEntry(ResponseModel):
    """One run in a list."""

    id: str
    state: State  # open: running, or killed
    last_step: int
    updated: float  # seconds since 1970
    alarms: int


class RunCurve(ResponseModel):
    """One number over time."""

    steps: tuple[int, ...]
    values: tuple[Finite, ...]  # null where it was not finite


class RunHeads(ResponseModel):
    """Statistics of the heads of one map over time."""

    place: PlaceModel
    heads: int
    steps: tuple[int, ...]
    statistics: dict[str, tuple[tuple[Finite, ...], ...]]  # by name: (step, head)


class RunEvent(ResponseModel):
    """Something that happened once: an alarm, a start, a best score, an end."""

    step: int
    kind: str
    message: MessageField
    topic: str
    place: PlaceModel | None
    where: str  # in words, where the log names no place
    value: Finite
    time: float | None


class RunDescription(RunEntry):
    """One run as far as it was written."""

    curves: dict[str, RunCurve]
    heads: tuple[RunHeads, ...]
    events: tuple[RunEvent, ...]
    recipe: str
    environment: dict[str, Any]
    damaged: int  # lines that could not be read
    revision: int  # grows when the run is started or resumed: what was fetched before may be void
    since: int | None
    thinned: bool  # whether curves or heads have fewer points than the log


class Runs:
    """The runs of a folder. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: OrderedDict[str, tuple[object, RunLog]] = OrderedDict()  # least recently used first
        self._lock = threading.Lock()

    def entries(self) -> list[RunEntry]:
        """Every run, the one that was written to last first."""
        return [_describe_entry(self._read(path), path) for path in reversed(find_runs(self.folder))]

    def describe(self, id: str, since: int | None, points: int) -> RunDescription:
        """One run, from a step on; at most so many points of each curve."""
        path = self.folder / id
        if "/" in id or "\\" in id or "\0" in id or id in ("", ".", "..") or not is_run(path):
            raise ApiError("api.no_run", status=404, id=id[:80])
        return _describe_run(self._read(path), path, since, points)

    def _read(self, path: Path) -> RunLog:
        stamp = tuple(_stamp(path / name) for name in (SCALARS, HEADS, EVENTS))
        with self._lock:
            known = self._open.get(path.name)
            if known is not None and known[0] == stamp:
                self._open.move_to_end(path.name)
                return known[1]
        try:
            log = read_run(path)
        except InputError:  # removed meanwhile
            raise ApiError("api.no_run", status=404, id=path.name[:80]) from None
        with self._lock:
            self._open[path.name] = (stamp, log)
            self._open.move_to_end(path.name)
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
        return log


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size


def _describe_entry(log: RunLog, path: Path) -> RunEntry:
    stamps = [_stamp(path / name) for name in (SCALARS, HEADS, EVENTS)]
    state: Any = log.state
    return RunEntry(
        id=path.name,
        state=state,
        last_step=log.last_step,
        updated=max((stamp[0] for stamp in stamps if stamp is not None), default=0) / 1e9,
        alarms=len(log.alarms),
    )


def _describe_run(log: RunLog, path: Path, since: int | None, points: int) -> RunDescription:
    first = -1 if since is None else since
    curves = {name: _take_curve(curve, first, points) for name, curve in log.scalars.items()}
    heads = [_take_heads(place, history, first, max(2, points // 10)) for place, history in log.heads.items()]
    events = [event for event in log.events if event.step > first]
    return RunDescription(
        **dict(_describe_entry(log, path)),
        curves={name: curve for name, (curve, _) in curves.items() if curve.steps},
        heads=tuple(each for each, _ in heads if each.steps),
        events=tuple(map(_describe_event, events[-MOST_EVENTS:])),
        recipe=log.recipe[:LONGEST_RECIPE],
        environment=dict(log.environment),
        damaged=log.damaged,
        revision=sum(event.kind in ("started", "resumed") for event in log.events),
        since=since,
        thinned=any(thinned for _, thinned in (*curves.values(), *heads)),
    )


def _take_curve(curve: Curve, first: int, points: int) -> tuple[RunCurve, bool]:
    """The points after a step, spread evenly where there are too many; and whether there were."""
    new = np.flatnonzero(curve.steps > first)
    chosen = new[choose(len(new), points)]
    taken = RunCurve(steps=tuple(curve.steps[chosen].tolist()), values=tuple(curve.values[chosen].tolist()))
    return taken, len(chosen) < len(new)


def _take_heads(place: Place, history: HeadHistory, first: int, points: int) -> tuple[RunHeads, bool]:
    new = np.flatnonzero(history.steps > first)
    chosen = new[choose(len(new), points)]
    taken = RunHeads(
        place=PlaceModel.of(place),
        heads=history.heads,
        steps=tuple(history.steps[chosen].tolist()),
        statistics={
            name: tuple(map(tuple, values[chosen].tolist())) for name, values in history.statistics.items()
        },
    )
    return taken, len(chosen) < len(new)


def _describe_event(event: Event) -> RunEvent:
    place = event.find_place()
    return RunEvent(
        step=event.step,
        kind=event.kind,
        message=event.as_message(),
        topic=event.topic,
        place=None if place is None else PlaceModel.of(place),
        where="" if place is not None else event.place,
        value=event.value,
        time=event.time,
    )
