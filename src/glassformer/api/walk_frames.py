"""Arrays of the walk as binary frames.

In:   a recording, the name of an array, which part of it.
Out:  a frame "values".
"""

import numpy as np

from glassformer.api.frames import Frame, FrameArray, shrink
from glassformer.api.tiles import Range, cut_span
from glassformer.errors import ApiError
from glassformer.recording import Recording
from glassformer.recording.arrays import AnyArray
from glassformer.walk.arrays import MOST_CELLS, Arrays
from glassformer.walk.plan import follow


def frame_trace(
    recording: Recording,
    name: str,
    rows: Range | None = None,
    columns: Range | None = None,
    head: int | None = None,
) -> Frame:
    """An array of the walk, or a rectangle of it: (column,), (row, column) or (head, row, column)."""
    array = Arrays(recording).find(name)
    if array is None:
        array = follow(recording)[1].find(name)  # arrays that were not kept may follow from others
    if array is None:
        raise ApiError("walk.no_array", "not_recorded", 404, name=name[:120])
    whole = array.shape
    if head is not None:
        if array.ndim != 3 or head >= len(array):
            raise ApiError("walk.no_head", "no_cell", 422, name=name, shape=str(whole), head=head)
        array = array[head]
    if rows is not None:
        if array.ndim < 2:
            raise ApiError("walk.no_rows", "no_cell", 422, name=name, shape=str(whole))
        array = array[..., cut_span(rows, array.shape[-2], name, "no_cell"), :]
    if columns is not None and array.ndim > 0:
        array = array[..., cut_span(columns, array.shape[-1], name, "no_cell")]
    if array.size > MOST_CELLS:
        raise ApiError(
            "walk.array_too_large", "too_many_cells", 422, name=name, count=array.size, most=MOST_CELLS
        )
    meta = {"name": name, "shape": whole, "head": head, "stored": array.dtype.name}
    return Frame({"values": _plane(array)}, meta)


def _plane(array: AnyArray) -> FrameArray:
    return FrameArray(array) if np.issubdtype(array.dtype, np.integer) else shrink(array, "float32")
