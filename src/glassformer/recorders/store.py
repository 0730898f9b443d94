"""Where large arrays of a recording are kept: in memory, in a file without a name, or in the bundle to be.

In:   tensors, as soon as a layer has run.
Out:  NumPy arrays. What is large goes to disk at once, so that a long text needs the memory of one layer.

Files are written, and mapped only to be read: to fill a new file through its mapping takes four times as
long, for every page of it is asked for by itself.
"""

import mmap
import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from glassformer.bundle import BundleWriter
from glassformer.errors import RecordingError
from glassformer.recorders.statistics.transfer import copy_in_pieces

Array = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Keep = Callable[[str, Tensor], Array]  # a name that is new in the recording, and what is to be kept under it
Put = Callable[[int, Bytes], None]  # writes bytes at a place of an array; several threads may

LARGE = 1 << 20  # bytes


def as_numbers(tensor: Tensor) -> Array:
    """A copy that no later step of the model can change."""
    return np.array(tensor.detach().float().cpu().numpy())


def keep_aside(name: str, tensor: Tensor) -> Array:  # noqa: ARG001 - files without a name need none
    """In memory; if it is large, in a file that is gone when nobody looks at it any more."""
    size = 4 * tensor.numel()
    if size < LARGE:
        return as_numbers(tensor)
    try:
        with tempfile.TemporaryFile() as file:
            file.truncate(size)
            mapped = mmap.mmap(file.fileno(), size)
            array = np.frombuffer(mapped, np.float32).reshape(tuple(tensor.shape))
            _store(tensor, _putting(array, file.fileno(), 0))
    except OSError as error:
        raise RecordingError(
            f"Queries and keys could not be put aside: {error.strerror}. Wanted {size / 2**20:.0f} MiB more "
            f"in {tempfile.gettempdir()}. Make room there, or let TMPDIR name another folder."
        ) from error
    if hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)  # the content stays in the file and is read again when looked at
    return array


def keep_in(writer: BundleWriter) -> Keep:
    """In the bundle that will hold the recording: what is large is written once, as it comes."""

    def keep(name: str, tensor: Tensor) -> Array:
        if 4 * tensor.numel() < LARGE:
            return as_numbers(tensor)
        array = writer.declare(name, tensor.shape)
        file, start = writer.find(name)
        own = os.dup(file)  # were the writer closed meanwhile, its number could be that of another file
        try:
            _store(tensor, _putting(array, own, start))
        finally:
            os.close(own)
        writer.release(name)
        return array

    return keep


def _store(tensor: Tensor, put: Put) -> None:
    if tensor.is_cuda:
        copy_in_pieces(tensor, put)
        return
    place = 0
    for part in tensor.detach():  # head by head: never a second copy of the whole
        numbers = np.ascontiguousarray(part.float().numpy()).reshape(-1).view(np.uint8)
        put(place, numbers)
        place += len(numbers)


def _putting(array: NDArray[Any], file: int, start: int) -> Put:
    """Write to an array that begins at a place of a file: to the file itself, where the system lets us."""
    flat = array.reshape(-1).view(np.uint8)

    def put(place: int, numbers: Bytes) -> None:
        if not hasattr(os, "pwrite"):
            flat[place : place + len(numbers)] = numbers
            return
        left = numbers.data
        while len(left) > 0:  # a system may take less than it is given
            left = left[os.pwrite(file, left, start + place + len(numbers) - len(left)) :]

    return put
