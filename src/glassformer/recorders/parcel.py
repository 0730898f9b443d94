"""How numbers come home from a GPU: many tensors in one copy, which waits for nothing asked for later.

In:   tensors of one layer, as soon as the kernels that fill them are queued.
Out:  NumPy arrays, when somebody asks: until then nothing is copied or waited for.

A plain `.cpu()` would queue behind all that the model computes meanwhile. A parcel waits for its own layer
alone, so that whoever opens parcels in order works while the GPU computes the layers that follow.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class Parcel:
    """Tensors of one device, packed one behind the other."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        # Wide numbers first: then each array begins at a multiple of the size of its numbers.
        ordered = sorted(tensors.items(), key=lambda item: -item[1].element_size())
        self._shapes = {name: (_name_dtype(tensor), tuple(tensor.shape)) for name, tensor in ordered}
        self._whole = torch.cat([tensor.detach().reshape(-1).view(torch.uint8) for _, tensor in ordered])
        self._ready: torch.cuda.Event | None = None
        if self._whole.is_cuda:
            self._ready = torch.cuda.Event(blocking=True)  # who waits leaves the core to others
            self._ready.record(torch.cuda.current_stream(self._whole.device))

    def open(self) -> dict[str, NDArray[Any]]:
        """The arrays by name; they share one piece of memory."""
        here, arrays, start = self._bring(), {}, 0
        for name, (dtype, shape) in self._shapes.items():
            stop = start + dtype.itemsize * int(np.prod(shape))
            arrays[name] = here[start:stop].view(dtype).reshape(shape)
            start = stop
        return arrays

    def _bring(self) -> NDArray[np.uint8]:
        if self._ready is None:
            return self._whole.cpu().numpy()
        here = np.empty(len(self._whole), dtype=np.uint8)
        here.fill(0)  # new memory costs more than the copy: it is taken while the GPU still computes
        self._ready.synchronize()
        with torch.cuda.stream(torch.cuda.Stream(self._whole.device)):  # the usual one is full of later work
            torch.from_numpy(here).copy_(self._whole)
        return here


def _name_dtype(tensor: Tensor) -> np.dtype[Any]:
    return np.dtype(str(tensor.dtype).removeprefix("torch."))
