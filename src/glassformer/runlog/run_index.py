"""A run of any length, opened at once: series in few points, exact rows, events. Nothing is read whole.

In:   the folder of a run; its index, which training writes, or which is made now from the log.
Out:  a `RunIndex`: `series(name)` of a curve, `heads(place, statistic)` of all heads of a map.

One process at a time writes an index: the one that trains, or else one that opens the run and completes it.
Others read, and keep in memory what is not in the index yet.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Self

from glassformer.errors import InputError
from glassformer.place import Place
from glassformer.runlog.blocks import TornIndexError
from glassformer.runlog.index import LogIndex, Progress, Series, join_series, read_position
from glassformer.runlog.lines import parse_heads, parse_scalars

SCALARS, HEADS = "scalars.jsonl", "heads.jsonl"
INDEX, LOCK = "index", ".lock"
POINTS = 2_000  # of a series, unless asked otherwise
TRIES = 3  # where the log is cut while it is read
PARSERS = {SCALARS: parse_scalars, HEADS: parse_heads}


class RunIndex:
    """The log of one run through its index. Close it, or use it in a `with`.

    >>> changes = {"train.steps": 2, "task.folder": ".", "task.path": "README.md"}  # any text of yours
    >>> outcome = gf.train("recipes/first.toml", changes, name="short", silent=True)
    >>> with gf.open_run("runs/short") as run:
    ...     loss = run.series("loss")
    >>> loss.first.tolist(), loss.exact
    ([1, 2], True)
    """

    def __init__(self, folder: Path, progress: Progress | None = None) -> None:
        self.folder = folder
        self._progress = progress
        self._open()

    def _open(self, *, anew: bool = False) -> None:
        lock = lock_index(self.folder)
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
        columns = {}
        for number, key in enumerate(self.logs[SCALARS].groups):
            if name in key:
                place = key.index(name)
                columns[number] = (key, slice(place, place + 1))
        if not columns:
            raise InputError("runlog.no_series", name=name, known=list(self.names))
        return self._read(SCALARS, columns, start, stop, points)

    def heads(
        self,
        place: Place,
        statistic: str,
        start: int | None = None,
        stop: int | None = None,
        points: int = POINTS,
    ) -> Series:
        """A statistic of all heads of a map over time; columns are the heads."""
        columns = {}
        for number, key in enumerate(self.logs[HEADS].groups):
            before = 0
            for address, statistics, heads in key:
                if address == place.address and statistic in statistics:
                    begin = before + statistics.index(statistic) * heads
                    columns[number] = (key, slice(begin, begin + heads))
                before += len(statistics) * heads
        if not columns:
            raise InputError("runlog.no_statistic", place=place.address, statistic=statistic)
        most = max(part.stop - part.start for _, part in columns.values())
        columns = {number: each for number, each in columns.items() if each[1].stop - each[1].start == most}
        return self._read(HEADS, columns, start, stop, points)

    def _read(
        self,
        log: str,
        columns: dict[int, tuple[tuple[object, ...], slice]],
        start: int | None,
        stop: int | None,
        points: int,
    ) -> Series:
        for tried in range(TRIES):
            try:
                index = self.logs[log]
                parts = {
                    number: index.read(key, part, start, stop, points)
                    for number, (key, part) in columns.items()
                }
                return join_series(parts, points)
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


def open_run(folder: str | Path, progress: Progress | None = None) -> RunIndex:
    """Open the log of a run by its index; `progress` is told the share that is done while one is made.

    >>> changes = {"train.steps": 2, "task.folder": ".", "task.path": "README.md"}  # any text of yours
    >>> outcome = gf.train("recipes/first.toml", changes, name="short", silent=True)
    >>> with gf.open_run("runs/short") as run:
    ...     run.last_step
    2
    """
    folder = Path(folder)
    if not any((folder / name).is_file() for name in (SCALARS, HEADS)):
        raise InputError("runlog.no_run", folder=folder, file=SCALARS)
    return RunIndex(folder, progress)


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
