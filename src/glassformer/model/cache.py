"""Keys and values kept from one step of a generation to the next.

In:   keys and values of new tokens, layer by layer.
Out:  those of all tokens so far, and the mask and positions that belong to them.
"""

import torch
from torch import Tensor

from glassformer.model.attention import Mask, combine, triangle


class KeptLayer:
    """One layer's keys and values in buffers (row, head, capacity, head width) that are allocated once."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.length = 0
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        if self.keys is None or self.values is None:
            rows, heads, _, width = keys.shape
            self.keys = keys.new_empty(rows, heads, self.capacity, width)
            self.values = values.new_empty(rows, heads, self.capacity, width)
        start, self.length = self.length, self.length + keys.shape[2]
        self.keys[:, :, start : self.length] = keys
        self.values[:, :, start : self.length] = values
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]

    def select(self, rows: Tensor) -> None:
        """Keep these rows in this order; a row may appear several times, so beams can branch."""
        assert self.keys is not None and self.values is not None
        for buffer, name in ((self.keys, "keys"), (self.values, "values")):
            chosen = buffer[:, :, : self.length].index_select(0, rows)
            if len(rows) == len(buffer):
                buffer[:, :, : self.length] = chosen
            else:
                larger = buffer.new_empty(len(rows), *buffer.shape[1:])
                larger[:, :, : self.length] = chosen
                setattr(self, name, larger)


class Cache:
    """What a decoder remembers: one `KeptLayer` for each depth (shared blocks too: their keys differ by depth)."""

    def __init__(self, depth: int, capacity: int) -> None:
        self.layers = [KeptLayer(capacity) for _ in range(depth)]

    def layer(self, depth: int) -> KeptLayer:
        return self.layers[depth]

    @property
    def length(self) -> int:
        return self.layers[0].length

    def mask(self, queries: int, real: Tensor | None) -> Mask:
        """Causality and padding for `queries` new tokens behind those kept; `real` covers both."""
        if self.length == 0:
            return combine(real, causal=True, queries=queries)
        if queries == 1:
            return combine(real, causal=False, queries=1)
        keys = self.length + queries
        allowed = triangle(queries, keys, None if real is None else real.device)
        return Mask(allowed[None, None] if real is None else allowed & real[:, None, None, :])

    def positions(self, new: Tensor, real: Tensor | None) -> Tensor:
        """Positions of all keys, those of the `new` tokens included."""
        if real is None:
            return torch.arange(self.length + new.shape[-1], device=new.device)
        return (real.long().cumsum(1) - 1).clamp(min=0)

    def select(self, rows: Tensor) -> None:
        for layer in self.layers:
            layer.select(rows)
