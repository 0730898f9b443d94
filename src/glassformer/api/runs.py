"""Training runs of one folder and those that ship, for pages that follow them.

In:   folders of runs (runlog), a range of steps, how many points fit.
Out:  RunEntry, RunDescription and RunSeries for JSON. Logs are read through their indexes; where that of a
      long log has to be made first, a thread does so, and its progress is told.
"""

import math
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from glassformer.api.owners import Visibility
from glassformer.api.probes import ProbeStep, find_best, find_run, list_series
from glassformer.errors import ApiError, InputError
from glassformer.place import Place
from glassformer.runlog import (
    DATA,
    ENVIRONMENT,
    RECIPE,
    Alarm,
    Event,
    RunIndex,
    RunOverview,
    Series,
    count_unindexed,
    find_runs,
    find_state,
    is_run,
    open_run,
    read_events,
    read_overview,
)
from glassformer.runlog.alarms import ALARM_KINDS, join_alarms
from glassformer.runlog.log import read_object
from glassformer.runlog.overview import Stamp, describe_without_index, stamp_run
from glassformer.runlog.samples import read_samples
from glassformer.schema import Finite, MessageField, PlaceModel, ResponseModel

State = Literal["running", "killed", "finished", "stopped", "failed"]

Made = TypeVar("Made")

MOST_ENTRIES = 10_000  # that stay in memory
LONG = 64 << 20  # bytes without an index: more are read by a thread
LONGEST_RECIPE = 100_000  # characters
MOST_SAMPLED = 500  # evaluations
MOST_EVENTS = 2_000  # the last ones


class RunEntry(ResponseModel):
    """One run in a list."""

    id: str
    shipped: bool  # an example: it is only read
    state: State  # killed: it ended without writing an end
    last_step: int
    started: float | None  # seconds since 1970
    updated: float
    alarms: int
    score_name: str | None  # what decides which checkpoint is best
    score: Finite  # the best one so far
    loss: tuple[Finite, ...]  # means over equal stretches of steps, for a sparkline
    indexing: Finite  # the share of a long log that was read so far; null: all of it
    owner: str | None = None  # whose it is, on a server with users
    visibility: Visibility = "private"  # who else may read it, on a server with users


class RunMap(ResponseModel):
    """An attention map whose heads the monitor looks at."""

    place: PlaceModel
    heads: int
    statistics: tuple[str, ...]


class RunSeries(ResponseModel):
    """A curve, or a statistic of all heads of a map, between two steps.

    Where it is exact, every point is one row of the log: `last`, `low`, `high` and `count` are null.
    """

    exact: bool
    first: tuple[int, ...]  # of each point, its first step
    last: tuple[int, ...] | None
    mean: tuple[tuple[Finite, ...], ...]  # (point, head); a curve has one column
    low: tuple[tuple[Finite, ...], ...] | None
    high: tuple[tuple[Finite, ...], ...] | None
    count: tuple[tuple[int, ...], ...] | None  # finite values


class SeriesByName(ResponseModel):
    """Curves by name, or statistics by the address of their map."""

    series: dict[str, RunSeries]


class AlarmHeads(ResponseModel):
    """Heads of one map that an alarm is about; none: all of them, or not known."""

    place: PlaceModel
    heads: tuple[int, ...]


class RunAlarm(ResponseModel):
    """One trouble of a run, from when it began until it passed."""

    cause: str
    first_step: int
    last_step: int  # at which it showed, as far as was written
    passed_at: int | None  # the step at which it was found to be over; null: it is not
    message: MessageField  # what was seen, and what helps
    heads: tuple[AlarmHeads, ...]
    layers: tuple[str, ...]  # whose gradients it is about
    value: Finite


class RunEvent(ResponseModel):
    """Something that happened once: a start, a best score, an end, a note. Alarms are sent as `RunAlarm`."""

    step: int
    kind: str
    message: MessageField
    topic: str
    value: Finite
    time: float | None


class RunSample(ResponseModel):
    """One text, what the network made of it, and what was wanted, where that is known."""

    input: str
    output: str
    wanted: str | None


class SampledStep(ResponseModel):
    """What the network wrote or guessed at one evaluation."""

    step: int
    samples: tuple[RunSample, ...]


class RunSamples(ResponseModel):
    """What the network wrote or guessed at each evaluation."""

    steps: tuple[SampledStep, ...]


class RunDescription(RunEntry):
    """One run as far as it was written: everything but its numbers."""

    names: tuple[str, ...]  # of curves
    maps: tuple[RunMap, ...]
    alarm_list: tuple[RunAlarm, ...]
    events: tuple[RunEvent, ...]
    recipe: str
    environment: dict[str, Any]
    data: dict[str, Any]  # what it learns from: rows, classes, lengths, overlap of splits
    damaged: int  # lines that could not be read
    revision: int  # grows when the run is started or resumed: what was fetched before may be void
    probes: tuple[ProbeStep, ...]  # recordings of its first text, in order of steps
    checkpoint: bool  # whether it kept its best network, which jobs call "run:ID"


class _Events(NamedTuple):
    stamp: object  # of their file
    events: tuple[Event, ...]
    damaged: int


class Runs:
    """The runs of a folder, and examples that are only read. Safe to use from several threads."""

    def __init__(self, folder: Path, shipped: Path | None = None) -> None:
        self.folder = folder
        self.shipped = shipped
        self._entries: dict[str, tuple[Stamp, RunEntry]] = {}
        self._events: dict[str, _Events] = {}  # of runs that were described
        self._indexing: dict[str, float] = {}  # runs whose index is being made: the share that is done
        self._lock = threading.Lock()

    def entries(
        self, limit: int | None = None, sees: Callable[[str], bool] = lambda _: True
    ) -> list[RunEntry]:
        """Every run that is seen, or so many, the one that was written to last first; examples at the end."""
        own = find_runs(self.folder)[::-1]
        known = {path.name for path in own}
        shipped = [] if self.shipped is None else find_runs(self.shipped)
        examples = [path for path in shipped if path.name not in known]
        seen = [path for path in (*own, *examples) if sees(path.name)]
        return [self._find_entry(path) for path in seen[:limit]]

    def describe(self, id: str) -> RunDescription:
        """One run."""
        path = self._find(id)
        entry = self._find_entry(path)
        if entry.indexing is not None:
            raise ApiError("api.run_is_read", "busy", 503, id=id, share=entry.indexing)
        events = self._read_events(path)
        return self._with_run(id, lambda run: _describe_run(run, entry, events))

    def series(
        self, id: str, names: Iterable[str], start: int | None, stop: int | None, points: int
    ) -> SeriesByName:
        """Curves between two steps; all of them where none is named."""

        def read(run: RunIndex) -> SeriesByName:
            found = run.series_of(tuple(names) or run.names, start, stop, points)
            return SeriesByName(series={name: _describe_series(series) for name, series in found.items()})

        return self._with_run(id, read)

    def heads(
        self,
        id: str,
        statistic: str,
        places: Iterable[str],
        start: int | None,
        stop: int | None,
        points: int,
    ) -> SeriesByName:
        """A statistic of all heads between two steps, by map; of all maps where none is named."""
        wanted = [Place.parse(place) for place in places]

        middle: Literal["mean", "high"] = "high" if statistic == "twin" else "mean"  # a number has no mean

        def read(run: RunIndex) -> SeriesByName:
            found = run.heads_of(statistic, wanted, start, stop, points)
            series = {place.address: _describe_series(each, middle) for place, each in found.items()}
            return SeriesByName(series=series)

        return self._with_run(id, read)

    def samples(self, id: str) -> RunSamples:
        """What the network wrote at each evaluation, the last ones where there are many."""
        found = list(read_samples(self._find(id)).items())[-MOST_SAMPLED:]
        return RunSamples(
            steps=tuple(
                SampledStep(step=step, samples=tuple(RunSample(**each._asdict()) for each in samples))
                for step, samples in found
            )
        )

    def stamp(self, id: str) -> object:
        """Something that changes whenever the run does."""
        path = self._find(id)
        state = find_state(path, self._read_events(path).events)
        return (stamp_run(path), state, self._indexing.get(id))

    def _find(self, id: str) -> Path:
        path = find_run([self.folder, *([] if self.shipped is None else [self.shipped])], id)
        if path is None:
            raise ApiError("api.no_run", status=404, id=id[:80])
        return path

    def is_shipped(self, id: str) -> bool | None:
        """Whether a run is an example; None where there is no such run."""
        path = find_run([self.folder, *([] if self.shipped is None else [self.shipped])], id)
        return None if path is None else self._is_shipped(path)

    def _is_shipped(self, path: Path) -> bool:
        return path.parent == self.shipped

    def _with_run(self, id: str, make: Callable[[RunIndex], Made]) -> Made:
        path = self._find(id)
        if (share := self._index_first(path)) is not None:
            raise ApiError("api.run_is_read", "busy", 503, id=id, share=share)
        try:
            with open_run(path, keep=not self._is_shipped(path)) as run:
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

    def _read_events(self, path: Path) -> _Events:
        """The events of a run, read again once their file has changed."""
        stamp = stamp_run(path)[-1]
        known = self._events.get(path.name)
        if known is None or known.stamp != stamp:
            known = _Events(stamp, *read_events(path))
            if len(self._events) >= MOST_ENTRIES:
                self._events.clear()
            self._events[path.name] = known
        return known

    def _find_entry(self, path: Path) -> RunEntry:
        stamp = stamp_run(path)
        with self._lock:
            known = self._entries.get(path.name)
        if known is not None and known[0] == stamp and known[1].state not in ("running", "killed"):
            return known[1]  # it has ended, and wrote nothing since
        shipped = self._is_shipped(path)
        if (share := self._index_first(path)) is not None:
            events = self._read_events(path).events
            overview = describe_without_index(path, events)
            return _describe_entry(path.name, overview, find_state(path, events), share, shipped=shipped)
        overview = read_overview(path, keep=not shipped)
        entry = _describe_entry(path.name, overview, overview.state, None, shipped=shipped)
        with self._lock:
            if len(self._entries) >= MOST_ENTRIES:
                self._entries.clear()
            self._entries[path.name] = (stamp, entry)
        return entry


def _describe_entry(
    id: str, overview: RunOverview, state: str, indexing: float | None, *, shipped: bool
) -> RunEntry:
    return RunEntry(
        id=id,
        shipped=shipped,
        state=cast(State, state),
        last_step=overview.last_step,
        started=overview.started,
        updated=overview.updated,
        alarms=overview.alarms,
        score_name=overview.score_name,
        score=overview.score,
        loss=overview.loss,
        indexing=indexing,
    )


def _describe_run(run: RunIndex, entry: RunEntry, read: _Events) -> RunDescription:
    maps = (
        RunMap(place=PlaceModel.of(place), heads=heads, statistics=statistics)
        for place, (statistics, heads) in run.maps.items()
    )
    events = [event for event in read.events if event.kind not in ALARM_KINDS]
    return RunDescription(
        **dict(entry),
        names=run.names,
        maps=tuple(maps),
        alarm_list=tuple(map(_describe_alarm, join_alarms(read.events)[-MOST_EVENTS:])),
        events=tuple(map(_describe_event, events[-MOST_EVENTS:])),
        recipe=_read_text(run.folder / RECIPE)[:LONGEST_RECIPE],
        environment=read_object(run.folder / ENVIRONMENT),
        data=read_object(run.folder / DATA),
        damaged=run.damaged + read.damaged,
        revision=sum(event.kind in ("started", "resumed") for event in read.events),
        probes=next(iter(list_series(run.folder).values()), ()),
        checkpoint=find_best(run.folder) is not None,
    )


def _describe_alarm(alarm: Alarm) -> RunAlarm:
    heads = (AlarmHeads(place=PlaceModel.of(place), heads=heads) for place, heads in alarm.heads.items())
    return RunAlarm(
        cause=alarm.cause,
        first_step=alarm.first_step,
        last_step=alarm.last_step,
        passed_at=alarm.passed_at,
        message=alarm.message,
        heads=tuple(heads),
        layers=alarm.layers,
        value=alarm.value,
    )


def _describe_event(event: Event) -> RunEvent:
    return RunEvent(
        step=event.step,
        kind=event.kind,
        message=event.as_message(),
        topic=event.topic,
        value=event.value,
        time=event.time,
    )


def _describe_series(series: Series, mean: Literal["mean", "high"] = "mean") -> RunSeries:
    values = series.high if mean == "high" else series.mean
    first = tuple(series.first.tolist())
    if series.exact:
        rows = tuple(map(tuple, values.tolist()))
        return RunSeries(exact=True, first=first, last=None, mean=rows, low=None, high=None, count=None)
    known = np.isfinite(series.low) & np.isfinite(series.high)
    reach = float(np.ptp(np.stack([series.low[known], series.high[known]]))) if known.any() else 0.0
    return RunSeries(
        exact=False,
        first=first,
        last=tuple(series.last.tolist()),
        mean=_shorten(values, reach),
        low=_shorten(series.low, reach),
        high=_shorten(series.high, reach),
        count=tuple(map(tuple, series.count.tolist())),
    )


def _shorten(values: NDArray[np.float64], reach: float) -> tuple[tuple[float | None, ...], ...]:
    """Rows of numbers, rounded to a millionth of what they reach over: a summary needs no more."""
    places = 6 - math.floor(math.log10(reach)) if reach > 0 and math.isfinite(reach) else 15
    return tuple(map(tuple, np.round(values, min(places, 15)).tolist()))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
