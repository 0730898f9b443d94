"""Binary frames: named arrays behind a small JSON header, which a page reads without copying.

In:   arrays and metadata.
Out:  bytes; and from bytes the arrays again, for tests and for clients in Python.

    8 bytes   magic "GLASSFR1"
    4 bytes   length of the header, little-endian
    header    JSON, filled up with blanks so that the payload starts at a multiple of 8
    payload   arrays, little-endian, each starting at a multiple of 8

An array of weights may be sent as bytes on a square-root scale: byte = round(255 sqrt(weight / maximum)), so
small weights keep some detail. Zero stays zero, and nothing else becomes zero. Signed values (differences,
attributions) have their zero at 128: byte = 128 + round(127 sign(value) sqrt(|value| / maximum)).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import BundleError
from glassformer.recording.arrays import AnyArray
from glassformer.recording.statistics import Content
from glassformer.schema import ResponseModel

MAGIC = b"GLASSFR1"
MEDIA_TYPE = "application/x-glassformer-frame"

Scale = Literal["sqrt", "signed_sqrt", "linear"]
FloatPrecision = Literal["float16", "float32"]
DataType = Literal["uint8", "uint16", "int32", "int64", "float16", "float32", "float64", "bool"]
DTYPES: tuple[str, ...] = get_args(DataType)

_START = len(MAGIC) + 4  # bytes before the header
_PIECE = 1 << 16  # weights quantised at once: they stay in the cache
_SMALLEST = float(np.finfo(np.float32).tiny)  # of a maximum: the reciprocal of a smaller one is infinite


@dataclass(frozen=True, slots=True, eq=False)
class FrameArray:
    """An array of a frame, and how its numbers are to be read."""

    array: AnyArray
    scale: Scale | None = None
    maximum: float = 1.0  # what 255 stands for
    content: Content | None = None  # weights or signed values of a map; None: something else


class FrameArrayHeader(ResponseModel):
    """One array in the header of a frame."""

    name: str
    dtype: DataType
    shape: tuple[int, ...]
    offset: int  # bytes from the start of the payload
    bytes: int
    scale: Scale | None  # how bytes become numbers; None: the numbers themselves
    maximum: float  # what the largest byte stands for
    content: Content | None


class FrameHeader(ResponseModel):
    """The JSON header of a frame; what `meta` holds depends on the route."""

    arrays: tuple[FrameArrayHeader, ...]
    meta: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """What is in a frame.

    >>> frame = gf.Frame({"weights": gf.quantise(np.array([[0.9, 0.1]]))}, {"head": 3})
    >>> gf.decode_frame(gf.encode_frame(frame)).meta
    {'head': 3}
    """

    arrays: Mapping[str, FrameArray]
    meta: Mapping[str, Any] = field(default_factory=dict)


def encode_frame(frame: Frame) -> bytes:
    """The frame as bytes.

    >>> gf.encode_frame(gf.Frame({"weights": gf.quantise(np.array([[1.0, 0.0]]))}))[:8]
    b'GLASSFR1'
    """
    entries, parts, offset = [], [], 0
    for name, plane in frame.arrays.items():
        if plane.array.dtype.name not in DTYPES:
            raise TypeError(f"{name} is {plane.array.dtype.name}; a frame holds {', '.join(DTYPES)}")
        array = np.ascontiguousarray(plane.array, plane.array.dtype.newbyteorder("<"))
        gap = -offset % 8
        parts += [bytes(gap), array.reshape(-1).view(np.uint8).data if array.size else b""]
        offset += gap
        entries.append(
            {
                "name": name,
                "dtype": plane.array.dtype.name,
                "shape": plane.array.shape,
                "offset": offset,
                "bytes": array.nbytes,
                "scale": plane.scale,
                "maximum": plane.maximum,
                "content": plane.content,
            }
        )
        offset += array.nbytes
    header = json.dumps({"arrays": entries, "meta": dict(frame.meta)}, allow_nan=False, ensure_ascii=False)
    text = header.encode()
    text += b" " * (-(len(text) + _START) % 8)
    return b"".join([MAGIC, len(text).to_bytes(4, "little"), text, *parts])


def decode_frame(data: bytes) -> Frame:
    """The frame in some bytes; its arrays are views of them.

    >>> data = gf.encode_frame(gf.Frame({"weights": gf.quantise(np.array([[1.0, 0.0]]))}))
    >>> gf.decode_frame(data).arrays["weights"].array
    array([[255,   0]], dtype=uint8)
    """
    if data[: len(MAGIC)] != MAGIC or len(data) < _START:
        raise BundleError("api.not_a_frame", count=len(data), magic=MAGIC.decode())
    start = _START + int.from_bytes(data[len(MAGIC) : _START], "little")
    header = json.loads(data[_START:start])
    arrays = {}
    for entry in header["arrays"]:
        kind = np.dtype(entry["dtype"]).newbyteorder("<")
        flat = np.frombuffer(data, kind, entry["bytes"] // kind.itemsize, start + entry["offset"])
        arrays[entry["name"]] = FrameArray(
            flat.reshape(entry["shape"]), entry["scale"], entry["maximum"], entry.get("content")
        )
    return Frame(arrays, header["meta"])


def quantise(weights: AnyArray, maximum: float | None = 1.0) -> FrameArray:
    """Weights as bytes on a square-root scale; without a maximum, that of the largest weight.

    >>> gf.quantise(np.array([[1.0, 0.25, 0.0]])).array
    array([[255, 128,   0]], dtype=uint8)
    """
    if maximum is None:
        largest = float(weights.max(initial=0.0))
        maximum = largest if _SMALLEST <= largest < np.inf else 1.0
    result = np.empty(weights.shape, dtype=np.uint8)
    flat, out = np.ascontiguousarray(weights).reshape(-1), result.reshape(-1)
    for start in range(0, flat.size, _PIECE):
        piece = flat[start : start + _PIECE]
        scaled = np.clip(piece, 0.0, maximum).astype(np.float32)
        scaled *= np.float32(1.0 / maximum)
        np.sqrt(scaled, out=scaled)
        scaled *= np.float32(255.0)
        np.rint(scaled, out=scaled)
        np.maximum(scaled, piece > 0, out=scaled)
        out[start : start + _PIECE] = np.nan_to_num(scaled, copy=False)
    return FrameArray(result, "sqrt", maximum, "weights")


def quantise_signed(values: AnyArray, maximum: float | None = None) -> FrameArray:
    """Signed values as bytes on a square-root scale around 128; without a maximum, that of the largest."""
    if maximum is None:
        largest = float(np.abs(values).max(initial=0.0))
        maximum = largest if _SMALLEST <= largest < np.inf else 1.0
    share = np.clip(np.nan_to_num(values).astype(np.float32) / np.float32(maximum), -1.0, 1.0)
    steps = np.rint(np.sqrt(np.abs(share)) * np.float32(127))
    steps = np.sign(share) * np.maximum(steps, share != 0)
    return FrameArray((steps + 128).astype(np.uint8), "signed_sqrt", maximum, "signed")


def dequantise(plane: FrameArray) -> NDArray[np.float32]:
    """The weights that bytes stand for, as near as they allow.

    >>> gf.dequantise(gf.quantise(np.array([[1.0, 0.0]])))
    array([[1., 0.]], dtype=float32)
    """
    if plane.scale is None:
        return plane.array.astype(np.float32)
    if plane.scale == "signed_sqrt":
        signed = (plane.array.astype(np.float32) - np.float32(128)) / np.float32(127)
        values: NDArray[np.float32] = signed * np.abs(signed) * np.float32(plane.maximum)
        return values
    share = plane.array.astype(np.float32) / np.float32(255)
    weights: NDArray[np.float32] = (share * share if plane.scale == "sqrt" else share) * np.float32(
        plane.maximum
    )
    return weights


def shrink(numbers: AnyArray, kind: FloatPrecision) -> FrameArray:
    """Numbers in float16 or float32; what float16 cannot hold is sent at its largest, not as infinity."""
    if numbers.dtype == np.float16:
        return FrameArray(numbers.astype(kind, copy=False))
    largest = float(np.finfo(np.float16).max)
    with np.errstate(over="ignore", under="ignore"):
        if kind == "float32":
            return FrameArray(numbers.astype(np.float32, copy=False))
        return FrameArray(np.clip(numbers, -largest, largest).astype(np.float16))
