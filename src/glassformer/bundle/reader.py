"""Opening a bundle: everything checked against the file before anything is mapped.

In:   the path of a file that anyone may have written.
Out:  a Recording whose arrays are views of the mapped file; or a BundleError that says what was seen.
"""

import mmap
import os
import shutil
import stat
from collections.abc import Callable
from contextlib import ExitStack
from os import PathLike, fstat
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO
from weakref import finalize

import numpy as np

from glassformer.bundle.description import restore
from glassformer.bundle.layout import (
    DESCRIPTION,
    LONGEST_DESCRIPTION,
    Entry,
    read_header,
    read_json,
    unreadable,
)
from glassformer.errors import BundleError, RecordingError
from glassformer.recording import Recording
from glassformer.recording.arrays import AnyArray


def open(
    path: str | PathLike[str],
    copy_below: int = 0,
    copies: Path | None = None,
    let_go: Callable[[], None] | None = None,
) -> Recording:
    """The recording in a bundle. Its arrays stay on disk until used, so leave the file in place meanwhile.

    A file of less than `copy_below` bytes is read into memory as it is, any other one copied into the folder
    `copies` if given, without a name there: whatever becomes of the file, nothing happens to the recording,
    where a mapped file that is overwritten ends the process. `let_go` is called once nothing of it is mapped.
    """
    place = Path(path)
    try:
        if not stat.S_ISREG(place.stat().st_mode):  # a pipe would wait for ever
            raise unreadable(place, "no_file")
        with ExitStack() as stack:
            file: BinaryIO = stack.enter_context(place.open("rb"))
            size = fstat(file.fileno()).st_size
            if copies is not None and size >= copy_below:
                copied = stack.enter_context(TemporaryFile(dir=copies))  # gone once it is unmapped
                _transfer(file, copied, size)
                file = copied
            data, entries = read_header(file, size, place)
            mapped = _copy(file, size) if size < copy_below else _map(file)
            if let_go is not None:
                finalize(mapped, let_go).atexit = False
    except (OSError, ValueError) as error:  # a name with a zero in it is a ValueError
        reason = error.strerror if isinstance(error, OSError) else error
        raise BundleError("bundle.not_opened", path=place, reason=str(reason)) from error
    return _read(mapped, data, entries, place)


def _map(file: BinaryIO) -> mmap.mmap:
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _copy(file: BinaryIO, size: int) -> mmap.mmap:
    """The file in memory of no file, which is given back whole when the recording is closed."""
    copied = mmap.mmap(-1, size)
    file.seek(0)
    with memoryview(copied) as view:
        if file.readinto(view) < size:  # type: ignore[attr-defined]
            raise ValueError("it became shorter while it was read")
    return copied


def _transfer(source: BinaryIO, goal: BinaryIO, size: int) -> None:
    """The first `size` bytes of a file into an empty one, by the system where it can."""
    done = 0
    try:
        while done < size and (count := os.copy_file_range(source.fileno(), goal.fileno(), size - done)):
            done += count
    except (AttributeError, OSError):  # not Linux, or between file systems that cannot
        source.seek(0)
        goal.seek(0)
        goal.truncate()
        shutil.copyfileobj(source, goal, 1 << 20)
        goal.truncate(min(size, goal.tell()))
    if fstat(goal.fileno()).st_size < size:
        raise ValueError("it became shorter while it was read")
    goal.seek(0)


def _read(mapped: mmap.mmap, data: int, entries: dict[str, Entry], path: Path) -> Recording:
    if DESCRIPTION not in entries or entries[DESCRIPTION].dtype != "uint8":
        raise unreadable(path, "no_description", name=DESCRIPTION)
    described = entries.pop(DESCRIPTION)
    if (size := described.stop - described.start) > LONGEST_DESCRIPTION:
        raise unreadable(path, "long_description", size=size, most=LONGEST_DESCRIPTION)
    arrays = {name: _view(mapped, data, entry) for name, entry in entries.items()}
    try:
        text = mapped[data + described.start : data + described.stop]
        with np.errstate(all="ignore"):  # numbers that overflow are for the checks to refuse
            return restore(read_json(text), arrays)
    except RecordingError as error:
        raise unreadable(path, "impossible", reason=error.message) from error
    except BundleError as error:
        raise unreadable(path, "wrong_description", reason=error.message) from error
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}" if not isinstance(error, ValueError) else str(error)
        raise unreadable(path, "wrong_description", reason=reason[:500]) from error


def _view(mapped: mmap.mmap, data: int, entry: Entry) -> AnyArray:
    kind = np.dtype(entry.dtype).newbyteorder("<")
    count = (entry.stop - entry.start) // kind.itemsize
    return np.frombuffer(mapped, kind, count, data + entry.start).reshape(entry.shape)
