"""Where large arrays of a recording are kept: in memory, in a file without a name, or in the bundle to be.

In:   tensors, as soon as a layer has run.
Out:  NumPy arrays. What is large goes to disk at once, so that a long text needs the memory of one layer.
"""

import mmap
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from glassformer.bundle import BundleWriter
from glassformer.recorders.parcel import fill

Array = NDArray[np.float32]
Keep = Callable[[str, Tensor], Array]  # a name that is new in the recording, and what is to be kept under it

LARGE = 1 << 20  # bytes


def as_numbers(tensor: Tensor) -> Array:
    """A copy that no later step of the model can change."""
    return np.array(tensor.detach().float().cpu().numpy())


def keep_aside(name: str, tensor: Tensor) -> Array:  # noqa: ARG001 - files without a name need none
    """In memory; if it is large, in a file that is gone when nobody looks at it any more."""
    size = 4 * tensor.numel()
    if size < LARGE:
        return as_numbers(tensor)
    with tempfile.TemporaryFile() as file:
        file.truncate(size)
        mapped = mmap.mmap(file.fileno(), size)
    array = _fill(np.frombuffer(mapped, np.float32).reshape(tuple(tensor.shape)), tensor)
    if hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)  # the content stays in the file and is read again when looked at
    return array


def keep_in(writer: BundleWriter) -> Keep:
    """In the bundle that will hold the recording: what is large is written once, as it comes."""

    def keep(name: str, tensor: Tensor) -> Array:
        if 4 * tensor.numel() < LARGE:
            return as_numbers(tensor)
        array = _fill(writer.declare(name, tensor.shape), tensor)
        writer.release(name)
        return array

    return keep


def _fill(array: NDArray[Any], tensor: Tensor) -> Array:
    if tensor.is_cuda:
        fill(array, tensor)
        return array
    for place, part in enumerate(tensor.detach()):  # head by head: never a second copy of the whole
        array[place] = part.float().cpu().numpy()
    return array
