"""Attention maps as frames: rectangles of weights, tiles at any zoom, thumbnails, averages.

In:   a recording, and which part of which map at which precision.
Out:  Frame. Nothing larger than MOST_CELLS is made at once.
"""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.api.cancellation import check_cancelled
from glassformer.api.frames import FloatPrecision, Frame, FrameArray, quantise, quantise_signed, shrink
from glassformer.errors import ApiError
from glassformer.place import name_term
from glassformer.recording import AttentionMap, HeadStatistics, Recording, tile
from glassformer.recording.arrays import AnyArray
from glassformer.recording.statistics import Content
from glassformer.recording.tiles import How

Precision = Literal["uint8", "float16", "float32"]
Head = int | Literal["mean"] | None  # one head, the average of a layer's heads, or all of them
Range = tuple[int, int]
Vectors = Literal["queries", "keys", "values"]

MOST_CELLS = 4_194_304
MOST_NUMBERS = 16 << 20  # of vectors and hidden states
LONGEST_AVERAGE = 1_024  # tokens a side
_COARSE = 1_024  # keys above which bytes are scaled by the largest weight: all weights are small


def find_map(recording: Recording, address: str) -> AttentionMap:
    """The map at an address: `decoder.cross.3`, `decoder.self.0@2`, or the index of a map as in old links."""
    if address.isascii() and address.isdecimal() and len(address) < 10 and int(address) < len(recording.maps):
        return recording.maps[int(address)]
    for each in recording.maps:
        if each.place.address == address:
            return each
    example = recording.maps[0].place.address if recording.maps else "decoder.self.0"
    raise ApiError(
        "api.no_map", status=404, address=address[:80], example=example, last=len(recording.maps) - 1
    )


def frame_weights(
    attention_map: AttentionMap, head: Head, queries: Range | None, keys: Range | None, precision: Precision
) -> Frame:
    """The weights of a rectangle: (query, key), or (head, query, key) without a head."""
    rows, columns = _span(attention_map, queries, keys)
    require_few(attention_map, head, rows, columns)
    if head == "mean":
        weights = _average_heads(attention_map, rows, columns)
    else:
        weights = attention_map.weights(head, rows, columns)
    maximum = 1.0 if columns.stop - columns.start <= _COARSE else None
    return Frame(
        {"weights": convert(weights, precision, maximum, attention_map.content)},
        _place(attention_map, head, rows, columns),
    )


def frame_scores(
    attention_map: AttentionMap,
    head: int | None,
    queries: Range | None,
    keys: Range | None,
    precision: FloatPrecision,
) -> Frame:
    """The same rectangle before the softmax; minus infinity where the mask hides a key."""
    rows, columns = _span(attention_map, queries, keys)
    require_few(attention_map, head, rows, columns)
    scores = attention_map.scores(head, rows, columns)
    if precision == "float16":
        scores = scores.astype(np.float16)
    return Frame({"scores": FrameArray(scores)}, _place(attention_map, head, rows, columns))


def frame_tile(
    attention_map: AttentionMap, head: int, place: tuple[int, int, int], how: How, precision: Precision
) -> Frame:
    """One tile of 256 pixels a side at (level, row, column)."""
    level, row, column = place
    pixels = tile(attention_map, head, level, row, column, how=how)
    meta = {"head": head, "level": level, "row": row, "column": column, "how": how}
    return Frame({"tile": convert(pixels, precision, None, attention_map.content)}, meta)


def frame_thumbnails(recording: Recording, how: How) -> Frame:
    """A small picture of every head: for each map an array (head, row, column), named by its place."""
    planes, levels = {}, []
    for each in recording.maps:
        statistics = each.statistics
        pixels = statistics.thumbnail_mean if how == "mean" else statistics.thumbnail_max
        planes[each.place.address] = convert(pixels, "uint8", None, each.content)
        levels.append(statistics.level)
    return Frame(planes, {"how": how, "levels": levels})


def frame_average(recording: Recording, stack: str, kind: str, precision: Precision) -> Frame:
    """The mean over all heads of all layers of one stack and kind (query, key)."""
    maps = [each for each in recording.maps if (each.stack, each.kind) == (stack, kind) and each.step is None]
    if not maps:
        raise ApiError("api.no_whole_map", "no_map", 404, kind=name_term(kind), stack=name_term(stack[:40]))
    queries, keys = maps[0].shape[1:]
    if max(queries, keys) > LONGEST_AVERAGE:
        raise ApiError(
            "api.average_too_long",
            "too_long",
            422,
            maps=len(maps),
            queries=queries,
            keys=keys,
            most=LONGEST_AVERAGE,
        )
    fitting = [each for each in maps if each.shape[1:] == (queries, keys)]
    whole = slice(0, queries), slice(0, keys)
    total = np.zeros((queries, keys))
    for each in fitting:
        check_cancelled()
        total += _average_heads(each, *whole)
    mean = (total / len(fitting)).astype(np.float32)
    meta = {"stack": stack, "kind": kind, "maps": len(fitting)}
    content: Content = "signed" if any(each.content == "signed" for each in fitting) else "weights"
    return Frame({"weights": convert(mean, precision, 1.0, content)}, meta)


def frame_statistics(known: HeadStatistics) -> Frame:
    """The statistics of every head of a map."""
    floats = ("entropy", "peak", "distance", "mass")
    arrays = {name: shrink(getattr(known, name), "float32") for name in floats}
    for name in ("peak_key", "above", "allowed"):
        arrays[name] = FrameArray(getattr(known, name).astype("int32"))
    return Frame({**arrays, "rows": FrameArray(known.rows)}, {"threshold": known.threshold})


def frame_vectors(attention_map: AttentionMap, what: Vectors, head: int | None) -> Frame:
    """Vectors of one head (token, width), or of all (head, token, width)."""
    chosen = find_vectors(attention_map, what, head)
    if chosen.size > MOST_NUMBERS:
        raise ApiError("api.too_many_vectors", "too_many_cells", 422, count=chosen.size, most=MOST_NUMBERS)
    return Frame({what: shrink(chosen, "float32")}, {"place": attention_map.place.address, "head": head})


def find_vectors(attention_map: AttentionMap, what: Vectors, head: int | None) -> AnyArray:
    """Vectors of one head or of all; several heads may share the keys and values of one."""
    array: AnyArray | None = getattr(attention_map, what)
    if array is None:
        raise not_recorded(attention_map, what)
    if head is None:
        return array
    group = attention_map.heads // array.shape[0]
    one: AnyArray = array[attention_map.require_head(head) // group]
    return one


def not_recorded(attention_map: AttentionMap, *what: str) -> ApiError:
    """The error for something that a map lacks, ready to be raised."""
    names = tuple(map(name_term, what))
    return ApiError("api.not_recorded", status=404, what=names, place=attention_map.place, want=what)


def convert(
    values: AnyArray, precision: Precision, maximum: float | None, content: Content = "weights"
) -> FrameArray:
    """Weights, or signed values, at the requested precision."""
    if precision != "uint8":
        return replace(shrink(values, precision), content=content)
    return quantise_signed(values) if content == "signed" else quantise(values, maximum)


def require_few(attention_map: AttentionMap, head: Head, rows: slice, columns: slice) -> None:
    """Refuse a rectangle with more cells than one answer may have."""
    heads = attention_map.heads if head is None else 1
    cells = heads * (rows.stop - rows.start) * (columns.stop - columns.start)
    if cells > MOST_CELLS:
        raise ApiError("api.too_many_weights", "too_many_cells", 422, cells=cells, most=MOST_CELLS)


def _average_heads(attention_map: AttentionMap, rows: slice, columns: slice) -> NDArray[np.float32]:
    """(query, key), head by head: never all of them at once."""
    total = np.zeros((rows.stop - rows.start, columns.stop - columns.start))
    for head in range(attention_map.heads):
        check_cancelled()
        total += attention_map.weights(head, rows, columns)
    return (total / max(1, attention_map.heads)).astype(np.float32)


def _span(attention_map: AttentionMap, queries: Range | None, keys: Range | None) -> tuple[slice, slice]:
    return (
        cut_span(queries, len(attention_map.query), "queries"),
        cut_span(keys, len(attention_map.key), "keys"),
    )


def cut_span(part: Range | None, length: int, axis: str, code: str = "out_of_range") -> slice:
    """A range of an axis, or all of it; refuses what lies beyond."""
    if part is None:
        return slice(0, length)
    start, stop = part
    if not 0 <= start <= stop <= length:
        raise ApiError("api.out_of_range", code, 422, axis=axis, start=start, stop=stop, length=length)
    return slice(start, stop)


def _place(attention_map: AttentionMap, head: Head, rows: slice, columns: slice) -> dict[str, Any]:
    return {
        "place": attention_map.place.address,
        "head": head,
        "queries": [rows.start, rows.stop],
        "keys": [columns.start, columns.stop],
    }
