"""Writing a bundle: whole or not at all.

In:   a Recording; and, before it is complete, arrays declared one by one and filled in place on disk.
Out:  one file, which gets its name when the last byte is safe; after an exception, or on a full disk, none.

Where the system can, the file has no name until then: whatever ends the process, nothing of it stays.
"""

import json
import mmap
import os
import weakref
from collections.abc import Sequence
from contextlib import suppress
from math import prod
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

import numpy as np

from glassformer.bundle.description import describe, find_version
from glassformer.bundle.layout import DESCRIPTION, LENGTH_BYTES, NAMES, Entry, write_header
from glassformer.errors import BundleError
from glassformer.messages import message
from glassformer.recording import Recording
from glassformer.recording.arrays import AnyArray

_ALIGNMENT = 64  # bytes
_ENTRY = 256  # bytes of header that one array may take
_NUMBERS = 160  # of these, what is not its name and shape, and an array of padding before it
_NAME = 96  # characters of its name
_PIECE = 1 << 24  # bytes written at once
_EXPECTED = 4096  # arrays, where their number is not known
_HANDLES = Path("/proc/self/fd")  # where Linux lists open files


def save(recording: Recording, path: str | PathLike[str]) -> None:
    """Write a recording to one file, replacing what was there only when all is written."""
    seen: dict[tuple[object, ...], tuple[str, AnyArray]] = {}  # kept: no address comes twice

    def tally(where: str, array: AnyArray) -> str:
        seen.setdefault(_identify(array), (where, array))
        return ""

    describe(recording, tally)
    entries = (_NUMBERS + len(json.dumps(name)) + len(str(array.shape)) for name, array in seen.values())
    with BundleWriter(path, room=2 * _ENTRY + sum(entries)) as writer:  # the description is one more
        writer.finish(recording)


class BundleWriter:
    """A bundle in the making, beside its future name. Use it in a `with` block and end with `finish`."""

    def __init__(self, path: str | PathLike[str], arrays: int = _EXPECTED, room: int | None = None) -> None:
        self.path = _check_place(Path(path))
        # Padding may add an array before each; the description is one more.
        room = _ENTRY * (2 * arrays + 2) if room is None else room
        self._header = _round_up(LENGTH_BYTES + room) - LENGTH_BYTES
        self._entries: dict[str, Entry] = {}
        self._names: dict[tuple[object, ...], str] = {}  # what makes an array the same → its name
        self._declared: dict[str, tuple[AnyArray, mmap.mmap | None]] = {}  # kept: no address comes twice
        self._position = 0  # bytes of data so far
        self._part = self.path.with_name(f".{token_hex(8)}.bundle.part")
        nameless = _open_nameless(self.path.parent)
        self._nameless = nameless is not None
        try:
            self._file: BinaryIO = nameless or self._part.open("x+b")
        except OSError as error:
            raise self._failure(error) from error
        self._clean = weakref.finalize(self, _discard, self._file, self._part)

    def __enter__(self) -> "BundleWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def declare(self, name: str, shape: Sequence[int], dtype: str = "float32") -> AnyArray:
        """Room for an array on disk, as a writable view of zeros: fill it and use it in the recording."""
        entry = self._allot(name, tuple(int(length) for length in shape), np.dtype(dtype).name)
        size = entry.stop - entry.start
        start = LENGTH_BYTES + self._header + entry.start
        mapped = None
        if size == 0:
            array: AnyArray = np.zeros(entry.shape, entry.dtype)
        else:
            try:
                _reserve(self._file, start, size)
                before = start % mmap.ALLOCATIONGRANULARITY
                mapped = mmap.mmap(self._file.fileno(), size + before, offset=start - before)
            except OSError as error:
                raise self._failure(error) from error
            count = size // np.dtype(entry.dtype).itemsize
            array = np.frombuffer(mapped, entry.dtype, count, before).reshape(entry.shape)
        self._declared[name] = (array, mapped)
        self._names[_identify(array)] = name
        return array

    def find(self, name: str) -> tuple[int, int]:
        """The open file and the offset at which a declared array begins, for writing there directly."""
        return self._file.fileno(), LENGTH_BYTES + self._header + self._entries[name].start

    def release(self, name: str) -> None:
        """Give the memory of a declared array back; its content stays on disk and can be read as before."""
        mapped = self._declared[name][1]
        if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)

    def finish(self, recording: Recording) -> None:
        """Write the rest of the recording, then move the file to its name, if it can be read again."""
        try:
            description = describe(recording, self._write_once)
            text = json.dumps(description, separators=(",", ":"), allow_nan=False).encode()
            _check(text, self.path)
            self._write(DESCRIPTION, np.frombuffer(text, np.uint8))
            header = write_header(self._entries.values(), self._header, find_version(description))
            self._file.seek(0)
            self._file.write(header)
            self._file.flush()
            os.fsync(self._file.fileno())
            if self._nameless:
                _give_name(self._file, self._part)  # a new one: no call gives a name that is taken
            self._part.replace(self.path)
        except OSError as error:
            raise self._failure(error) from error
        self.discard()

    def discard(self) -> None:
        """Close, and remove what was not finished."""
        self._clean()

    def _write_once(self, where: str, array: AnyArray) -> str:
        """The name of an array in the file, which is written if it is not there yet."""
        if array.ndim > 1 and array.shape[0] > 0 and array.strides[0] == 0:  # one row, shared by all
            array = array[0]
        identity = _identify(array)
        if identity not in self._names:
            self._write(where, array)
            self._names[identity] = where
        return self._names[identity]

    def _write(self, name: str, array: AnyArray) -> None:
        entry = self._allot(name, array.shape, array.dtype.name)
        self._file.seek(LENGTH_BYTES + self._header + entry.start)
        # Long arrays that are not contiguous are copied piece by piece, never whole.
        rows = max(1, _PIECE // max(1, array.nbytes // max(1, len(array)))) if array.ndim else 1
        for start in range(0, len(array), rows):
            piece = np.ascontiguousarray(array[start : start + rows])
            self._file.write(piece.astype(piece.dtype.newbyteorder("<"), copy=False).tobytes())

    def _allot(self, name: str, shape: tuple[int, ...], dtype: str) -> Entry:
        """The place of the next array, on a multiple of 64 bytes; an array of padding fills the gap."""
        if not 0 < len(name) <= _NAME or name in self._entries:
            raise BundleError("bundle.wrong_name", name=name, most=_NAME)
        if dtype not in NAMES or any(length < 0 for length in shape):
            types = tuple(NAMES)
            raise BundleError("bundle.wrong_type", name=name, type=dtype, shape=str(shape), types=types)
        gap = _round_up(self._position) - self._position
        if gap:
            self._append(f"padding/{self._position}", "uint8", (gap,))
        return self._append(name, dtype, shape)

    def _append(self, name: str, dtype: str, shape: tuple[int, ...]) -> Entry:
        stop = self._position + prod(shape) * np.dtype(dtype).itemsize
        self._entries[name] = entry = Entry(name, dtype, shape, self._position, stop)
        self._position = stop
        return entry

    def _failure(self, error: OSError) -> BundleError:
        return BundleError("bundle.not_written", path=self.path, reason=str(error.strerror))


def _check(description: bytes, path: Path) -> None:
    """BundleError for a description that no reader would accept, where pydantic is there to tell."""
    try:
        from glassformer.bundle.schema import check_description
    except ImportError:  # recording and training run without it
        return
    try:
        check_description(json.loads(description))
    except BundleError as error:
        raise BundleError("bundle.not_valid", path=path, faults=error.message) from None


def _check_place(path: Path) -> Path:
    """Where to write for this path, following links, if a file may be there.

    Moving one over a device or a pipe would remove that.
    """
    try:
        place = Path(os.path.realpath(path))
        kind = _name_obstacle(place) if path.name else "folder"
    except (OSError, ValueError) as error:  # too long a name, or one with a zero in it
        reason = error.strerror if isinstance(error, OSError) else error
        raise BundleError("bundle.wrong_path", path=str(path), reason=str(reason)) from error
    if kind is not None:
        raise BundleError("bundle.not_a_file", path=path, kind=message(f"bundle.{kind}"))
    return place


def _name_obstacle(place: Path) -> str | None:
    if place.is_symlink():  # although all links were followed
        return "looping_link"
    if not place.exists() or place.is_file():
        return None
    return "folder" if place.is_dir() else "device"


def _open_nameless(folder: Path) -> BinaryIO | None:
    """A temporary file without a name (O_TMPFILE); None where the system has none."""
    if not hasattr(os, "O_TMPFILE") or not _HANDLES.is_dir():
        return None
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666), "w+b")
    except OSError:  # not in every file system; if nothing can be written at all, opening a named file fails
        return None


def _give_name(file: BinaryIO, path: Path) -> None:
    # Only with a folder to start from does Python follow the link that stands for a file without a name.
    os.link(_HANDLES / str(file.fileno()), path, src_dir_fd=file.fileno(), follow_symlinks=True)


def _identify(array: AnyArray) -> tuple[object, ...]:
    """Equal for two arrays that are the same view of the same memory."""
    address = array.__array_interface__["data"][0]
    return address, array.shape, array.strides, array.dtype.str, array.nbytes == 0


def _round_up(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _reserve(file: BinaryIO, start: int, size: int) -> None:
    """Take the disk space now: a full disk is an error here, where later it would kill the process."""
    file.flush()
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), start, size)
        return
    file.seek(start)
    for piece in range(0, size, _PIECE):
        file.write(bytes(min(_PIECE, size - piece)))
    file.flush()


def _discard(file: BinaryIO, part: Path) -> None:
    with suppress(OSError):  # on a full disk, what is still buffered cannot be written
        file.close()
    part.unlink(missing_ok=True)
