"""One generation under way: what is known after the words so far, and how to take the next step.

In:   a prompt or a source, then one chosen token for each row at a time.
Out:  logits (row, vocabulary) for the next token. Choosing is the business of `generate` and `beam`.
"""

from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor

from glassformer.errors import InputError
from glassformer.model.cache import Cache
from glassformer.model.layers import Memory

if TYPE_CHECKING:
    from glassformer.model.transformer import Transformer


class Decoding(Protocol):
    """What every network that generates can do, Transformer or recurrent."""

    logits: Tensor  # (row, vocabulary) for the next token of each row

    def step(self, ids: Tensor) -> Tensor:
        """Append one token (row,) to each row; the new `logits`."""

    def select(self, rows: Tensor) -> None:
        """Go on with these rows in this order. Rows of one source stay together and are equally many."""


class Prompt(Protocol):
    """A network that can begin a generation: for a decoder `ids` is the prompt, otherwise the source."""

    def begin(
        self, ids: Tensor, real: Tensor | None = None, *, prefix: Tensor | None = None, capacity: int, cached: bool = True
    ) -> Decoding:
        """`prefix` (batch, token) opens the target of an encoder-decoder; `capacity` is for all tokens of a row."""


class CachedDecoding:
    """Each step computes one token: older keys and values are kept, the encoder's are computed once."""

    def __init__(self, network: "Transformer", ids: Tensor, real: Tensor | None, memories: list[Memory] | None, capacity: int):
        assert network.decoder is not None
        self.network = network
        self.decoder = network.decoder
        self.memories = memories
        self.real = real  # (row, token) of the tokens so far, where some are padding
        self.cache = Cache(self.decoder.depth, capacity)
        self.logits = self._run(ids)

    def step(self, ids: Tensor) -> Tensor:
        if self.real is not None:
            self.real = torch.cat((self.real, self.real.new_ones(len(ids), 1)), dim=1)
        self.logits = self._run(ids[:, None])
        return self.logits

    def select(self, rows: Tensor) -> None:
        self.cache.select(rows)
        self.logits = self.logits.index_select(0, rows)
        if self.real is not None:
            self.real = self.real.index_select(0, rows)

    def _run(self, ids: Tensor) -> Tensor:
        network = self.network
        positions = network.positions(ids, self.real, start=self.cache.length)
        hidden = network.embeddings(ids, positions)
        hidden = self.decoder(hidden, positions, self.real, self.memories, self.cache)
        return network.logits(hidden[:, -1:])[:, 0]


class RecomputedDecoding:
    """Each step computes everything again: slow, and what the cached way must agree with."""

    def __init__(self, network: "Transformer", ids: Tensor, real: Tensor | None, memories: list[Memory] | None):
        assert network.decoder is not None
        self.network = network
        self.memories = memories
        self.ids = ids
        self.real = real
        self.logits = self._run()

    def step(self, ids: Tensor) -> Tensor:
        self.ids = torch.cat((self.ids, ids[:, None]), dim=1)
        if self.real is not None:
            self.real = torch.cat((self.real, self.real.new_ones(len(ids), 1)), dim=1)
        self.logits = self._run()
        return self.logits

    def select(self, rows: Tensor) -> None:
        self.ids = self.ids.index_select(0, rows)
        self.logits = self.logits.index_select(0, rows)
        if self.real is not None:
            self.real = self.real.index_select(0, rows)

    def _run(self) -> Tensor:
        network = self.network
        assert network.decoder is not None
        positions = network.positions(self.ids, self.real)
        hidden = network.embeddings(self.ids, positions, None, self.real)
        hidden = network.decoder(hidden, positions, self.real, self.memories)
        return network.logits(hidden[:, -1:])[:, 0]


def begin_decoding(
    network: "Transformer", ids: Tensor, real: Tensor | None, prefix: Tensor | None, capacity: int, *, cached: bool
) -> Decoding:
    """Read the prompt, or encode the source and read the start of the target."""
    if network.decoder is None:
        raise InputError("An encoder alone has no decoder to generate with; use a decoder or an encoder-decoder.")
    memories = None
    if network.encoder is not None:
        memories = network.memories(network.encode(ids, real), real)
        ids, real = start_of_target(network.config.start_id, ids, prefix), None
    elif prefix is not None:
        raise InputError("A decoder alone continues its prompt; put the prefix into the prompt instead.")
    if real is not None and bool(real.all()):
        real = None
    if cached:
        return CachedDecoding(network, ids, real, memories, capacity)
    return RecomputedDecoding(network, ids, real, memories)


def start_of_target(start_id: int | None, source: Tensor, prefix: Tensor | None) -> Tensor:
    """The first tokens of the target, one row for each source: the given prefix, or the configured start."""
    if prefix is not None:
        return prefix
    if start_id is None:
        raise InputError("The configuration names no start_id; set it, or pass the first target tokens as `prefix`.")
    return torch.full((len(source), 1), start_id, dtype=torch.long, device=source.device)
