"""An index beside a log of JSON lines: any range of any series in few points, without reading the log.

In:   a log that only grows, and a function that reads one of its lines as named numbers.
Out:  `Series`: for each point the lowest, highest and mean value; the exact rows where few are asked for.

Lines with the same names are a group. For each group the index has a file of its rows (step, place in the
log) and files of blocks: of 32 rows, of 128, of 512 … A block knows first and last step and for every column
how many values it has, the lowest, the highest and their mean.

The log alone says what happened; the index only makes it quick to find. Its files are written after the lines
that they are about, so it may be behind the log: opening it reads the rest. Steps that are void in the log,
since a resumed run wrote them again, are cut off. An index that is damaged is removed and made again.
"""

import json
import os
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.runlog.blocks import (
    Records,
    Table,
    TornIndexError,
    block_dtype,
    check_cells,
    merge_cells,
    to_cells,
)

ROWS = 32  # in a block of the lowest level
FACTOR = 4  # blocks in a block of the next level
CHUNK = 8 << 20  # bytes of the log that are read at a time
MOST_EXACT = 8 << 20  # bytes of the log that are read for one answer
SAMPLES = 16  # rows that are compared with the log when an index is opened
ROW = np.dtype([("step", "<i8"), ("offset", "<i8")])
GROUPS = "groups.jsonl"
STATE = "state"  # how far the index is
DAMAGED = "damaged"  # the rows of lines that could not be read

Key = Any  # what the lines of a group have in common: can be hashed, and written as JSON
Parsed = tuple[int, Key, list[float]] | None  # step, key, values; None: a line that cannot be read
Progress = Callable[[float], None]  # the share that is done


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Values over steps, each point of one row or of many."""

    first: NDArray[np.int64]  # (point,) the first step of each point
    last: NDArray[np.int64]  # (point,) its last one
    low: NDArray[np.float64]  # (point, column) NaN where no value is finite
    high: NDArray[np.float64]
    mean: NDArray[np.float64]
    count: NDArray[np.int64]  # finite values
    exact: bool  # whether every point is one row

    def __len__(self) -> int:
        return len(self.first)

    def take(self, columns: slice) -> "Series":
        """Some of the columns."""
        low, high, mean = (values[:, columns] for values in (self.low, self.high, self.mean))
        return Series(self.first, self.last, low, high, mean, self.count[:, columns], self.exact)


class LogIndex:
    """The index of one log. With `writable` what is read from the log is kept for the next time."""

    def __init__(
        self,
        log: Path,
        folder: Path,
        parse: Callable[[bytes], Parsed],
        *,
        writable: bool,
        progress: Progress | None = None,
    ) -> None:
        self.log, self.folder, self.parse, self.writable = log, folder, parse, writable
        self.groups: dict[Key, Group] = {}
        self._log_file: int | None = None
        self._state_file: int | None = None
        try:
            self._open()
        except (TornIndexError, OSError, ValueError, KeyError, TypeError):
            self.start_anew()
        self.extend(progress)

    def extend(self, progress: Progress | None = None) -> None:
        """Read what was added to the log."""
        if self._log_file is None:
            if not self.log.is_file():
                return
            self._log_file = os.open(self.log, os.O_RDONLY)
        size = os.fstat(self._log_file).st_size
        rest = b""
        start = self.position  # of `rest`
        while start + len(rest) < size:
            rest += os.pread(self._log_file, CHUNK, start + len(rest))
            end = rest.rfind(b"\n") + 1
            self._add_lines(rest[:end], start)
            if not end and len(rest) >= size - start:
                break  # a torn last line
            rest, start = rest[end:], start + end
            self.flush()
            if progress is not None and size:
                progress(min(1.0, start / size))

    def add(self, lines: bytes, offset: int) -> None:
        """Lines that were just written to the log at this place."""
        if offset != self.position:  # something else wrote to the log
            self.extend()
            return
        self._add_lines(lines, offset)
        self.flush()

    def flush(self) -> None:
        """Write rows and blocks; after that, how many of them count and how far the log was read."""
        for group in self.groups.values():
            group.flush()
        self._damaged.flush()
        self._commit([len(group.rows) for group in self.groups.values()])

    def _commit(self, rows: list[int]) -> None:
        """Whoever opens the index later ignores what was written after this."""
        if not self.writable:
            return
        text = json.dumps([self.position, self._last, len(self._damaged), rows])
        if self._state_file is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._state_file = os.open(self.folder / STATE, os.O_RDWR | os.O_CREAT, 0o644)
        line = f"{zlib.crc32(text.encode()):08x} {text}\n"
        os.pwrite(self._state_file, line.encode(), 0)  # a longer one before leaves a rest behind the line

    @property
    def damaged(self) -> int:
        """How many lines could not be read."""
        return len(self._damaged)

    @property
    def last_step(self) -> int:
        """The step of the last row."""
        return self._last

    def read(
        self, key: Key, columns: slice, start: int | None, stop: int | None, points: int
    ) -> "tuple[Series, NDArray[np.int64]]":
        """Some columns of a group between two steps (both included), and where in the log exact rows are."""
        return self.groups[key].read(columns, start, stop, max(1, points))

    def read_last(self, key: Key) -> dict[Any, tuple[int, float]]:
        """Of each column of a group, the step and value of its last row."""
        series, _ = self.groups[key].read_last()
        return {
            name: (int(series.last[-1]), float(series.mean[-1, place]))
            for place, name in enumerate(key)
            if len(series)
        }

    def close(self) -> None:
        for group in self.groups.values():
            group.close()
        self._damaged.close()
        for number in (self._log_file, self._state_file):
            if number is not None:
                os.close(number)
        self._log_file = self._state_file = None

    def line(self, offset: int) -> bytes:
        """The line at a place of the log, without its end."""
        assert self._log_file is not None
        data, size = b"", 1 << 12
        while b"\n" not in data:
            more = os.pread(self._log_file, size, offset + len(data))
            if not more:
                raise TornIndexError  # the log has no line there
            data, size = data + more, 2 * size
        return data[: data.index(b"\n")]

    def lines(self, offsets: Sequence[int]) -> Iterator[bytes]:
        """The lines at some places, in one piece where they are close together."""
        if len(offsets) and offsets[-1] - offsets[0] <= MOST_EXACT:
            assert self._log_file is not None
            first = offsets[0]
            data = os.pread(self._log_file, offsets[-1] - first, first)
            for offset in offsets[:-1]:
                yield data[offset - first : data.index(b"\n", offset - first)]
            yield self.line(offsets[-1])
        else:
            yield from map(self.line, offsets)

    def _open(self) -> None:
        self._damaged = Table(self.folder / DAMAGED, ROW, writable=self.writable)
        self._last = -1
        self.position = 0
        if self.log.is_file():
            self._log_file = os.open(self.log, os.O_RDONLY)
        path = self.folder / GROUPS
        if path.is_file():
            content = path.read_bytes()
            for line in content[: content.rfind(b"\n") + 1].splitlines():
                key, columns = json.loads(line)
                self._add_group(_as_key(key), columns, known=True)
        if not self.groups:
            return
        counts = self._read_state()
        tables = [*(group.rows for group in self.groups.values()), self._damaged]
        for table, count in zip(tables, counts, strict=False):  # a group may be new
            if len(table) < count:
                raise TornIndexError  # rows are missing
            table.truncate(count)
        if self._log_file is None or os.fstat(self._log_file).st_size < self.position:
            raise TornIndexError  # the log is shorter than its index
        for group in self.groups.values():
            group.check()
            group.load_pending()

    def _read_state(self) -> list[int]:
        """How far the log was read; how many rows of each group count, then of damaged lines."""
        self.position, self._last, damaged, rows = _read_state(self.folder)
        if len(rows) > len(self.groups):
            raise TornIndexError  # groups are missing
        return [*rows, *[0] * (len(self.groups) - len(rows)), damaged]

    def start_anew(self) -> None:
        """Forget everything; `extend` reads the log from its beginning."""
        for group in self.groups.values():
            group.close()
        self.groups = {}
        self._damaged.close()
        if self._state_file is not None:
            os.close(self._state_file)
            self._state_file = None
        if self.writable:
            shutil.rmtree(self.folder, ignore_errors=True)
            self._damaged = Table(self.folder / DAMAGED, ROW, writable=True)
        else:  # in memory
            self.folder = self.folder / "none"
            self._damaged = Table(self.folder / DAMAGED, ROW, writable=False)
        self._last, self.position = -1, 0

    def _add_lines(self, lines: bytes, start: int) -> None:
        parse, groups = self.parse, self.groups
        place = start
        for line in lines.split(b"\n"):
            offset, place = place, place + len(line) + 1
            parsed = parse(line)
            if parsed is None:
                if line.strip():
                    self._damaged.append(np.array([(max(self._last, 0), offset)], ROW))
                continue
            step, key, values = parsed
            known = groups.get(key)
            if step < self._last:
                self._cut(step, known, offset)
            self._last = step
            if known is None:
                known = self._add_group(key, len(values), known=False)
            known.add(step, offset, values)
        self.position = start + len(lines)

    def _cut(self, step: int, own: "Group | None", offset: int) -> None:
        """Remove what a line at this place of the log makes void: later steps, and this one in its group."""
        counts = []
        for group in self.groups.values():
            group.flush()
            counts.append(group.find(step if group is own else step + 1))
        self._damaged.flush()
        self.position, self._last = offset, step
        self._commit(counts)
        for group, count in zip(self.groups.values(), counts, strict=True):
            group.cut(count)

    def _add_group(self, key: Key, columns: int, *, known: bool) -> "Group":
        number = len(self.groups)
        if not known and self.writable:
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / GROUPS).open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, columns]) + "\n")
        group = Group(self, self.folder / str(number), key, columns)
        self.groups[key] = group
        return group


class Group:
    """The rows of a log that have the same columns."""

    def __init__(self, index: LogIndex, path: Path, key: Key, columns: int) -> None:
        self.index, self.path, self.key, self.columns = index, path, key, columns
        self.rows = Table(path.with_suffix(".rows"), ROW, writable=index.writable)
        self.levels: list[Table] = []
        self._steps: list[int] = []  # rows that are not in a block yet …
        self._offsets: list[int] = []
        self._values: list[list[float]] = []
        while self._level_path(len(self.levels)).is_file():
            self._add_level(known=True)

    def add(self, step: int, offset: int, values: list[float]) -> None:
        """One row; a second one of the same step takes the place of the first."""
        if self._steps and self._steps[-1] == step:
            self._steps.pop()
            self._offsets.pop()
            self._values.pop()
            self.rows.truncate(self._blocked + len(self._steps))
        elif not self._steps and len(self.rows) and self._row(len(self.rows) - 1)["step"] == step:
            self.cut(len(self.rows) - 1)
        self._steps.append(step)
        self._offsets.append(offset)
        self._values.append(values)

    def cut(self, count: int) -> None:
        """Remove the rows after so many."""
        if count == len(self.rows):
            return
        for number, table in reversed(list(enumerate(self.levels))):
            table.truncate(count // _size(number))
        self.rows.truncate(count)
        self.load_pending()

    def flush(self) -> None:
        """Rows first, then whole blocks of them, then blocks of blocks."""
        new = len(self.rows) - self._blocked  # of the pending ones, how many are in the table already
        if len(self._steps) > new:
            rows = np.empty(len(self._steps) - new, ROW)
            rows["step"], rows["offset"] = self._steps[new:], self._offsets[new:]
            self.rows.append(rows)
        self.rows.flush()
        blocks = len(self._steps) // ROWS
        if blocks:
            taken = blocks * ROWS
            cells = to_cells(np.array(self._values[:taken], dtype=np.float64).reshape(taken, self.columns))
            starts = np.arange(0, taken, ROWS)
            steps = np.array(self._steps[:taken], dtype=np.int64)
            self._append(0, steps[starts], steps[starts + ROWS - 1], merge_cells(cells, starts))
            del self._steps[:taken], self._offsets[:taken], self._values[:taken]
        for level in self.levels:
            level.flush()

    def check(self) -> None:
        """Compare rows with the log, and the last blocks with the rows."""
        count = len(self.rows)
        for number, table in enumerate(self.levels):
            if len(table) > count // _size(number):  # it was killed while it was cut
                table.truncate(count // _size(number))
            if len(table):
                block = table.read(len(table) - 1, len(table))[0]
                row = self.rows.read((len(table) - 1) * _size(number), (len(table) - 1) * _size(number) + 1)[
                    0
                ]
                if block["first"] != row["step"]:
                    raise TornIndexError  # a block has other steps than its rows
                check_cells(block["cells"], _size(number))
        for place in np.unique(np.linspace(0, count - 1, min(count, SAMPLES)).astype(int)):
            row = self._row(int(place))
            parsed = self.index.parse(self.index.line(int(row["offset"])))
            if parsed is None or parsed[:2] != (int(row["step"]), self.key):
                raise TornIndexError  # a row is not where the index says

    def load_pending(self) -> None:
        """Read the rows after the last block again."""
        blocks = len(self.levels[0]) if self.levels else 0
        rows = self.rows.read(blocks * ROWS, len(self.rows))
        self._steps, self._offsets = rows["step"].tolist(), rows["offset"].tolist()
        self._values = self._read_values(self._offsets, slice(None)).tolist()
        for number in range(1, len(self.levels) + 1):  # blocks of blocks that were not written
            self._merge_into(number)

    def read(
        self, columns: slice, start: int | None, stop: int | None, points: int
    ) -> tuple[Series, NDArray[np.int64]]:
        """See `LogIndex.read`."""
        self.flush()
        first = 0 if start is None else self.find(start)
        end = len(self.rows) if stop is None else self.find(stop + 1)
        count = max(0, end - first)
        if count <= points or self._bytes(first, end) <= MOST_EXACT:
            rows = self.rows.read(first, first + count)
            steps, offsets = rows["step"].astype(np.int64), rows["offset"].astype(np.int64)
            cells = to_cells(self._read_values(offsets.tolist(), columns))
            segments = [(steps, steps, cells, np.ones(count, np.int64))]
        else:
            level = 0
            while count > 4 * points * _size(level) and level + 1 < len(self.levels):
                level += 1
            segments, offsets = list(self._decompose(first, end, level, columns)), np.empty(0, np.int64)
        firsts, lasts, cells, sizes = (np.concatenate(parts) for parts in zip(*segments, strict=True))
        if len(firsts) > points:
            before = np.cumsum(sizes) - sizes  # rows before each segment
            bucket = before * points // count
            starts = np.flatnonzero(np.diff(bucket, prepend=-1))
            ends = np.append(starts[1:], len(firsts)) - 1
            firsts, lasts, cells = firsts[starts], lasts[ends], merge_cells(cells, starts)
        series = Series(
            firsts, lasts, cells["low"], cells["high"], cells["mean"], cells["count"].astype(np.int64),
            exact=count <= points,
        )  # fmt: skip
        return series, offsets

    def read_last(self) -> tuple[Series, NDArray[np.int64]]:
        """The last row; nothing where there is none."""
        self.flush()
        last = int(self._row(len(self.rows) - 1)["step"]) if len(self.rows) else 0
        return self.read(slice(None), last, None, 1)

    def close(self) -> None:
        for table in (self.rows, *self.levels):
            table.close()

    @property
    def _blocked(self) -> int:
        return ROWS * len(self.levels[0]) if self.levels else 0

    def _decompose(
        self, first: int, end: int, level: int, columns: slice
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Records, NDArray[np.int64]]]:
        """Rows from one to another as blocks of this level, with smaller ones at both ends."""
        if first >= end:
            return
        if level < 0:
            rows = self.rows.read(first, end)
            cells = to_cells(self._read_values(rows["offset"].tolist(), columns))
            steps = rows["step"].astype(np.int64)
            yield steps, steps, cells, np.ones(end - first, np.int64)
            return
        size = _size(level)
        begin, after = -(-first // size), min(end // size, len(self.levels[level]))
        if begin >= after:
            yield from self._decompose(first, end, level - 1, columns)
            return
        yield from self._decompose(first, begin * size, level - 1, columns)
        ends, cells = self.levels[level].read_cells(begin, after, columns)
        check_cells(cells, size)
        sizes = np.full(after - begin, size, np.int64)
        yield ends["first"].astype(np.int64), ends["last"].astype(np.int64), cells, sizes
        yield from self._decompose(after * size, end, level - 1, columns)

    def _append(self, level: int, first: NDArray[np.int64], last: NDArray[np.int64], cells: Records) -> None:
        if level == len(self.levels):
            self._add_level()
        blocks = np.empty(len(first), block_dtype(self.columns))
        blocks["first"], blocks["last"], blocks["cells"] = first, last, cells
        self.levels[level].append(blocks)
        self._merge_into(level + 1)

    def _merge_into(self, level: int) -> None:
        done = len(self.levels[level]) if level < len(self.levels) else 0
        whole = len(self.levels[level - 1]) // FACTOR
        if whole > done:
            below = self.levels[level - 1].read(done * FACTOR, whole * FACTOR)
            starts = np.arange(0, len(below), FACTOR)
            cells = merge_cells(below["cells"], starts)
            self._append(level, below["first"][starts], below["last"][starts + FACTOR - 1], cells)

    def _add_level(self, *, known: bool = False) -> None:
        path = self._level_path(len(self.levels))
        table = Table(path, block_dtype(self.columns), writable=self.index.writable)
        if not known:
            table.truncate(0)  # of an index that was damaged
        self.levels.append(table)

    def _level_path(self, level: int) -> Path:
        return self.path.with_suffix(f".{level}")

    def find(self, step: int) -> int:
        """The first row of this step or a later one."""
        low, high = 0, len(self.rows)
        while low < high:
            middle = (low + high) // 2
            if int(self._row(middle)["step"]) < step:
                low = middle + 1
            else:
                high = middle
        return low

    def _bytes(self, first: int, end: int) -> int:
        return int(self._row(end - 1)["offset"] - self._row(first)["offset"])

    def _row(self, place: int) -> Any:
        return self.rows.read(place, place + 1)[0]

    def _read_values(self, offsets: Sequence[int], columns: slice) -> NDArray[np.float64]:
        width = len(range(*columns.indices(self.columns)))
        values = np.empty((len(offsets), width))
        for number, line in enumerate(self.index.lines(offsets)):
            parsed = self.index.parse(line)
            if parsed is None or parsed[1] != self.key:
                raise TornIndexError  # a row is not where the index says
            values[number] = parsed[2][columns]
        return values


def read_position(folder: Path) -> int:
    """How many bytes of its log an index knows."""
    try:
        return int(_read_state(folder)[0])
    except (TornIndexError, OSError, ValueError, IndexError, TypeError):
        return 0


def _read_state(folder: Path) -> Any:
    line = (folder / STATE).read_bytes().partition(b"\n")[0]
    checksum, _, text = line.partition(b" ")
    if int(checksum, 16) != zlib.crc32(text):
        raise TornIndexError  # the state of the index is damaged
    return json.loads(text)


def _size(level: int) -> int:
    """Rows in a block."""
    size: int = ROWS * FACTOR**level
    return size


def _as_key(value: Any) -> Key:
    """A key as it was before it became JSON: lists were tuples."""
    return tuple(map(_as_key, value)) if isinstance(value, list) else value


def join_series(parts: Sequence[tuple[Series, NDArray[np.int64]]], points: int) -> Series:
    """Series of one name from several groups, in order of steps; of exact rows of a step the last written."""
    found = [part for part in parts if len(part[0])]
    if len(found) == 1:
        return found[0][0]
    names = ("first", "last", "low", "high", "mean", "count")
    if not found:
        return parts[0][0]
    joined = {name: np.concatenate([getattr(series, name) for series, _ in found]) for name in names}
    exact = all(series.exact for series, _ in found)
    order = np.argsort(joined["first"], kind="stable")
    if exact:
        offsets = np.concatenate([offset for _, offset in found])
        order = np.lexsort((offsets, joined["first"]))
        steps = joined["first"][order]
        order = order[np.append(steps[1:] != steps[:-1], True)]
    joined = {name: values[order] for name, values in joined.items()}
    if len(order) > points:
        cells = np.empty(joined["low"].shape, to_cells(np.empty(0)).dtype)
        for name in ("low", "high", "mean", "count"):
            cells[name] = joined[name]
        starts = np.unique(np.arange(points) * len(order) // points)
        ends = np.append(starts[1:], len(order)) - 1
        cells = merge_cells(cells, starts)
        joined = {"first": joined["first"][starts], "last": joined["last"][ends]}
        joined |= {name: cells[name] for name in ("low", "high", "mean", "count")}
        exact = False
    return Series(
        joined["first"], joined["last"], joined["low"], joined["high"], joined["mean"],
        joined["count"].astype(np.int64), exact=exact,
    )  # fmt: skip
