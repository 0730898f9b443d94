"""Where large arrays of a recording are stored: in memory, on the GPU, in a temporary file, or in its bundle.

In:   tensors, as soon as a layer has run.
Out:  NumPy arrays. Large ones go to disk at once, so that a long text needs the memory of one layer; those of
      a GPU stay there while a share of its memory holds them all, and go to disk when newer ones need it.

Files are written with `pwrite` and mapped only for reading: filling a new file through its mapping takes four
times as long, because each page is allocated separately.
"""

import mmap
import os
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.bundle import BundleWriter
from glassformer.errors import RecordingError
from glassformer.recorders.statistics.transfer import copy_in_pieces, record_event
from glassformer.recording import Recording
from glassformer.recording.later import Later

Array = NDArray[np.float32]
Bytes = NDArray[np.uint8]
# Stores a tensor under a name that is new in the recording.
ArrayStore = Callable[[str, Tensor], Array | Later]
Put = Callable[[int, Bytes], None]  # writes bytes at an offset of an array; thread-safe

LARGE = 1 << 20  # bytes; larger arrays go to disk
LONGEST_DENSE = 1024  # tokens; of longer texts no matrix is kept
HELD_SHARE = 16  # vectors of recordings may take 1/16 of a GPU's memory


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


class Held(Later):
    """A tensor that stays where it is until it is read whole, or its memory is needed."""

    def __init__(self, name: str, tensor: Tensor) -> None:
        super().__init__(tuple(tensor.shape))
        self._name = name
        self._tensor: Tensor | None = tensor
        self._ready = record_event(tensor.device) if tensor.is_cuda else None
        self._stored: Array | None = None
        self._last: tuple[int, Array] | None = None  # the head read last: tiles beside each other need it
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Bytes of memory that it holds on its device."""
        tensor = self._tensor
        return 0 if tensor is None else tensor.nbytes

    def read_head(self, head: int) -> Array:
        with self._lock:
            if self._tensor is None:
                assert self._stored is not None
                return self._stored[head]
            if self._last is None or self._last[0] != head:
                self._wait()
                self._last = head, self._tensor[head].cpu().float().numpy()
            return self._last[1]

    def read(self) -> Array:
        with self._lock:
            if self._tensor is not None:
                self._wait()
                self._stored = store_temporarily(self._name, self._tensor)
                self._tensor = self._last = None
            assert self._stored is not None
            return self._stored

    def _wait(self) -> None:
        if self._ready is not None:
            self._ready.synchronize()


class _Holder:
    """What recordings hold on each GPU, oldest first."""

    def __init__(self) -> None:
        self._held: dict[torch.device, list[weakref.ref[Held]]] = {}
        self._lock = threading.Lock()
        self._watching = False

    def hold(self, held: Held, device: torch.device, most: int) -> None:
        """Add a tensor; store the oldest ones until all together hold at most `most` bytes."""
        with self._lock:
            if not self._watching and hasattr(os, "register_at_fork"):
                os.register_at_fork(before=self.store_all)  # a forked process cannot read from a GPU
                self._watching = True
            kept = [each for each in self._held.get(device, []) if (found := each()) and found.nbytes]
            self._held[device] = [*kept, weakref.ref(held)]
        waiting = [found for each in self._held[device] if (found := each()) is not None]
        total = sum(each.nbytes for each in waiting)
        for each in waiting:
            if total <= most:
                return
            total -= each.nbytes
            each.read()

    def store_all(self) -> None:
        """Store all tensors, so that none stays on a GPU."""
        with self._lock:
            waiting = [found for kept in self._held.values() for each in kept if (found := each())]
        for each in waiting:
            each.read()


_HOLDER = _Holder()


def hold_or_store(name: str, tensor: Tensor) -> Array | Later:
    """The default: a tensor on a GPU stays there, and must not change; others as `store_temporarily`."""
    if not tensor.is_cuda or 4 * tensor.numel() < LARGE:
        return store_temporarily(name, tensor)
    held = Held(name, tensor.detach())
    most = torch.cuda.get_device_properties(tensor.device).total_memory // HELD_SHARE
    _HOLDER.hold(held, tensor.device, most)
    return held


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

    def store(self, name: str, tensor: Tensor) -> Array | Later:
        """An `ArrayStore`: large arrays of a long text go into the bundle."""
        if 4 * tensor.numel() < LARGE or max(tensor.shape) <= LONGEST_DENSE:
            return hold_or_store(name, tensor)
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
