"""Where each array lies in a bundle file: the safetensors header, read with suspicion.

In:   an open file, or the entries that a writer made.
Out:  entries whose bytes lie inside the file, side by side; or a BundleError that says what was seen.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from glassformer.errors import BundleError

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


def write_header(entries: Iterable[Entry], length: int) -> bytes:
    """The first bytes of a file, its header filled up with blanks to `length`."""
    table: dict[str, Any] = {"__metadata__": {"format": FORMAT, "version": VERSION}}
    for entry in entries:
        offsets = [entry.start, entry.stop]
        table[entry.name] = {"dtype": NAMES[entry.dtype], "shape": entry.shape, "data_offsets": offsets}
    text = json.dumps(table, separators=(",", ":")).encode()
    if len(text) > length:
        raise BundleError(
            f"The header of the bundle takes {len(text)} bytes. There is room for {length}. "
            "Tell the writer to expect more arrays."
        )
    return length.to_bytes(LENGTH_BYTES, "little") + text.ljust(length)


def read_header(file: BinaryIO, size: int, path: Path) -> tuple[int, dict[str, Entry]]:
    """Where the data begin, and every entry by name, each checked against the size of the file."""
    start = file.read(LENGTH_BYTES)
    if size < LENGTH_BYTES or len(start) < LENGTH_BYTES:
        raise refuse(
            path,
            f"is no bundle: it has {size} bytes",
            f"at least the {LENGTH_BYTES} that say how long its header is",
        )
    length = int.from_bytes(start, "little")
    if length > min(LONGEST_HEADER, size - LENGTH_BYTES):
        what = "no bundle" if length > LONGEST_HEADER else "truncated, or no bundle"
        raise refuse(
            path,
            f"is {what}: it says its header takes {length} bytes, in a file of {size}",
            f"a header inside the file, of at most {LONGEST_HEADER} bytes",
        )
    try:
        table = json.loads(file.read(length).decode(), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise refuse(
            path, f"is no bundle: its header is not JSON ({error})", "the header of a safetensors file"
        ) from None
    if not isinstance(table, dict):
        raise refuse(path, f"is no bundle: its header is a {type(table).__name__}", "a table of arrays")
    _check_metadata(table.pop("__metadata__", None), path)
    data = LENGTH_BYTES + length
    entries = [_read_entry(name, entry, size - data, path) for name, entry in table.items()]
    _check_places(entries, size - data, path)
    return data, {entry.name: entry for entry in entries}


def refuse(path: Path, saw: str, wanted: str) -> BundleError:
    """The error for a file that cannot be read, ready to be raised."""
    return BundleError(
        f"{path} {saw}. Wanted {wanted}. Save the recording again, or copy the file once more."
    )


def _check_metadata(metadata: Any, path: Path) -> None:
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        seen = metadata.get("format") if isinstance(metadata, dict) else None
        raise BundleError(
            f"{path} is no bundle: it is a safetensors file of format {seen!r}. Wanted {FORMAT!r}. "
            "If it holds a model, load it and record a text."
        )
    if metadata.get("version") not in READABLE:
        readable = " or ".join(READABLE)
        raise BundleError(
            f"{path} is a bundle of version {metadata.get('version')!r}. Wanted version {readable}. "
            "Open it with the Glassformer that wrote it, or record again."
        )


def _read_entry(name: str, entry: Any, size: int, path: Path) -> Entry:
    """One line of the table, without NumPy: numbers in a hostile header may be of any size."""
    place = f"describes the array {name[:80]!r} as {str(entry)[:200]}"
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise refuse(path, place, "dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise refuse(path, place, f"one of the types {', '.join(DTYPES)}")
    if not (_are_counts(shape) and len(shape) <= 8 and all(length <= max(size, 1) for length in shape)):
        raise refuse(path, place, "a shape of at most 8 whole numbers, none larger than the file")
    if not (_are_counts(offsets) and len(offsets) == 2 and offsets[0] <= offsets[1] <= size):
        raise refuse(path, place, f"two offsets in order, up to {size}")
    item = np.dtype(DTYPES[dtype]).itemsize
    if prod(shape) * item != offsets[1] - offsets[0]:
        raise refuse(path, place, f"{prod(shape) * item} bytes for this shape, not {offsets[1] - offsets[0]}")
    return Entry(name, DTYPES[dtype], tuple(shape), *offsets)


def _check_places(entries: list[Entry], size: int, path: Path) -> None:
    """Side by side without gap or overlap from the first byte to the last, as safetensors demands."""
    end = 0
    for entry in sorted(entries, key=lambda each: (each.start, each.stop)):
        if entry.start != end:
            fault = "overlaps the one before" if entry.start < end else "leaves a gap before it"
            raise refuse(path, f"has an array {entry.name[:80]!r} that {fault}", f"it to start at byte {end}")
        end = entry.stop
    if end != size:
        raise refuse(path, f"has {size} bytes of data, of which its arrays cover {end}", "all of them")


def _are_counts(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a name occurs twice")
    return table
