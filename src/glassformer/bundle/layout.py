"""Where each array lies in a bundle file: the safetensors header, read with suspicion.

In:   an open file, or the entries that a writer made.
Out:  entries whose bytes lie inside the file, side by side; or a BundleError that says what was seen.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from glassformer.errors import BundleError
from glassformer.messages import Message

FORMAT = "glassformer-recording"
VERSION = "2"  # of the files that are written
READABLE = ("1", "2")  # 1: texts of evidence are strings; 2: they are messages
DESCRIPTION = "recording"  # the tensor that holds everything which is not an array
LONGEST_HEADER = 100_000_000  # bytes; also what the safetensors library accepts
LENGTH_BYTES = 8  # the header's length, little-endian, comes first

DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "I64": "int64",
    "I32": "int32",
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


Count = Annotated[int, Field(ge=0, le=2**63 - 1)]


class _Line(BaseModel):
    """One array in the header of a safetensors file."""

    model_config = ConfigDict(strict=True, extra="forbid")

    dtype: Literal["F64", "F32", "F16", "I64", "I32", "U8", "BOOL"]
    shape: Annotated[list[Count], Field(max_length=8)]
    data_offsets: Annotated[list[Count], Field(min_length=2, max_length=2)]


def write_header(entries: Iterable[Entry], length: int) -> bytes:
    """The first bytes of a file, its header filled up with blanks to `length`."""
    table: dict[str, Any] = {"__metadata__": {"format": FORMAT, "version": VERSION}}
    for entry in entries:
        offsets = [entry.start, entry.stop]
        table[entry.name] = {"dtype": NAMES[entry.dtype], "shape": entry.shape, "data_offsets": offsets}
    text = json.dumps(table, separators=(",", ":")).encode()
    if len(text) > length:
        raise BundleError("bundle.long_header", size=len(text), room=length)
    return length.to_bytes(LENGTH_BYTES, "little") + text.ljust(length)


def read_header(file: BinaryIO, size: int, path: Path) -> tuple[int, dict[str, Entry]]:
    """Where the data begin, and every entry by name, each checked against the size of the file."""
    start = file.read(LENGTH_BYTES)
    if size < LENGTH_BYTES or len(start) < LENGTH_BYTES:
        raise unreadable(path, "no_length", size=size)
    length = int.from_bytes(start, "little")
    if length > min(LONGEST_HEADER, size - LENGTH_BYTES):
        raise unreadable(path, "wrong_length", length=length, size=size, most=LONGEST_HEADER)
    try:
        table = json.loads(file.read(length).decode(), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise unreadable(path, "not_json", error=str(error)) from None
    if not isinstance(table, dict):
        raise unreadable(path, "no_table", type=type(table).__name__)
    _check_metadata(table.pop("__metadata__", None), path)
    data = LENGTH_BYTES + length
    entries = [_read_entry(name, entry, size - data, path) for name, entry in table.items()]
    _check_places(entries, size - data, path)
    return data, {entry.name: entry for entry in entries}


def unreadable(path: Path, fault: str, /, **details: Any) -> BundleError:
    """The error for a file that cannot be read, ready to be raised; `fault` is a code below bundle.fault."""
    return BundleError("bundle.unreadable", path=path, fault=Message(f"bundle.fault.{fault}", details))


def _check_metadata(metadata: Any, path: Path) -> None:
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        seen = metadata.get("format") if isinstance(metadata, dict) else None
        raise BundleError("bundle.other_format", path=path, format=seen, wanted=FORMAT)
    if metadata.get("version") not in READABLE:
        version = metadata.get("version")
        raise BundleError("bundle.other_version", path=path, version=version, readable=READABLE)


def _read_entry(name: str, entry: Any, size: int, path: Path) -> Entry:
    """One line of the table, checked before NumPy sees it: a hostile header may hold any number."""
    try:
        line = _Line.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise unreadable(path, "wrong_entry", name=name[:80], where=where, error=first["msg"]) from None
    start, stop = line.data_offsets
    if not start <= stop <= size:
        raise unreadable(path, "wrong_offsets", name=name[:80], start=start, stop=stop, size=size)
    bytes_of_shape = prod(line.shape) * np.dtype(DTYPES[line.dtype]).itemsize
    if bytes_of_shape != stop - start or max(line.shape, default=0) > max(size, 1):
        raise unreadable(path, "wrong_size", name=name[:80], seen=stop - start, wanted=bytes_of_shape)
    return Entry(name, DTYPES[line.dtype], tuple(line.shape), start, stop)


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


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a name occurs twice")
    return table
