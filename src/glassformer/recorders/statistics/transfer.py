"""How numbers come home from a GPU: through page-locked memory, and waiting for nothing asked for later.

In:   tensors of one layer, as soon as the kernels that fill them are queued.
Out:  NumPy arrays, when somebody asks: until then nothing is copied or waited for.

A plain `.cpu()` would queue behind all that the model computes meanwhile. A parcel waits for its own layer
alone, so that whoever opens parcels in order works while the GPU computes the layers that follow. The GPU
writes to page-locked memory, at full speed and without stopping who launches kernels; it is used again for
the next piece, and what a recording keeps is ordinary memory.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

PIECE = 16 << 20  # bytes of page-locked memory for each thread that fetches
SHARE = 4 << 20  # bytes of a large array that one thread fills at a time
FILLERS = 8  # such threads; to write a file takes longer than the journey


class Parcel:
    """Tensors of one device, packed one behind the other."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        # Wide numbers first: then each array begins at a multiple of the size of its numbers.
        ordered = sorted(tensors.items(), key=lambda item: -item[1].element_size())
        self._shapes = {name: (_name_dtype(tensor), tuple(tensor.shape)) for name, tensor in ordered}
        whole = torch.cat([tensor.detach().reshape(-1).view(torch.uint8) for _, tensor in ordered])
        self._there: Tensor | None = whole if whole.is_cuda else None
        self._here: NDArray[np.uint8] | None = None if whole.is_cuda else whole.numpy()
        self._ready = mark(whole.device) if whole.is_cuda else None
        self._lock = threading.Lock()

    def fetch(self) -> None:
        """Bring everything here, once: who comes while a thread does waits for it."""
        with self._lock:
            if self._there is not None and self._ready is not None:
                self._here = _bring(self._there, self._ready)
                self._there = None  # a GPU has better use for its memory

    def open(self) -> dict[str, NDArray[Any]]:
        """The arrays by name; they share one piece of memory."""
        self.fetch()
        assert self._here is not None
        here, arrays, start = self._here, {}, 0
        for name, (dtype, shape) in self._shapes.items():
            stop = start + dtype.itemsize * int(np.prod(shape))
            arrays[name] = here[start:stop].view(dtype).reshape(shape)
            start = stop
        return arrays


def mark(device: torch.device) -> torch.cuda.Event:
    """The moment at which all that was asked of a GPU so far is done; who waits for it leaves the core."""
    ready = torch.cuda.Event(blocking=True)
    ready.record(torch.cuda.current_stream(device))
    return ready


def beside(device: torch.device, ready: torch.cuda.Event) -> torch.cuda.StreamContext:
    """Inside this context a GPU works for this thread, from `ready` on; its usual stream has later work."""
    side = torch.cuda.Stream(device)
    side.wait_event(ready)
    return torch.cuda.stream(side)


def bring(tensor: Tensor, put: Callable[[int, NDArray[np.uint8]], None]) -> None:
    """Hand a tensor of a GPU to `put` in single precision: bytes and their place, from several threads."""
    ready = mark(tensor.device)
    size = max(1, 4 * tensor[0].numel())
    rows = max(1, SHARE // size)

    def fetch(first: int) -> None:
        with beside(tensor.device, ready):
            numbers = tensor[first : first + rows].detach().float().contiguous()
            for start, piece in _fetch(numbers.reshape(-1).view(torch.uint8)):
                put(first * size + start, piece)

    with ThreadPoolExecutor(FILLERS) as fillers:
        list(fillers.map(fetch, range(0, len(tensor), rows)))


def _bring(there: Tensor, ready: torch.cuda.Event) -> NDArray[np.uint8]:
    here = np.empty(len(there), dtype=np.uint8)
    if not ready.query():
        here.fill(0)  # new memory costs more than the copy: it is taken while the GPU still computes
    with beside(there.device, ready):
        for start, piece in _fetch(there):
            here[start : start + len(piece)] = piece
    return here


def _fetch(whole: Tensor) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Bytes of a flat tensor in pieces, each with its place; a piece is overwritten by the next."""
    stage = torch.empty(min(PIECE, len(whole)), dtype=torch.uint8, pin_memory=True)
    for start in range(0, len(whole), PIECE):
        part = whole[start : start + PIECE]
        piece = stage[: len(part)]
        piece.copy_(part, non_blocking=True)
        mark(whole.device).synchronize()
        yield start, piece.numpy()


def _name_dtype(tensor: Tensor) -> np.dtype[Any]:
    return np.dtype(str(tensor.dtype).removeprefix("torch."))
