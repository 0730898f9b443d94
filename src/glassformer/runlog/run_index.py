"""A run of any length, opened at once: series in few points, exact rows, events. Nothing is read whole.

In:   the folder of a run; its index, which training writes, or which is made now from the log.
Out:  a `RunIndex`: `series(name)` of a curve, `heads(place, statistic)` of all heads of a map.

One process at a time writes an index: the one that trains, or else one that opens the run and completes it.
Others read, and keep in memory what is not in the index yet.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.place import Place
from glassformer.runlog.blocks import CELL, TornIndexError
from glassformer.runlog.index import FACTOR, Key, LogIndex, Progress, Series, join_series, read_position
from glassformer.runlog.lines import parse_heads, parse_scalars

SCALARS, HEADS = "scalars.jsonl", "heads.jsonl"
INDEX, LOCK = "index", ".lock"
POINTS = 2_000  # of a series, unless asked otherwise
TRIES = 3  # where the log is cut while it is read
MOST_TOGETHER = 64 << 20  # bytes of blocks that are read at a time for several series
PARSERS = {SCALARS: parse_scalars, HEADS: parse_heads}

Name = TypeVar("Name")  # of a series


class RunIndex:
    """The log of one run through its index. Close it, or use it in a `with`.

    >>> changes = {"train.steps": 2, "task.folder": ".", "task.path": "README.md"}  # any text of yours
    >>> outcome = gf.train("recipes/first.toml", changes, name="short", silent=True)
    >>> with gf.open_run("runs/short") as run:
    ...     loss = run.series("loss")
    >>> loss.first.tolist(), loss.exact
    ([1, 2], True)
    """

    def __init__(self, folder: Path, progress: Progress | None = None, *, keep: bool = True) -> None:
        self.folder = folder
        self._keep = keep
        self._progress = progress
        self._open()

    def _open(self, *, anew: bool = False) -> None:
        lock = lock_index(self.folder) if self._keep else None
        if lock is not None:  # nobody writes the index: complete it
            try:
                for log in open_indexes(self.folder, writable=True, progress=self._progress).values():
                    if anew:
                        log.start_anew()
                        log.extend(self._progress)
                    log.close()
            except (OSError, TornIndexError):  # a full disk; a log that is cut at this moment
                pass
            finally:
                os.close(lock)
        self.logs = open_indexes(self.folder, writable=False, progress=self._progress)

    def refresh(self) -> None:
        """Read what was written since."""
        self.close()
        self._open()

    @property
    def names(self) -> tuple[str, ...]:
        """The curves, in the order in which they began."""
        return tuple(dict.fromkeys(name for key in self.logs[SCALARS].groups for name in key))

    @property
    def maps(self) -> dict[Place, tuple[tuple[str, ...], int]]:
        """For each map that was watched, its statistics and how many heads it has."""
        found: dict[Place, tuple[tuple[str, ...], int]] = {}
        for key in self.logs[HEADS].groups:
            for address, statistics, heads in key:
                place = Place.parse(address)
                known = found.get(place, ((), 0))
                found[place] = tuple(dict.fromkeys((*known[0], *statistics))), max(heads, known[1])
        return dict(sorted(found.items()))

    @property
    def last_step(self) -> int:
        """The last step with a number."""
        return max(0, *(log.last_step for log in self.logs.values()))

    @property
    def damaged(self) -> int:
        """Lines that could not be read."""
        return sum(log.damaged for log in self.logs.values())

    def series(
        self, name: str, start: int | None = None, stop: int | None = None, points: int = POINTS
    ) -> Series:
        """A curve between two steps, both included, in at most so many points; columns are its one value."""
        return self.series_of((name,), start, stop, points)[name]

    def series_of(
        self,
        names: Iterable[str],
        start: int | None = None,
        stop: int | None = None,
        points: int = POINTS,
    ) -> dict[str, Series]:
        """Several curves between two steps, read together."""
        wanted: dict[str, dict[Key, slice]] = {name: {} for name in names}
        for key in self.logs[SCALARS].groups:
            for place, name in enumerate(key):
                if name in wanted:
                    wanted[name][key] = slice(place, place + 1)
        for name, columns in wanted.items():
            if not columns:
                raise InputError("runlog.no_series", name=name, known=list(self.names))
        return self._read(SCALARS, wanted, start, stop, points)

    def heads(
        self,
        place: Place,
        statistic: str,
        start: int | None = None,
        stop: int | None = None,
        points: int = POINTS,
    ) -> Series:
        """A statistic of all heads of a map over time; columns are the heads."""
        return self.heads_of(statistic, (place,), start, stop, points)[place]

    def heads_of(
        self,
        statistic: str,
        places: Iterable[Place] = (),
        start: int | None = None,
        stop: int | None = None,
        points: int = POINTS,
    ) -> dict[Place, Series]:
        """A statistic of the heads of several maps, read together; of all maps where none is named."""
        chosen = {place.address: place for place in places}
        found: dict[str, dict[Key, slice]] = {address: {} for address in chosen}
        for key in self.logs[HEADS].groups:
            before = 0
            for address, statistics, heads in key:
                if statistic in statistics and (not chosen or address in chosen):
                    begin = before + statistics.index(statistic) * heads
                    found.setdefault(address, {})[key] = slice(begin, begin + heads)
                before += len(statistics) * heads
        missing = [address for address, columns in found.items() if not columns]
        if missing or not found:
            raise InputError("runlog.no_statistic", place=", ".join(missing), statistic=statistic)
        wanted = {}
        for address, columns in sorted((Place.parse(address), columns) for address, columns in found.items()):
            most = max(part.stop - part.start for part in columns.values())
            wanted[address] = {key: part for key, part in columns.items() if part.stop - part.start == most}
        return self._read(HEADS, wanted, start, stop, points)

    def last_values(self) -> dict[str, float]:
        """The last value of every curve."""
        found: dict[str, tuple[int, float]] = {}
        for series in (self.logs[SCALARS].read_last(key) for key in self.logs[SCALARS].groups):
            for name, (step, value) in series.items():
                if name not in found or found[name][0] <= step:
                    found[name] = step, value
        return {name: found[name][1] for name in self.names if name in found}

    def _read(
        self,
        log: str,
        wanted: Mapping[Name, Mapping[Key, slice]],
        start: int | None,
        stop: int | None,
        points: int,
    ) -> dict[Name, Series]:
        for tried in range(TRIES):
            try:
                return _read_together(self.logs[log], wanted, start, stop, points)
            except (TornIndexError, KeyError):
                if tried + 1 == TRIES:
                    raise
                self.close()  # it was cut by the process that trains, or is damaged
                self._open(anew=True)
        raise AssertionError

    def close(self) -> None:
        for log in self.logs.values():
            log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_run(folder: str | Path, progress: Progress | None = None, *, keep: bool = True) -> RunIndex:
    """Open the log of a run by its index; `progress` is called with the share that is done while one is made.

    An index that is missing is written beside the log; with `keep=False` it stays in memory.

    >>> changes = {"train.steps": 2, "task.folder": ".", "task.path": "README.md"}  # any text of yours
    >>> outcome = gf.train("recipes/first.toml", changes, name="short", silent=True)
    >>> with gf.open_run("runs/short") as run:
    ...     run.last_step
    2
    """
    folder = Path(folder)
    if not any((folder / name).is_file() for name in (SCALARS, HEADS)):
        raise InputError("runlog.no_run", folder=folder, file=SCALARS)
    return RunIndex(folder, progress, keep=keep)


def open_indexes(folder: Path, *, writable: bool, progress: Progress | None = None) -> dict[str, LogIndex]:
    """The indexes of a run's logs, by the names of the logs."""
    sizes = {name: path.stat().st_size if (path := folder / name).is_file() else 0 for name in PARSERS}
    total, before = max(1, sum(sizes.values())), 0
    found = {}
    for name, parse in PARSERS.items():
        part = None if progress is None else _scale(progress, before / total, sizes[name] / total)
        place = folder / INDEX / name.removesuffix(".jsonl")
        found[name] = LogIndex(folder / name, place, parse, writable=writable, progress=part)
        before += sizes[name]
    return found


def _read_together(
    index: LogIndex,
    wanted: Mapping[Name, Mapping[Key, slice]],
    start: int | None,
    stop: int | None,
    points: int,
) -> dict[Name, Series]:
    """Series by name from the columns of some groups; all columns of a group are read at once where few."""
    parts: dict[Name, list[tuple[Series, NDArray[np.int64]]]] = {name: [] for name in wanted}
    for key in {key: None for columns in wanted.values() for key in columns}:
        columns = {name: each[key] for name, each in wanted.items() if key in each}
        first = min(part.start for part in columns.values())
        last = max(part.stop for part in columns.values())
        if (last - first) * CELL.itemsize * FACTOR * points <= MOST_TOGETHER:
            whole, offsets = index.read(key, slice(first, last), start, stop, points)
            for name, part in columns.items():
                parts[name].append((whole.take(slice(part.start - first, part.stop - first)), offsets))
        else:
            for name, part in columns.items():
                parts[name].append(index.read(key, part, start, stop, points))
    return {name: join_series(found, points) for name, found in parts.items()}


def count_unindexed(folder: Path) -> int:
    """Bytes of the logs that an index does not know yet; reading them takes a while where they are many."""
    missing = 0
    for name in PARSERS:
        path = folder / name
        size = path.stat().st_size if path.is_file() else 0
        missing += max(0, size - read_position(folder / INDEX / name.removesuffix(".jsonl")))
    return missing


def lock_index(folder: Path) -> int | None:
    """The right to write the index of a run, as an open file; None where another process has it."""
    try:
        import fcntl

        (folder / INDEX).mkdir(exist_ok=True)
        number = os.open(folder / INDEX / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(number)
        return None
    return number


def _scale(progress: Progress, before: float, share: float) -> Callable[[float], None]:
    return lambda done: progress(before + share * done)
