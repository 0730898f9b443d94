"""Keys and values kept from one step of a generation to the next.

In:   keys and values of new tokens, layer by layer: first of a prompt, then of one token for each beam.
Out:  those of all tokens so far, and the mask and positions that belong to them.

The beams of one source share its row. What each of them adds goes into the next free slots, and a table says
which slots lie on the way to which beam. When beams branch or stop, only that table is rearranged. Where
attention has a window, slots that no later token can see are dropped from time to time.
"""

from collections import deque

import torch
from torch import Tensor

from glassformer.model.attention import Mask, combine


class CachedLayer:
    """One layer's keys and values in buffers (source, key head, slot, head width), seldom allocated."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity  # slots
        self.length = 0
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Fill the next slots; all that are filled now."""
        if self.keys is None or self.values is None:
            sources, heads, count, width = keys.shape
            self.capacity = max(self.capacity, count)
            self.keys = keys.new_empty(sources, heads, self.capacity, width)
            self.values = values.new_empty(sources, heads, self.capacity, width)
        start, self.length = self.length, self.length + keys.shape[2]
        self.keys[:, :, start : self.length] = keys
        self.values[:, :, start : self.length] = values
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]

    def rebuild(self, capacity: int, sources: Tensor | None = None, first: int = 0) -> None:
        """Move to buffers with this many slots, of these sources only, without the slots before the first."""
        self.capacity = capacity
        self.keys, self.values = (self._moved(buffer, sources, first) for buffer in (self.keys, self.values))
        self.length -= first

    def _moved(self, buffer: Tensor | None, sources: Tensor | None, first: int) -> Tensor:
        assert buffer is not None
        filled = buffer[:, :, first : self.length]
        if sources is not None:
            filled = filled.index_select(0, sources)
        if sources is not None and self.capacity == buffer.shape[2]:
            moved = buffer[: len(filled)]  # the same memory: allocating new pages would take longer
        else:
            moved = buffer.new_empty(len(filled), buffer.shape[1], self.capacity, buffer.shape[3])
        moved[:, :, : filled.shape[2]] = filled
        return moved


class Cache:
    """What a decoder remembers: a `CachedLayer` for each depth, also where all depths share one block."""

    def __init__(self, depth: int, capacity: int, window: int | None = None) -> None:
        """`capacity` slots; with a `window` fewer may do: those that no later token can see are dropped."""
        self.window = window if window is not None and 2 * window < capacity else None
        self.capacity = capacity
        self.layers = [CachedLayer(2 * self.window if self.window else capacity) for _ in range(depth)]
        self.beams = 1
        # Slots of each of the last positions, those that a new token could see; empty without a window.
        self.recent: deque[int] = deque(maxlen=self.window or 0)
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
            self.recent.extend(1 for _ in range(positions.shape[-1]))
            if self.window and real is not None and bool((real[:, :-1] & ~real[:, 1:]).any()):
                self.window = None  # padding after a token: near tokens may be in far slots
                for layer in self.layers:
                    layer.capacity = self.capacity
            return
        if self.window is not None and self.length + self.beams > self.layers[0].capacity:
            self._drop(self.window)
        self.recent.append(self.beams)
        self.slot_positions = torch.cat((self.slot_positions, positions), dim=-1)
        if self.seen is not None:
            own = torch.eye(self.beams, dtype=torch.bool, device=self.seen.device)
            self.seen = torch.cat((self.seen, own.expand(len(self.seen), -1, -1)), dim=2)

    def _drop(self, window: int) -> None:
        """Keep only slots that new tokens can see, with room for as many steps as the window has."""
        kept = sum(self.recent)
        first = self.length - kept
        for layer in self.layers:
            layer.rebuild(kept + window * self.beams, first=first)
        self.slot_positions = self.positions[..., first:]
        self.seen = None if self.seen is None else self.seen[..., first:]

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
