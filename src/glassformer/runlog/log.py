"""The log of one training run: curves, statistics of every head, alarms; readable while it is written.

In:   a folder `runs/<name>/`: recipe.toml, environment.json, data.json; files of JSON lines that only grow.
Out:  a `RunLog` of NumPy arrays; for training, a `RunWriter`.

Three rules keep it honest
- A line counts once it is whole. The last one may be torn (the run was killed, or is being written now);
  lines that cannot be read are counted in `damaged`, never guessed.
- Nothing is taken back. A run that resumes from step s writes the steps after s again, and what was written
  last counts: a line at step s makes every earlier line of a later step void.
- Numbers that are not finite are written as null and read as NaN.
"""

import json
import math
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.messages import Message, literal
from glassformer.messages.catalogues import find_template
from glassformer.place import Place
from glassformer.runlog.alarms import ALARM, Alarm, AlarmRecord, join_alarms
from glassformer.runlog.alive import Heartbeat, is_alive
from glassformer.runlog.blocks import TornIndexError
from glassformer.runlog.index import LogIndex
from glassformer.runlog.lines import as_number, is_count, read_map
from glassformer.runlog.run_index import HEADS, SCALARS, lock_index, open_indexes

EVENTS = "events.jsonl"
RECIPE, SETTINGS, ENVIRONMENT = "recipe.toml", "settings.json", "environment.json"
CHANCE = "chance_loss"  # in the environment: the loss of a guess that knows nothing, in nats
DATA = "data.json"  # what a run learns from: rows, classes, lengths, overlap of splits
BEST = "best"  # the kind of event whose topic and value are the score that decides and its best value so far
LAYER_NORM = "norm."  # curves "norm.encoder.3": how long the gradient of a layer is, every few steps
ENDINGS = ("finished", "stopped", "failed")  # kinds of event after which a run writes no more
DIGITS = 5  # significant ones of a head's statistics

Steps = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One number over time."""

    steps: Steps  # (point,)
    values: Values  # (point,) NaN where it was not finite

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened once: an alarm, a start, a best score, an end."""

    step: int
    kind: str
    message: str  # in English
    topic: str = ""  # of an alarm: "loss spike", "dead heads" …; of the end of a run: why it ended
    place: str = ""  # the address of an attention map; in logs of version 0.1 a description
    value: float | None = None
    time: float | None = None  # seconds since 1970
    code: str = ""  # of `message` in the catalogues; logs of version 0.1 have none
    parameters: Mapping[str, Any] | None = None  # of `message`, as JSON
    alarm: Mapping[str, Any] | None = (
        None  # of an alarm: an `AlarmRecord`, as JSON; logs of version 0.1 have none
    )

    @classmethod
    def from_message(
        cls,
        step: int,
        kind: str,
        message: Message,
        *,
        topic: str = "",
        place: Place | None = None,
        value: float | None = None,
        time: float | None = None,
        alarm: AlarmRecord | None = None,
    ) -> Self:
        """An event whose text is a message of the catalogues, where a place is named by its address."""
        address = "" if place is None else place.address
        parameters = _without_nan(message.to_json()["parameters"])
        record = None if alarm is None else alarm.to_json()
        return cls(
            step, kind, message.text("en"), topic, address, value, time, message.code, parameters, record
        )

    @property
    def is_alarm(self) -> bool:
        return self.kind == ALARM

    def as_message(self) -> Message:
        """The text for any language; that of an old log is what was written then."""
        if (
            not self.code or find_template(self.code, "en") is None
        ):  # an old log, or a code of another version
            return literal(self.message)
        try:
            return Message.from_json({"code": self.code, "parameters": self.parameters or {}})
        except (KeyError, TypeError, ValueError):
            return literal(self.message)

    def find_record(self) -> AlarmRecord | None:
        """Which alarm the event is about; None where it is about none, or of an old log."""
        return None if self.alarm is None else AlarmRecord.from_json(self.alarm)

    def find_place(self) -> Place | None:
        """The map that the event is about; None where there is none, or an old log describes it."""
        try:
            return Place.parse(self.place)
        except InputError:
            return None


@dataclass(frozen=True, slots=True, eq=False)
class HeadHistory:
    """The statistics of one map's heads over time."""

    steps: Steps  # (record,)
    statistics: Mapping[str, Values]  # by name: (record, head); NaN where undefined

    @property
    def heads(self) -> int:
        return next((int(values.shape[1]) for values in self.statistics.values()), 0)


@dataclass(frozen=True, slots=True, eq=False)
class RunLog:
    """One training run as far as it was written.

    >>> changes = {"train.steps": 2, "task.folder": ".", "task.path": "README.md"}  # any text of yours
    >>> outcome = gf.train("recipes/first.toml", changes, name="short", silent=True)
    >>> run = gf.read_run("runs/short")
    >>> run.state, run.last_step
    ('finished', 2)
    """

    name: str
    folder: Path
    scalars: Mapping[str, Curve]
    heads: Mapping[Place, HeadHistory]
    events: tuple[Event, ...]
    recipe: str
    environment: Mapping[str, Any]
    damaged: int  # lines that could not be read, a torn last one not counted
    data: Mapping[str, Any] = field(default_factory=dict)  # what it learns from; empty in older logs

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Every trouble that was found, from when it began until it passed."""
        return join_alarms(self.events)

    @property
    def last_step(self) -> int:
        return max((int(curve.steps[-1]) for curve in self.scalars.values() if len(curve)), default=0)

    @property
    def settings(self) -> Mapping[str, Any]:
        """All values of the recipe by their full names; empty where they cannot be read."""
        return read_object(self.folder / SETTINGS)

    @property
    def started(self) -> float | None:
        """When it was started, in seconds since 1970."""
        return next((event.time for event in self.events if event.time is not None), None)

    @property
    def updated(self) -> float:
        """When something was last written, in seconds since 1970."""
        paths = (self.folder / name for name in (SCALARS, HEADS, EVENTS))
        return max((path.stat().st_mtime for path in paths if path.is_file()), default=0.0)

    @property
    def state(self) -> str:
        """One of: running, finished, stopped, failed, killed (it ended without saying so)."""
        return find_state(self.folder, self.events)


def find_state(folder: Path, events: Sequence[Event]) -> str:
    """How a run stands; see `RunLog.state`."""
    return find_ending(events) or ("running" if is_alive(folder) else "killed")


def find_ending(events: Sequence[Event]) -> str | None:
    """How a run ended: finished, stopped or failed; None where it did not say so."""
    for event in reversed(events):
        if event.kind in ENDINGS:
            return event.kind
        if event.kind in ("started", "resumed"):
            break
    return None


def read_events(folder: Path) -> tuple[tuple[Event, ...], int]:
    """The events of a run, and how many lines could not be read."""
    damaged = 0

    def count() -> None:
        nonlocal damaged
        damaged += 1

    return tuple(_read_events(_read_lines(folder / EVENTS, count), count)), damaged


def is_run(folder: str | Path) -> bool:
    """Whether a folder holds the log of a run."""
    return (Path(folder) / EVENTS).is_file()


def find_runs(folder: str | Path = "runs") -> tuple[Path, ...]:
    """The runs in a folder of runs, the one that was written to last at the end."""
    return sort_by_time(Path(folder), EVENTS)


def read_run(folder: str | Path) -> RunLog:
    """Everything that was written so far.

    >>> changes = {"train.steps": 2, "task.folder": ".", "task.path": "README.md"}  # any text of yours
    >>> outcome = gf.train("recipes/first.toml", changes, name="short", silent=True)
    >>> sorted(gf.read_run("runs/short").scalars)
    """
    folder = Path(folder)
    if not is_run(folder):
        raise InputError("runlog.no_run", folder=folder, file=EVENTS)
    damaged = 0

    def count() -> None:
        nonlocal damaged
        damaged += 1

    scalars = _merge(_read_lines(folder / SCALARS, count))
    heads = _collect_heads(_read_lines(folder / HEADS, count), count)
    events = tuple(_read_events(_read_lines(folder / EVENTS, count), count))
    recipe, environment = folder / RECIPE, folder / ENVIRONMENT
    return RunLog(
        name=folder.resolve().name,
        folder=folder,
        scalars=_make_curves(scalars),
        heads=heads,
        events=events,
        recipe=recipe.read_text(encoding="utf-8") if recipe.is_file() else "",
        environment=read_object(environment),
        damaged=damaged,
        data=read_object(folder / DATA),
    )


class RunWriter:
    """Appends to a run's files, whole lines at a time; what a killed run tore is ended first."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._files = {name: _open_to_append(self.folder / name) for name in (SCALARS, HEADS, EVENTS)}
        self._lock: int | None = None
        self._indexes: dict[str, LogIndex] = {}
        self._open_indexes()
        self._heartbeat = Heartbeat(self.folder)

    def write_scalars(self, rows: Iterable[tuple[int, Mapping[str, float]]]) -> None:
        """Numbers of one or many steps; a step may be written to more than once, with other names."""
        self._append(SCALARS, ({"step": step} | _finite(values) for step, values in rows))

    def write_heads(self, step: int, maps: Mapping[Place, Mapping[str, Iterable[float]]]) -> None:
        """The statistics of every head: by map and name, one number for each head."""
        described = [
            {"stack": place.stack, "kind": place.kind, "layer": place.layer}
            | {name: [_shorten(value) for value in values] for name, values in statistics.items()}
            for place, statistics in maps.items()
        ]
        self._append(HEADS, [{"step": step, "maps": described}])

    def write_event(self, event: Event) -> None:
        fields = {name: getattr(event, name) for name in Event.__slots__}
        kept = {name: value for name, value in fields.items() if value not in ("", None)}
        self._append(EVENTS, [_finite(kept) | {"kind": event.kind}])

    def close(self) -> None:
        for number in self._files.values():
            os.close(number)
        self._files.clear()
        self._close_indexes()
        self._heartbeat.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, name: str, lines: Iterable[Mapping[str, Any]]) -> None:
        text = "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines)
        written = text.encode()
        rest = memoryview(written)
        while rest:  # a full disk may take a part
            rest = rest[os.write(self._files[name], rest) :]
        if not self._indexes and time.monotonic() > self._next_try:
            self._open_indexes()
        elif name in self._indexes:
            offset = os.fstat(self._files[name]).st_size - len(written)
            try:
                self._indexes[name].add(written, offset)
            except (OSError, TornIndexError):  # the log is what counts; the index is completed later
                self._close_indexes()

    def _open_indexes(self) -> None:
        """Complete and write the indexes, unless another process does so at the moment."""
        self._next_try = time.monotonic() + 1
        self._lock = lock_index(self.folder)
        if self._lock is not None:
            try:
                self._indexes = open_indexes(self.folder, writable=True)
            except (OSError, TornIndexError):
                self._close_indexes()

    def _close_indexes(self) -> None:
        for index in self._indexes.values():
            index.close()
        self._indexes = {}
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _open_to_append(path: Path) -> int:
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    size = os.fstat(number).st_size
    if size and os.pread(number, 1, size - 1) != b"\n":
        os.write(number, b"\n")
    return number


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in values.items()
    }


def _without_nan(value: Any) -> Any:
    """Parameters of a message as JSON can hold them: a number that is not finite becomes its text."""
    if isinstance(value, dict):
        return {name: _without_nan(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_nan(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _shorten(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def _read_lines(path: Path, damage: Callable[[], None]) -> Iterator[dict[str, Any]]:
    """The whole lines of a file: objects with a step."""
    if not path.is_file():
        return
    content = path.read_bytes()
    for line in content[: content.rfind(b"\n") + 1].splitlines():  # what follows the last line break is torn
        try:
            entry = json.loads(line)
            step = entry.get("step") if isinstance(entry, dict) else None
        except (ValueError, RecursionError):
            step = None
        if is_count(step):
            yield entry
        elif line.strip():
            damage()


def _merge(entries: Iterable[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """By step, in order; lines of one step are joined, and a line makes later steps void."""
    merged: dict[int, dict[str, Any]] = {}
    last = -1
    for entry in entries:
        step = entry.pop("step")
        if step < last:
            merged = {known: values for known, values in merged.items() if known <= step}
        last = step
        merged.setdefault(step, {}).update(entry)
    return merged


def _make_curves(merged: Mapping[int, Mapping[str, Any]]) -> dict[str, Curve]:
    points: dict[str, tuple[list[int], list[float]]] = {}
    for step, values in merged.items():
        for name, value in values.items():
            steps, numbers = points.setdefault(name, ([], []))
            steps.append(step)
            numbers.append(as_number(value))
    return {
        name: Curve(np.array(steps, dtype=np.int64), np.array(numbers, dtype=np.float64))
        for name, (steps, numbers) in points.items()
    }


def _collect_heads(entries: Iterable[dict[str, Any]], damage: Callable[[], None]) -> dict[Place, HeadHistory]:
    records: dict[Place, tuple[list[int], dict[str, list[Values]]]] = {}
    for step, entry in _merge(entries).items():
        try:
            maps = [read_map(described) for described in entry["maps"]]
        except (KeyError, TypeError, ValueError, OverflowError):
            damage()
            continue
        for place, statistics in maps:
            steps, known = records.setdefault(place, ([], {}))
            series = [*statistics.values(), *(each[0] for each in known.values())]
            if len({values.shape for values in series}) > 1:
                damage()
                continue
            unknown = np.full(series[0].shape if series else 0, np.nan)
            for name in statistics:
                if name not in known:  # older versions wrote others
                    known[name] = [unknown] * len(steps)
            steps.append(step)
            for name, values in known.items():
                values.append(statistics.get(name, unknown))
    return {
        place: HeadHistory(
            np.array(steps, dtype=np.int64), {name: np.stack(values) for name, values in known.items()}
        )
        for place, (steps, known) in sorted(records.items())
        if steps
    }


def _read_events(entries: Iterable[dict[str, Any]], damage: Callable[[], None]) -> list[Event]:
    events: list[Event] = []
    for entry in entries:
        if entry.get("kind") in ("started", "resumed"):  # what was said about later steps is void
            events = [event for event in events if event.step <= entry["step"]]
        try:
            events.append(_read_event(entry))
        except (TypeError, ValueError):
            damage()
    return events


def _read_event(entry: Mapping[str, Any]) -> Event:
    event = Event(**entry)
    texts = (event.kind, event.message, event.topic, event.place, event.code)
    numbers = (event.value, event.time)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a text is none")
    if any(number is not None and math.isnan(as_number(number)) for number in numbers):
        raise ValueError("a number is none")
    try:
        event.find_record()
    except KeyError as error:
        raise ValueError("a record of an alarm lacks something") from error
    return event


def read_object(path: Path) -> dict[str, Any]:
    """A file of one JSON object; empty where there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def sort_by_time(folder: Path, name: str) -> tuple[Path, ...]:
    """The folders in a folder that have a file of this name, the one written to last at the end."""
    found = []
    for path in folder.glob("*"):
        with suppress(OSError):  # none, or removed meanwhile
            about = (path / name).stat()
            if stat.S_ISREG(about.st_mode):
                found.append((about.st_mtime, path.name, path))
    return tuple(path for _, _, path in sorted(found))
