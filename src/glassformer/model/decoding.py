"""One generation under way: what is known after the words so far, and how to take the next step.

In:   a prompt or a source, then one chosen token for each row at a time.
Out:  logits (row, vocabulary) for the next token; `generate` and `beam` choose it.
"""

from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor

from glassformer.config import NetworkConfig
from glassformer.errors import InputError
from glassformer.model.attention import Mask
from glassformer.model.cache import Cache
from glassformer.model.layers import Memory
from glassformer.model.linear import generating
from glassformer.model.positions import count_positions

if TYPE_CHECKING:
    from glassformer.model.transformer import Transformer


class Decoding(Protocol):
    """What every network that generates can do, Transformer or recurrent. At first a source has one row."""

    logits: Tensor  # (row, vocabulary) for the next token of each row

    def step(self, ids: Tensor) -> Tensor:
        """Append one token (row,) to each row; the new `logits`."""

    def select(self, rows: Tensor) -> None:
        """Go on with these rows in this order: every source stays in its place, each with equally many rows.

        Until the next step `logits` may still be those of the old rows.
        """

    def keep(self, sources: Tensor) -> None:
        """Go on with all rows of these sources and leave out the others; `logits` too."""


class GenerationNetwork(Protocol):
    """A network that can begin a generation: for a decoder `ids` is the prompt, otherwise the source.

    The source of some encoders is a picture or a sound.
    """

    @property
    def config(self) -> NetworkConfig:
        """Names the vocabulary, the end token and the longest sequence."""

    def check_source(self, source: Tensor, real: Tensor | None) -> None:
        """Refuse a prompt or a source that cannot be read, and a mask that does not fit it."""

    def begin(
        self,
        ids: Tensor,
        real: Tensor | None = None,
        *,
        prefix: Tensor | None = None,
        capacity: int,
        cached: bool = True,
        ctc: float = 0.0,
    ) -> Decoding:
        """`prefix` (batch, token) opens the target of an encoder-decoder; `capacity` counts its tokens.

        `ctc` is the weight of what an encoder tells by CTC, see `joint`.
        """


class _TransformerDecoding:
    """What both ways to decode with a Transformer share."""

    logits: Tensor

    def __init__(self, network: "Transformer", sources: int, memories: list[Memory] | None) -> None:
        assert network.decoder is not None
        self.network = network
        self.decoder = network.decoder
        self.memories = memories
        self.sources = sources

    def keep(self, sources: Tensor) -> None:
        self.logits = self.logits.unflatten(0, (self.sources, -1)).index_select(0, sources).flatten(0, 1)
        self.sources = len(sources)
        if self.memories is not None:
            self.memories = [_keep_memory(memory, sources) for memory in self.memories]


class CachedDecoding(_TransformerDecoding):
    """Each step computes one token: older keys and values are kept, the encoder's are computed once.

    To the decoder the beams of a source are tokens of one row (source, beam), all at the same position; the
    cache knows what each may see.
    """

    drops = True  # keys and values that a window hides for ever are dropped

    def __init__(
        self,
        network: "Transformer",
        ids: Tensor,
        real: Tensor | None,
        memories: list[Memory] | None,
        capacity: int,
    ):
        super().__init__(network, len(ids), memories)
        self.cache = Cache(self.decoder.depth, capacity, self.decoder.window if self.drops else None)
        positions = network.positions(ids, real)
        self.next = positions[..., -1:] + 1  # (1,) or (source, 1): the position of the next token
        self.logits = self._run(ids, positions, real)[:, -1]

    def step(self, ids: Tensor) -> Tensor:
        ids = ids.view(self.sources, -1)  # (source, beam)
        positions = self.next.expand(*self.next.shape[:-1], ids.shape[1])
        self.logits = self._run(ids, positions).flatten(0, 1)
        self.next = self.next + 1
        return self.logits

    def select(self, rows: Tensor) -> None:
        self.cache.select(rows.view(self.sources, -1) % self.cache.beams)  # counted through all sources

    def keep(self, sources: Tensor) -> None:
        super().keep(sources)
        self.cache.keep(sources)
        if self.next.dim() == 2:
            self.next = self.next.index_select(0, sources)

    def _run(self, ids: Tensor, positions: Tensor, real: Tensor | None = None) -> Tensor:
        self.cache.open(positions, real)
        first = self.cache.length == 0
        with generating(self):
            hidden = self.network.embeddings(ids, positions)
            hidden = self.decoder(hidden, positions, None, self.memories, self.cache)
            return self.network.logits(hidden[:, -1:] if first else hidden)


class RecomputedDecoding(_TransformerDecoding):
    """Each step computes everything again: slow, and what the cached way must agree with."""

    def __init__(
        self, network: "Transformer", ids: Tensor, real: Tensor | None, memories: list[Memory] | None
    ):
        super().__init__(network, len(ids), memories)
        self.ids = ids
        self.real = real
        network.check_length(ids.shape[1])
        self.logits = self._run()

    def step(self, ids: Tensor) -> Tensor:
        self.ids = torch.cat((self.ids, ids[:, None]), dim=1)
        if self.real is not None:
            self.real = torch.cat((self.real, self.real.new_ones(len(ids), 1)), dim=1)
        self.logits = self._run()
        return self.logits

    def select(self, rows: Tensor) -> None:
        self.ids = self.ids.index_select(0, rows)
        self.real = None if self.real is None else self.real.index_select(0, rows)

    def keep(self, sources: Tensor) -> None:
        beams = len(self.ids) // self.sources
        self.select((sources[:, None] * beams + torch.arange(beams, device=sources.device)).flatten())
        super().keep(sources)

    def _run(self) -> Tensor:
        positions = count_positions(self.ids, self.real)
        hidden = self.network.embeddings(self.ids, positions, None, self.real)
        hidden = self.decoder(hidden, positions, self.real, self.memories)
        return self.network.logits(hidden[:, -1:])[:, 0]


def _keep_memory(memory: Memory, sources: Tensor) -> Memory:
    allowed = None if memory.mask.allowed is None else memory.mask.allowed.index_select(0, sources)
    keys, values = (part.index_select(0, sources) for part in (memory.keys, memory.values))
    return Memory(keys, values, Mask(allowed))


def start_of_target(start_id: int | None, source: Tensor, prefix: Tensor | None) -> Tensor:
    """The first tokens of the target, one row for each source: the given prefix, or the configured start."""
    if prefix is not None:
        return prefix
    if start_id is None:
        raise InputError("model.no_start_id")
    return torch.full((len(source), 1), start_id, dtype=torch.long, device=source.device)
