"""Keys and values kept from one step of a generation to the next.

In:   keys and values of new tokens, layer by layer: first of a prompt, then of one token for each beam.
Out:  those of all tokens so far, and the mask and positions that belong to them.

The beams of one source share its row. What each of them adds goes into the next free slots, and a table says
which slots lie on the way to which beam. When beams branch or stop, only that table is rearranged.
"""

import torch
from torch import Tensor

from glassformer.model.attention import Mask, combine


class CachedLayer:
    """One layer's keys and values in buffers (source, head, slot, head width) that are allocated seldom."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity  # slots
        self.length = 0
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Fill the next slots; all that are filled now."""
        if self.keys is None or self.values is None:
            sources, heads, _, width = keys.shape
            self.keys = keys.new_empty(sources, heads, self.capacity, width)
            self.values = values.new_empty(sources, heads, self.capacity, width)
        start, self.length = self.length, self.length + keys.shape[2]
        self.keys[:, :, start : self.length] = keys
        self.values[:, :, start : self.length] = values
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]

    def rebuild(self, capacity: int, sources: Tensor | None = None) -> None:
        """Move to buffers with this many slots, of these sources only."""
        self.capacity = capacity
        self.keys, self.values = (self._moved(buffer, sources) for buffer in (self.keys, self.values))

    def _moved(self, buffer: Tensor | None, sources: Tensor | None) -> Tensor:
        assert buffer is not None
        filled = buffer[:, :, : self.length]
        if sources is not None:
            filled = filled.index_select(0, sources)
        moved = buffer.new_empty(len(filled), buffer.shape[1], self.capacity, buffer.shape[3])
        moved[:, :, : self.length] = filled
        return moved


class Cache:
    """What a decoder remembers: a `CachedLayer` for each depth, also where all depths share one block."""

    def __init__(self, depth: int, capacity: int) -> None:
        self.layers = [CachedLayer(capacity) for _ in range(depth)]
        self.beams = 1
        self.real: Tensor | None = None  # (source, token) of the prompt, where some of it is padding
        self.seen: Tensor | None = None  # (source, beam, slot) the slots on the way to each beam; None: all
        self.slot_positions: Tensor | None = None  # (slot,) or (source, slot)

    @property
    def length(self) -> int:
        return self.layers[0].length

    def open(self, positions: Tensor, real: Tensor | None = None) -> None:
        """Make ready for new tokens: a prompt, not all of it `real` perhaps, or one token for each beam."""
        if self.slot_positions is None:
            self.slot_positions, self.real = positions, real
            self.seen = None if real is None else real[:, None]  # (source, 1, token)
            return
        self.slot_positions = torch.cat((self.slot_positions, positions), dim=-1)
        if self.seen is not None:
            own = torch.eye(self.beams, dtype=torch.bool, device=self.seen.device)
            self.seen = torch.cat((self.seen, own.expand(len(self.seen), -1, -1)), dim=2)

    @property
    def positions(self) -> Tensor:
        """Positions of all slots, those of the new tokens included."""
        assert self.slot_positions is not None
        return self.slot_positions

    def mask(self, queries: int) -> Mask:
        """What the new tokens may see."""
        if self.length == 0:
            return combine(self.real, causal=True, queries=queries)
        return Mask() if self.seen is None else Mask(self.seen[:, None])  # (source, 1, beam, slot)

    def select(self, origin: Tensor) -> None:
        """The beams (source, beam) that the next ones come from."""
        sources, beams = origin.shape
        if beams != self.beams:
            room = self.layers[0].capacity - self.length
            for layer in self.layers:
                layer.rebuild(self.length + room // self.beams * beams)
            self.beams = beams
        if self.seen is None and beams > 1:
            self.seen = torch.ones(sources, 1, self.length, dtype=torch.bool, device=origin.device)
        if self.seen is not None:
            self.seen = self.seen.take_along_dim(origin[..., None], dim=1)

    def keep(self, sources: Tensor) -> None:
        """Forget all other sources."""
        for layer in self.layers:
            layer.rebuild(layer.capacity, sources)
        self.seen = None if self.seen is None else self.seen.index_select(0, sources)
        if self.slot_positions is not None and self.slot_positions.dim() == 2:
            self.slot_positions = self.slot_positions.index_select(0, sources)
