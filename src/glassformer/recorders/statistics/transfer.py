"""Copies from a GPU through page-locked memory, without waiting for kernels that were queued later.

In:   tensors of one layer, as soon as the kernels that fill them are queued.
Out:  NumPy arrays, copied when they are first read.

A plain `.cpu()` waits for everything that is queued, also for the layers that follow. A `PackedTransfer`
waits only for the event recorded when it was made, so that results of one layer are read while the GPU
computes the next ones. Page-locked buffers are reused from piece to piece; a recording keeps ordinary memory.

A `TransferPool` copies and stores in background threads: it fetches statistics after all kernels of the model
are queued, because launching kernels needs the interpreter lock, and stores vectors meanwhile.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

PIECE = 16 << 20  # bytes of page-locked memory for each thread that copies
SHARE = 4 << 20  # bytes of a large array that one thread copies at a time
COPIERS = 8  # such threads; writing a file takes longer than copying from the GPU
FETCHERS = 4  # threads; allocating and copying keep one busy for as long as a GPU computes
MOST_HELD = 1 << 30  # bytes on the GPU that may wait to be stored

Answer = TypeVar("Answer")


class PackedTransfer:
    """Tensors of one device packed into one, which is copied to the host in one go."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        # Wide types first, so that every array is aligned to the size of its numbers.
        ordered = sorted(tensors.items(), key=lambda item: -item[1].element_size())
        self._shapes = {name: (_name_dtype(tensor), tuple(tensor.shape)) for name, tensor in ordered}
        whole = torch.cat([tensor.detach().reshape(-1).view(torch.uint8) for _, tensor in ordered])
        self._device: Tensor | None = whole if whole.is_cuda else None
        self._host: NDArray[np.uint8] | None = None if whole.is_cuda else whole.numpy()
        self._ready = record_event(whole.device) if whole.is_cuda else None
        self._lock = threading.Lock()

    def fetch(self) -> None:
        """Copy to the host, once; concurrent callers block until it is done."""
        with self._lock:
            if self._device is not None and self._ready is not None:
                self._host = _copy(self._device, self._ready)
                self._device = None  # frees memory of the GPU

    def read(self) -> dict[str, NDArray[Any]]:
        """The arrays by name; they share one buffer."""
        self.fetch()
        assert self._host is not None
        host, arrays, start = self._host, {}, 0
        for name, (dtype, shape) in self._shapes.items():
            stop = start + dtype.itemsize * int(np.prod(shape))
            arrays[name] = host[start:stop].view(dtype).reshape(shape)
            start = stop
        return arrays


def record_event(device: torch.device) -> torch.cuda.Event:
    """A blocking CUDA event (waiting for it frees the CPU core) after all that is queued so far."""
    ready = torch.cuda.Event(blocking=True)
    ready.record(torch.cuda.current_stream(device))
    return ready


def on_side_stream(device: torch.device, ready: torch.cuda.Event) -> torch.cuda.StreamContext:
    """A context whose GPU work runs after `ready`, on a stream of its own: not behind later work."""
    side = torch.cuda.Stream(device)
    side.wait_event(ready)
    return torch.cuda.stream(side)


def copy_in_pieces(tensor: Tensor, put: Callable[[int, NDArray[np.uint8]], None]) -> None:
    """Give a tensor of a GPU to `put` in single precision: offsets and bytes, from several threads."""
    ready = record_event(tensor.device)
    size = max(1, 4 * tensor[0].numel())
    rows = max(1, SHARE // size)

    def fetch(first: int) -> None:
        with on_side_stream(tensor.device, ready):
            numbers = tensor[first : first + rows].detach().float().contiguous()
            for start, piece in _fetch(numbers.reshape(-1).view(torch.uint8)):
                put(first * size + start, piece)

    with ThreadPoolExecutor(COPIERS) as copiers:
        list(copiers.map(fetch, range(0, len(tensor), rows)))


def _copy(tensor: Tensor, ready: torch.cuda.Event) -> NDArray[np.uint8]:
    host = np.empty(len(tensor), dtype=np.uint8)
    if not ready.query():
        host.fill(0)  # touching new pages costs more than the copy: it is done while the GPU still computes
    with on_side_stream(tensor.device, ready):
        for start, piece in _fetch(tensor):
            host[start : start + len(piece)] = piece
    return host


def _fetch(whole: Tensor) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Bytes of a flat tensor in pieces, each with its offset; the next piece overwrites the one before."""
    stage = torch.empty(min(PIECE, len(whole)), dtype=torch.uint8, pin_memory=True)
    for start in range(0, len(whole), PIECE):
        part = whole[start : start + PIECE]
        piece = stage[: len(part)]
        piece.copy_(part, non_blocking=True)
        record_event(whole.device).synchronize()
        yield start, piece.numpy()


def _name_dtype(tensor: Tensor) -> np.dtype[Any]:
    return np.dtype(str(tensor.dtype).removeprefix("torch."))


class TransferPool:
    """The threads of one recording."""

    def __init__(self) -> None:
        self._fetchers = ThreadPoolExecutor(FETCHERS)
        self._writer = ThreadPoolExecutor(1)  # one: arrays are stored in the order of the layers
        self._held: deque[tuple[Future[Any], int]] = deque()

    def fetch(self, tasks: Sequence[Callable[[], None]]) -> None:
        """Start all tasks, in order. Exceptions surface when the result is read."""
        for task in tasks:
            self._fetchers.submit(task)

    def store(self, task: Callable[[], Answer], size: int) -> Callable[[], Answer]:
        """Start a task after those before it. Blocks while more than MOST_HELD bytes wait on the GPU."""
        while self._held and size + sum(held for _, held in self._held) > MOST_HELD:
            self._held.popleft()[0].result()
        future = self._writer.submit(task)
        self._held.append((future, size))
        return future.result

    def close(self) -> None:
        """Cancel tasks that have not started, and wait for those that have."""
        for threads in (self._fetchers, self._writer):  # first without waiting: the wait may be interrupted
            threads.shutdown(wait=False, cancel_futures=True)
        for threads in (self._fetchers, self._writer):
            threads.shutdown()
