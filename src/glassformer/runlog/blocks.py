"""Records of numbers in a file, and blocks of rows: how many are known, the lowest, highest and mean value.

In:   rows in order; records of one size, appended to a file.
Out:  any stretch of them; blocks of blocks, until few enough are left to be drawn.
"""

import os
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

CELL = np.dtype([("low", "<f8"), ("high", "<f8"), ("mean", "<f8"), ("count", "<u4")])
MOST_READ = 16 << 20  # bytes that are read in one piece where only a part of each record is wanted

Records = NDArray[Any]


class TornIndexError(Exception):
    """A file of the index is not what it should be: it is damaged, or was cut while it was read."""


class Table:
    """Records of one size: those in a file, and newer ones in memory until they are written."""

    def __init__(self, path: Path, dtype: np.dtype[Any], *, writable: bool) -> None:
        self.path, self.dtype, self.writable = path, dtype, writable
        self._file = _open(path, writable=writable)
        size = 0 if self._file is None else os.fstat(self._file).st_size
        self._written = size // dtype.itemsize  # a torn last record does not count
        self._new = np.empty(0, dtype)  # the first of these follow those in the file
        self._count = self._written

    def __len__(self) -> int:
        return self._count

    def append(self, records: Records) -> None:
        """Add records at the end; they are written by `flush`."""
        filled = self._count - self._written
        if filled + len(records) > len(self._new):
            grown = np.empty(2 * (filled + len(records)), self.dtype)
            grown[:filled] = self._new[:filled]
            self._new = grown
        self._new[filled : filled + len(records)] = records
        self._count += len(records)

    def truncate(self, count: int) -> None:
        """Remove the records after so many."""
        if count >= self._count:
            return
        if count < self._written:
            self._written = count
            if self.writable and self._file is not None:
                os.ftruncate(self._file, count * self.dtype.itemsize)
        self._count = count

    def flush(self) -> None:
        """Write what is in memory, where this is allowed."""
        if self._count == self._written or not self.writable:
            return
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        rest = memoryview(self._new[: self._count - self._written].tobytes())
        place = self._written * self.dtype.itemsize
        while rest:
            sent = os.pwrite(self._file, rest, place)
            rest, place = rest[sent:], place + sent
        self._written, self._new = self._count, np.empty(0, self.dtype)

    def read(self, start: int, stop: int) -> Records:
        """The records from one to another."""
        parts = []
        if start < min(stop, self._written):
            end = min(stop, self._written)
            parts.append(self._read_file(start * self.dtype.itemsize, end - start, self.dtype))
        if stop > self._written:
            parts.append(self._new[max(start - self._written, 0) : stop - self._written])
        return np.concatenate(parts) if parts else np.empty(0, self.dtype)

    def read_cells(self, start: int, stop: int, columns: slice) -> tuple[Records, Records]:
        """(first and last step) and some cells of the blocks from one to another."""
        width = self.dtype["cells"].shape[0]
        if (stop - start) * self.dtype.itemsize <= MOST_READ or stop > self._written:
            blocks = self.read(start, stop)
            return blocks[["first", "last"]], blocks["cells"][:, columns]
        assert self.dtype.fields is not None
        head = np.dtype([("first", "<i8"), ("last", "<i8")])
        begin, end, _ = columns.indices(width)
        steps = np.empty(stop - start, head)
        cells = np.empty((stop - start, end - begin), CELL)
        offset = self.dtype.fields["cells"][1] + begin * CELL.itemsize
        for number, block in enumerate(range(start, stop)):
            place = block * self.dtype.itemsize
            steps[number] = self._read_file(place, 1, head)[0]
            cells[number] = self._read_file(place + offset, end - begin, CELL)
        return steps, cells

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _read_file(self, place: int, count: int, dtype: np.dtype[Any]) -> Records:
        assert self._file is not None
        data = os.pread(self._file, count * dtype.itemsize, place)
        if len(data) < count * dtype.itemsize:
            raise TornIndexError  # the file was cut
        return np.frombuffer(data, dtype)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def block_dtype(columns: int) -> np.dtype[Any]:
    """The record of a block: its first and last step, and a cell for each column."""
    return np.dtype([("first", "<i8"), ("last", "<i8"), ("cells", CELL, (columns,))])


def to_cells(values: NDArray[np.float64]) -> Records:
    """Each value as a cell of its own; NaN is not counted."""
    cells = np.empty(values.shape, CELL)
    cells["low"] = cells["high"] = cells["mean"] = values
    cells["count"] = ~np.isnan(values)
    return cells


def merge_cells(cells: Records, starts: NDArray[np.int64]) -> Records:
    """Neighbours along the first axis as one cell; each group begins at one of `starts`."""
    merged = np.empty((len(starts), *cells.shape[1:]), CELL)
    count = cells["count"]
    with np.errstate(invalid="ignore"):
        merged["low"] = np.fmin.reduceat(cells["low"], starts)
        merged["high"] = np.fmax.reduceat(cells["high"], starts)
        merged["count"] = total = np.add.reduceat(count, starts, dtype=np.int64)
        sums = np.add.reduceat(np.where(count > 0, cells["mean"] * count, 0.0), starts)
        merged["mean"] = np.where(total > 0, sums / np.maximum(total, 1), np.nan)
    return merged


def check_cells(cells: Records, most: int) -> None:
    """Refuse blocks that cannot be: a file of zeros, or of something else."""
    known = cells["count"] > 0
    slack = 1e-9 * (np.abs(cells["low"]) + np.abs(cells["high"]))  # a mean is rounded
    with np.errstate(invalid="ignore"):
        ordered = (cells["low"] - slack <= cells["mean"]) & (cells["mean"] <= cells["high"] + slack)
    if (cells["count"] > most).any() or not np.where(known, ordered, np.isnan(cells["low"])).all():
        raise TornIndexError  # a block holds what no block can hold


def _open(path: Path, *, writable: bool) -> int | None:
    try:
        return os.open(path, os.O_RDWR if writable else os.O_RDONLY)
    except FileNotFoundError:
        return None
