"""Generation on a GPU as one recorded graph: a step is a single launch instead of hundreds.

In:   a decoding whose prompt has been read.
Out:  the same decoding, whose steps replay a captured CUDA graph over buffers that never move.

Every step attends over all slots and a table hides those that are not filled yet, so that all steps have
one shape.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from glassformer.model.attention import Mask
from glassformer.model.cache import Cache, CachedLayer
from glassformer.model.decoding import CachedDecoding
from glassformer.model.fused_step import FusedStep, can_fuse


class StaticLayer(CachedLayer):
    """The buffers of a `CachedLayer`, written at slots that a tensor names, and always read whole."""

    keys: Tensor
    values: Tensor

    def __init__(self, layer: CachedLayer, slots: Tensor) -> None:
        super().__init__(layer.capacity)
        assert layer.keys is not None
        assert layer.values is not None
        self.slots = slots
        self.keys, self.values, self.length = layer.keys, layer.values, layer.length
        self.keys[:, :, layer.length :] = 0  # never seen, but 0 × NaN would be
        self.values[:, :, layer.length :] = 0

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        self.keys.index_copy_(2, self.slots, keys)
        self.values.index_copy_(2, self.slots, values)
        return self.keys, self.values


class StaticCache(Cache):
    """A `Cache` whose tensors keep their shapes: what is seen covers slots that are not filled yet, too."""

    seen: Tensor
    slot_positions: Tensor

    def __init__(self, cache: Cache, sources: int) -> None:
        capacity, device = cache.layers[0].capacity, cache.positions.device
        self.beams = cache.beams
        # Where new tokens go.
        self.slots = torch.arange(cache.length, cache.length + cache.beams, device=device)
        self.own = torch.eye(cache.beams, dtype=torch.bool, device=device).expand(sources, -1, -1)
        self.seen = torch.zeros(sources, cache.beams, capacity, dtype=torch.bool, device=device)
        self.seen[..., : cache.length] = True if cache.seen is None else cache.seen
        self.slot_positions = cache.positions.new_zeros(*cache.positions.shape[:-1], capacity)
        self.slot_positions[..., : cache.length] = cache.positions
        self.layers = [StaticLayer(layer, self.slots) for layer in cache.layers]

    def open(self, positions: Tensor, real: Tensor | None = None) -> None:  # noqa: ARG002
        self.seen.index_copy_(2, self.slots, self.own)
        self.slot_positions.index_copy_(-1, self.slots, positions)

    def mask(self, queries: int) -> Mask:  # noqa: ARG002
        return Mask(self.seen[:, None])

    def select(self, origin: Tensor) -> None:
        assert origin.shape[1] == self.beams
        self.seen.copy_(self.seen.take_along_dim(origin[..., None], dim=1))


class GraphDecoding(CachedDecoding):
    """A `CachedDecoding` whose steps are captured once and replayed, over the same `logits`."""

    drops = False  # the buffers of a graph never move; a mask hides what is outside a window
    _graph: torch.cuda.CUDAGraph | None = None
    _fixed: StaticCache | None = None
    _choose: Callable[[Tensor], None] | None = None  # what the graph does with its logits

    @contextmanager
    def choosing(
        self, choose: Callable[[Tensor], None], ids: Tensor, changing: Sequence[Tensor]
    ) -> Iterator[Callable[[], None]]:
        """A function that replays one graph: a step, then `choose`, which writes new `ids` (source, beam).

        `changing` are the tensors that `choose` both reads and writes.
        """
        self._release()
        self._choose = choose
        try:
            self._capture(ids, changing)
            assert self._graph is not None
            yield self._replay
        finally:
            self._choose = None
            self._release()

    def _replay(self) -> None:
        assert self._graph is not None
        self._graph.replay()
        self.taken += 1

    def step(self, ids: Tensor) -> Tensor:
        ids = ids.view(self.sources, -1)
        if self._graph is None:
            self._capture(ids.clone())
        self._ids.copy_(ids)
        self._replay()
        self.logits = self._logits
        return self.logits

    def select(self, rows: Tensor) -> None:
        if self._fixed is not None and rows.numel() != self.sources * self._fixed.beams:
            self._release()
        super().select(rows)

    def keep(self, sources: Tensor) -> None:
        self._release()
        super().keep(sources)

    def _capture(self, ids: Tensor, also: Sequence[Tensor] = ()) -> None:
        """Record one step. A trial run first loads and chooses kernels; what it changed is put back."""
        self._ids = ids
        self.next = self.next.clone()
        self._loose, self._fixed, self.taken = self.cache, StaticCache(self.cache, self.sources), 0
        self.cache = self._fixed
        fuses = can_fuse(self.network, self.memories, *ids.shape)
        self._fused = FusedStep(self.network, self.memories) if fuses else None
        changing = (self._fixed.slots, self._fixed.seen, self._fixed.slot_positions, self.next, *also)
        before = [tensor.clone() for tensor in changing]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._advance()
        torch.cuda.current_stream().wait_stream(stream)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._logits = self._advance()
        for tensor, saved in zip(changing, before, strict=True):
            tensor.copy_(saved)

    def _advance(self) -> Tensor:
        """One step on the fixed buffers: the work that the graph records."""
        assert self._fixed is not None
        if self._fused is not None:
            logits = self._fused.run(self._ids, self.next, self._fixed).flatten(0, 1)
        else:
            positions = self.next.expand(*self.next.shape[:-1], self._ids.shape[1])
            logits = self._run(self._ids, positions).flatten(0, 1)
            self.next += 1
            self._fixed.slots += self._fixed.beams
        if self._choose is not None:
            self._choose(logits)
        return logits

    def _release(self) -> None:
        """Back to a cache that can change its shape; the next step captures anew."""
        if self._fixed is None:
            return
        loose, fixed = self._loose, self._fixed
        for layer in loose.layers:
            layer.length += self.taken * fixed.beams
        loose.seen = fixed.seen[..., : loose.length].clone()
        loose.slot_positions = fixed.slot_positions[..., : loose.length].clone()
        self.logits = self.logits.clone()
        self.cache, self._fixed, self._graph = loose, None, None
