"""Training runs of one folder, for pages that follow them.

In:   a folder of runs (runlog), a step from which on news are wanted, how many points fit.
Out:  RunEntry, RunDescription and RunSeries for JSON. Logs are read through their indexes; where that of a
      long log has to be made first, a thread does so, and its progress is told.
"""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from glassformer.api.probes import find_run
from glassformer.errors import ApiError, InputError
from glassformer.place import Place
from glassformer.runlog import (
    BEST,
    ENVIRONMENT,
    EVENTS,
    HEADS,
    RECIPE,
    SCALARS,
    Event,
    RunIndex,
    Series,
    count_unindexed,
    find_runs,
    find_state,
    is_run,
    open_run,
    read_events,
)
from glassformer.runlog.alarms import join_alarms
from glassformer.schema import Finite, MessageField, PlaceModel, ResponseModel

State = Literal["running", "killed", "finished", "stopped", "failed"]

Made = TypeVar("Made")

SPARK = 60  # points of the loss in the list
MOST_ENTRIES = 1_000  # that stay in memory
LONG = 64 << 20  # bytes without an index: more are read by a thread
LONGEST_RECIPE = 100_000  # characters
MOST_EVENTS = 2_000  # the last ones


class RunEntry(ResponseModel):
    """One run in a list."""

    id: str
    state: State  # killed: it ended without writing an end
    last_step: int
    started: float | None  # seconds since 1970
    updated: float
    alarms: int
    score_name: str | None  # what decides which checkpoint is best
    score: Finite  # the best one so far
    loss: tuple[Finite, ...]  # means over equal stretches of steps, for a sparkline
    indexing: Finite  # the share of a long log that was read so far; null: all of it


class RunCurve(ResponseModel):
    """One number over time; where points are of several steps, their first step and their mean."""

    steps: tuple[int, ...]
    values: tuple[Finite, ...]  # null where it was not finite


class RunHeads(ResponseModel):
    """Statistics of the heads of one map over time."""

    place: PlaceModel
    heads: int
    steps: tuple[int, ...]
    statistics: dict[str, tuple[tuple[Finite, ...], ...]]  # by name: (step, head)


class RunSeries(ResponseModel):
    """A curve, or a statistic of all heads of a map, between two steps."""

    first: tuple[int, ...]  # of each point, its first step
    last: tuple[int, ...]
    mean: tuple[tuple[Finite, ...], ...]  # (point, head); a curve has one column
    low: tuple[tuple[Finite, ...], ...]
    high: tuple[tuple[Finite, ...], ...]
    count: tuple[tuple[int, ...], ...]  # finite values
    exact: bool  # whether every point is one row of the log


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
        self._entries: dict[str, tuple[object, RunEntry]] = {}
        self._indexing: dict[str, float] = {}  # runs whose index is being made: the share that is done
        self._lock = threading.Lock()

    def entries(self) -> list[RunEntry]:
        """Every run, the one that was written to last first."""
        return [self._find_entry(path) for path in reversed(find_runs(self.folder))]

    def describe(self, id: str, since: int | None, points: int) -> RunDescription:
        """One run, from a step on; at most so many points of each curve."""
        path = self._find(id)
        entry = self._find_entry(path)
        if entry.indexing is not None:
            raise ApiError("api.run_is_read", "busy", 503, id=id, share=entry.indexing)
        return self._with_run(id, lambda run: _describe_run(run, entry, since, points))

    def series(self, id: str, name: str, start: int | None, stop: int | None, points: int) -> RunSeries:
        """A curve between two steps."""
        return self._with_run(id, lambda run: _describe_series(run.series(name, start, stop, points)))

    def heads(
        self, id: str, place: str, statistic: str, start: int | None, stop: int | None, points: int
    ) -> RunSeries:
        """A statistic of all heads of a map between two steps."""
        where = Place.parse(place)
        return self._with_run(
            id, lambda run: _describe_series(run.heads(where, statistic, start, stop, points))
        )

    def stamp(self, id: str) -> object:
        """Something that changes whenever the run does."""
        path = self._find(id)
        return (*_stamp_files(path), self._find_state(path), self._indexing.get(id))

    def _find(self, id: str) -> Path:
        path = find_run(self.folder, id)
        if path is None:
            raise ApiError("api.no_run", status=404, id=id[:80])
        return path

    def _with_run(self, id: str, make: Callable[[RunIndex], Made]) -> Made:
        path = self._find(id)
        if (share := self._index_first(path)) is not None:
            raise ApiError("api.run_is_read", "busy", 503, id=id, share=share)
        try:
            with open_run(path) as run:
                return make(run)
        except InputError as error:
            if not is_run(path):  # removed meanwhile
                raise ApiError("api.no_run", status=404, id=path.name[:80]) from None
            raise ApiError(error.message.code, status=404, **error.message.parameters) from error

    def _index_first(self, path: Path) -> float | None:
        """Where much of a log has no index yet, the share that a thread has read so far."""
        with self._lock:
            if path.name not in self._indexing:
                if count_unindexed(path) < LONG:
                    return None
                self._indexing[path.name] = 0.0
                threading.Thread(target=self._index, args=(path,), daemon=True).start()
            return self._indexing[path.name]

    def _index(self, path: Path) -> None:
        def tell(share: float) -> None:
            self._indexing[path.name] = share

        try:
            open_run(path, tell).close()
        except (InputError, OSError):  # removed meanwhile
            pass
        finally:
            with self._lock:
                del self._indexing[path.name]

    def _find_state(self, path: Path) -> str:
        return find_state(path, read_events(path)[0])

    def _find_entry(self, path: Path) -> RunEntry:
        stamp = (*_stamp_files(path), self._find_state(path))
        share = self._index_first(path)
        with self._lock:
            known = self._entries.get(path.name)
            if known is not None and known[0] == stamp and share is None:
                return known[1]
        entry = _describe_entry(path, share)
        if share is not None:
            return entry
        with self._lock:
            if len(self._entries) >= MOST_ENTRIES:
                self._entries.clear()
            self._entries[path.name] = (stamp, entry)
        return entry


def _stamp_files(path: Path) -> tuple[tuple[int, int] | None, ...]:
    return tuple(_stamp(path / name) for name in (SCALARS, HEADS, EVENTS))


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size


def _describe_entry(path: Path, indexing: float | None) -> RunEntry:
    events, _ = read_events(path)
    best = next((event for event in reversed(events) if event.kind == BEST), None)
    state: Any = find_state(path, events)
    last_step, losses = max((event.step for event in events), default=0), ()
    if indexing is None and _stamp(path / SCALARS):
        with open_run(path) as run:
            last_step = run.last_step
            if "loss" in run.names:
                losses = tuple(run.series("loss", points=SPARK).mean[:, 0].tolist())
    return RunEntry(
        id=path.name,
        state=state,
        last_step=last_step,
        started=next((event.time for event in events if event.time is not None), None),
        updated=max((stamp[0] for stamp in _stamp_files(path) if stamp is not None), default=0) / 1e9,
        alarms=len(join_alarms(events)),
        score_name=None if best is None else best.topic,
        score=None if best is None else best.value,
        loss=losses,
        indexing=indexing,
    )


def _describe_run(run: RunIndex, entry: RunEntry, since: int | None, points: int) -> RunDescription:
    first = None if since is None else since + 1
    curves = {name: _take_curve(run, name, first, points) for name in run.names}
    events, damaged = read_events(run.folder)
    heads = []
    thinned = any(not exact for _, exact in curves.values())
    for place, (statistics, count) in run.maps.items():
        found = {name: run.heads(place, name, first, None, max(2, points // 10)) for name in statistics}
        history = next(iter(found.values()))
        thinned |= not history.exact
        if len(history):
            heads.append(
                RunHeads(
                    place=PlaceModel.of(place),
                    heads=count,
                    steps=tuple(history.first.tolist()),
                    # The number of a head has no mean.
                    statistics={
                        name: _rows(values.high if name == "twin" else values.mean)
                        for name, values in found.items()
                    },
                )
            )
    new = [event for event in events if since is None or event.step > since]
    return RunDescription(
        **dict(entry),
        curves={name: curve for name, (curve, _) in curves.items() if curve.steps},
        heads=tuple(heads),
        events=tuple(map(_describe_event, new[-MOST_EVENTS:])),
        recipe=_read_text(run.folder / RECIPE)[:LONGEST_RECIPE],
        environment=_read_object(run.folder / ENVIRONMENT),
        damaged=run.damaged + damaged,
        revision=sum(event.kind in ("started", "resumed") for event in events),
        since=since,
        thinned=thinned,
    )


def _take_curve(run: RunIndex, name: str, first: int | None, points: int) -> tuple[RunCurve, bool]:
    """At most so many points, and whether these are all; if not, the lowest and highest of each stretch."""
    series = run.series(name, first, None, points)
    if series.exact:
        curve = RunCurve(steps=tuple(series.first.tolist()), values=tuple(series.mean[:, 0].tolist()))
        return curve, True
    series = run.series(name, first, None, max(1, points // 2))
    steps = np.stack([series.first, series.last], axis=1)
    values = np.stack([series.low[:, 0], series.high[:, 0]], axis=1)
    kept = np.stack(
        [np.full(len(series), True), series.last > series.first], axis=1
    )  # a single row is one point
    return RunCurve(steps=tuple(steps[kept].tolist()), values=tuple(values[kept].tolist())), False


def _describe_series(series: Series) -> RunSeries:
    return RunSeries(
        first=tuple(series.first.tolist()),
        last=tuple(series.last.tolist()),
        mean=_rows(series.mean),
        low=_rows(series.low),
        high=_rows(series.high),
        count=tuple(map(tuple, series.count.tolist())),
        exact=series.exact,
    )


def _rows(values: Any) -> tuple[tuple[float | None, ...], ...]:
    return tuple(map(tuple, values.tolist()))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _read_object(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(_read_text(path))
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


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
