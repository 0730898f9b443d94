"""Where large arrays of a recording are stored: in memory, in a temporary file, or in its bundle.

In:   tensors, as soon as a layer has run.
Out:  NumPy arrays. Large ones go to disk at once, so that a long text needs the memory of one layer.

Files are written with `pwrite` and mapped only for reading: filling a new file through its mapping takes four
times as long, because each page is allocated separately.
"""

import mmap
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from glassformer.bundle import BundleWriter
from glassformer.errors import RecordingError
from glassformer.recorders.statistics.transfer import copy_in_pieces
from glassformer.recording import Recording

Array = NDArray[np.float32]
Bytes = NDArray[np.uint8]
ArrayStore = Callable[[str, Tensor], Array]  # stores a tensor under a name that is new in the recording
Put = Callable[[int, Bytes], None]  # writes bytes at an offset of an array; thread-safe

LARGE = 1 << 20  # bytes; larger arrays go to disk
LONGEST_DENSE = 1024  # tokens; of longer texts no matrix is kept


def as_numbers(tensor: Tensor) -> Array:
    """A float32 copy that the model cannot change."""
    return np.array(tensor.detach().float().cpu().numpy())


def store_temporarily(name: str, tensor: Tensor) -> Array:  # noqa: ARG001 - an `ArrayStore`
    """In memory; large arrays in a mapped, unlinked temporary file, which ends with the array."""
    size = 4 * tensor.numel()
    if size < LARGE:
        return as_numbers(tensor)
    try:
        with tempfile.TemporaryFile() as file:
            file.truncate(size)
            mapped = mmap.mmap(file.fileno(), size)
            array = np.frombuffer(mapped, np.float32).reshape(tuple(tensor.shape))
            _write(tensor, _writer_for(array, file.fileno(), 0))
    except OSError as error:
        raise RecordingError(
            "recorders.store.disk_full",
            reason=error.strerror,
            mebibytes=size / 2**20,
            folder=tempfile.gettempdir(),
        ) from error
    if hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)  # frees memory; the file is read again on access
    return array


def store_in_bundle(writer: BundleWriter) -> ArrayStore:
    """In the bundle of the recording: large arrays are written there at once."""

    def store(name: str, tensor: Tensor) -> Array:
        if 4 * tensor.numel() < LARGE:
            return as_numbers(tensor)
        array = writer.declare(name, tensor.shape)
        file, start = writer.find(name)
        own = os.dup(file)  # if the writer is closed meanwhile, the number may belong to another file
        try:
            _write(tensor, _writer_for(array, own, start))
        finally:
            os.close(own)
        writer.release(name)
        return array

    return store


class Destination:
    """The bundle that a recording is written to; `finish` writes it.

    A short text is written when all is known; queries and keys of a long one are written layer by layer, so
    that memory holds one layer and disk the rest.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path
        self.writer: BundleWriter | None = None
        BundleWriter(path, arrays=0).discard()  # fails before the work where the path cannot be written

    def store(self, name: str, tensor: Tensor) -> Array:
        """An `ArrayStore`: large arrays of a long text go into the bundle."""
        if 4 * tensor.numel() < LARGE or max(tensor.shape) <= LONGEST_DENSE:
            return store_temporarily(name, tensor)
        self.writer = self.writer or BundleWriter(self.path)
        return store_in_bundle(self.writer)(name, tensor)

    def finish(self, recording: Recording) -> None:
        """Write the rest, and give the file its name."""
        if self.writer is None:
            recording.save(self.path)
        else:
            self.writer.finish(recording)


@contextmanager
def writing_to(path: str | PathLike[str]) -> Iterator[Destination]:
    """A bundle for `record(…, keep=destination.store)`; without `finish` nothing of it stays."""
    destination = Destination(path)
    try:
        yield destination
    finally:
        if destination.writer is not None:
            destination.writer.discard()


def _write(tensor: Tensor, put: Put) -> None:
    if tensor.is_cuda:
        copy_in_pieces(tensor, put)
        return
    place = 0
    for part in tensor.detach():  # head by head: no second copy of the whole
        numbers = np.ascontiguousarray(part.float().numpy()).reshape(-1).view(np.uint8)
        put(place, numbers)
        place += len(numbers)


def _writer_for(array: NDArray[Any], file: int, start: int) -> Put:
    """Writes to an array at an offset of a file: to the file itself where the system has pwrite."""
    flat = array.reshape(-1).view(np.uint8)

    def put(place: int, numbers: Bytes) -> None:
        if not hasattr(os, "pwrite"):
            flat[place : place + len(numbers)] = numbers
            return
        left = numbers.data
        while len(left) > 0:  # pwrite may write less than it gets
            left = left[os.pwrite(file, left, start + place + len(numbers) - len(left)) :]

    return put
