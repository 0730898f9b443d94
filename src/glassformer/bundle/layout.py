"""Where each array lies in a bundle file: the safetensors header, which may come from anyone.

In:   an open file, or the entries that a writer made.
Out:  entries whose bytes lie inside the file, side by side; or a BundleError that says what was seen.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from glassformer.errors import BundleError
from glassformer.messages import Message

FORMAT = "glassformer-recording"
VERSION = "2"  # of the files that are written; 1: texts of evidence are strings; 2: they are messages
MEDIA_VERSION = "3"  # of a file that has a picture or a sound beside its tokens
READABLE = ("1", VERSION, MEDIA_VERSION)
DESCRIPTION = "recording"  # the tensor that holds everything which is not an array
LONGEST_HEADER = 100_000_000  # bytes; also what the safetensors library accepts
LONGEST_DESCRIPTION = 256 << 20  # bytes
MOST_VALUES = 8_000_000  # of a header or a description: each takes some 60 bytes of memory once it is read
LENGTH_BYTES = 8  # the header's length, little-endian, comes first

DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "U8": "uint8",
    "BOOL": "bool",
}
NAMES = {name: code for code, name in DTYPES.items()}


@dataclass(frozen=True, slots=True)
class Entry:
    """One array of the file; `start` and `stop` count bytes after the header."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


def write_header(entries: Iterable[Entry], length: int, version: str = VERSION) -> bytes:
    """The first bytes of a file, its header filled up with blanks to `length`."""
    table: dict[str, Any] = {"__metadata__": {"format": FORMAT, "version": version}}
    for entry in entries:
        offsets = [entry.start, entry.stop]
        table[entry.name] = {"dtype": NAMES[entry.dtype], "shape": entry.shape, "data_offsets": offsets}
    text = json.dumps(table, separators=(",", ":")).encode()
    if len(text) > length:
        raise BundleError("bundle.long_header", size=len(text), room=length)
    return length.to_bytes(LENGTH_BYTES, "little") + text.ljust(length)


def read_header(file: BinaryIO, size: int, path: Path) -> tuple[int, dict[str, Entry]]:
    """Where the data begin, and every entry by name, each checked against the size of the file."""
    start, brace = file.read(LENGTH_BYTES), file.read(1)
    length = int.from_bytes(start, "little")
    if len(start) < LENGTH_BYTES or length > LONGEST_HEADER or brace not in (b"{", b""):
        raise BundleError("bundle.other_file", path=path)  # a picture, a text, an archive
    if length > size - LENGTH_BYTES:
        raise unreadable(path, "wrong_length", length=length, size=size)
    text = (brace + file.read(length - 1)).rstrip(b" ")  # a writer leaves room behind it
    try:
        table = read_json(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise unreadable(path, "not_json", error=str(error)[:200]) from None
    _check_metadata(table.pop("__metadata__", None), path)
    data = LENGTH_BYTES + length
    entries = [_read_entry(name, entry, size - data, path) for name, entry in table.items()]
    _check_places(entries, size - data, path)
    return data, {entry.name: entry for entry in entries}


def read_json(text: bytes, object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """The value of a JSON text; ValueError or RecursionError for anything else, and for too many values.

    They are counted before they are read, by the signs between them.
    """
    values = text.count(b",") + text.count(b"[") + text.count(b"{")
    if values > MOST_VALUES:
        raise ValueError(f"about {values} values, more than {MOST_VALUES}")
    return json.loads(text.decode(), object_pairs_hook=object_pairs_hook, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def unreadable(path: Path, fault: str, /, **details: Any) -> BundleError:
    """The error for a file that cannot be read, ready to be raised; `fault` is a code below bundle.fault."""
    return BundleError("bundle.unreadable", path=path, fault=Message(f"bundle.fault.{fault}", details))


def _check_metadata(metadata: Any, path: Path) -> None:
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        seen = metadata.get("format") if isinstance(metadata, dict) else None
        shown = None if seen is None else str(seen)[:80]  # it may be anything
        raise BundleError("bundle.other_format", path=path, format=shown, wanted=FORMAT)
    if metadata.get("version") not in READABLE:
        version = str(metadata.get("version"))[:80]
        raise BundleError("bundle.other_version", path=path, version=version, readable=READABLE)


def _read_entry(name: str, entry: Any, size: int, path: Path) -> Entry:
    """One line of the table, checked before NumPy sees it: a hostile header may hold any number."""
    known = isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data_offsets"}
    if not known or not isinstance(entry["dtype"], str) or entry["dtype"] not in DTYPES:
        raise unreadable(path, "wrong_entry", name=name[:80], entry=str(entry)[:200], types=tuple(DTYPES))
    dtype, shape, offsets = DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
    # An array without numbers takes no bytes: its other axes must not be longer than a file can be, either.
    if not (_are_counts(shape) and len(shape) <= 8 and prod(max(1, each) for each in shape) <= max(size, 1)):
        raise unreadable(path, "wrong_shape", name=name[:80], shape=str(shape)[:200])
    if not (_are_counts(offsets) and len(offsets) == 2 and offsets[0] <= offsets[1] <= size):
        raise unreadable(path, "wrong_offsets", name=name[:80], offsets=str(offsets)[:200], size=size)
    wanted, seen = prod(shape) * np.dtype(dtype).itemsize, offsets[1] - offsets[0]
    if wanted != seen:
        raise unreadable(path, "wrong_size", name=name[:80], seen=seen, wanted=wanted)
    return Entry(name, dtype, tuple(shape), *offsets)


def _check_places(entries: list[Entry], size: int, path: Path) -> None:
    """Side by side without gap or overlap from the first byte to the last, as safetensors demands."""
    end = 0
    for entry in sorted(entries, key=lambda each: (each.start, each.stop)):
        if entry.start != end:
            fault = "overlap" if entry.start < end else "gap"
            raise unreadable(path, fault, name=entry.name[:80], start=entry.start, wanted=end)
        end = entry.stop
    if end != size:
        raise unreadable(path, "uncovered", size=size, covered=end)


def _are_counts(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a name occurs twice")
    return table
