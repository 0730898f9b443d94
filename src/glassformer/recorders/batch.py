"""A batch of texts of one length, recorded in one pass: each map is that of one text with many heads.

In:   attention calls (B, H, T, K) of texts that have equally many tokens, so that nothing is padded.
Out:  the same calls with B * H heads, which statistics and maps take as they are; then a `Run` for each text.

Heads of text b are number b * H to (b + 1) * H - 1. With grouped queries, query head b * H + h reads key head
b * G + h // (H / G), which is what folding keys in the same way gives.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from glassformer.recorders.call import Call
from glassformer.recorders.comparison import tolerance_of
from glassformer.recorders.maps import Axes, MapMaker
from glassformer.recorders.request import Run
from glassformer.recording import AttentionMap
from glassformer.recording.head_parts import take_heads

NO_NAMES = Axes({}, {})  # tokens differ from text to text; positions are numbered


class CannotFoldError(Exception):
    """The rows of a call are not those of the texts, or see different keys."""


class BatchRow(NamedTuple):
    """One text of a batch."""

    axes: Axes
    finish: Callable[[Sequence[AttentionMap]], Run]  # from its maps


@dataclass(frozen=True, slots=True)
class BatchRows(Sequence[BatchRow]):
    """The texts of a batch, each made when it is first read: sums need none of them."""

    texts: int
    make: Callable[[int], BatchRow]
    made: dict[int, BatchRow] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.texts

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number < self.texts:
            raise IndexError(number)
        if number not in self.made:
            self.made[number] = self.make(number)
        return self.made[number]


@dataclass(frozen=True, slots=True)
class Batch:
    """Some texts after their pass."""

    maps: Sequence[AttentionMap]  # of all texts together, with numbered positions
    rows: Sequence[BatchRow]

    def take(self, number: int, maps: Sequence[AttentionMap] | None = None) -> list[AttentionMap]:
        """The maps of one text; `maps`: those of them that are wanted."""
        axes = self.rows[number].axes
        return [
            take_heads(each, number, len(self.rows), *axes.find(each.place, *each.shape[1:]))
            for each in (self.maps if maps is None else maps)
        ]

    def read(self, number: int) -> Run:
        """What the pass showed of one text."""
        return self.rows[number].finish(self.take(number))


@dataclass(frozen=True, slots=True)
class FoldingMaker:
    """Gives a `MapMaker` calls of a whole batch."""

    maker: MapMaker
    texts: int

    def receive(self, call: Call) -> Tensor | None:
        """As `MapMaker.receive`: the output (B, T, H, V) where the call has no weights."""
        return self._unfold(self.maker.receive(fold(call, self.texts)))

    def attend(self, call: Call) -> Tensor | None:
        """As `MapMaker.attend`."""
        folded = fold(call, self.texts)
        output = self._unfold(self.maker.attend(folded))
        if folded.weights is not None:  # (1, B * H, T, S); a model without sdpa may read them
            call.weights = folded.weights[0].unflatten(0, (self.texts, -1))  # (B, H, T, S)
        return output

    def _unfold(self, output: Tensor | None) -> Tensor | None:
        if output is None:
            return None
        return output[0].unflatten(1, (self.texts, -1)).transpose(0, 1)  # (T, B, H, V) -> (B, T, H, V)


def fold(call: Call, texts: int) -> Call:
    """One call of several texts as that of one text with all of their heads."""
    if call.queries.shape[0] != texts:
        raise CannotFoldError
    return replace(
        call,
        queries=_join(call.queries),
        keys=_join(call.keys),
        values=_join(call.values),
        mask=_share(call.mask, texts),
        bias=_share(call.bias, texts),
        sink=None if call.sink is None else call.sink.repeat(texts),
        weights=None if call.weights is None else _join(call.weights),
        own_queries=None if call.own_queries is None else _join(call.own_queries),
    )


def _join(states: Tensor) -> Tensor:
    """(B, H, …) -> (1, B * H, …)"""
    return states.flatten(0, 1)[None]


def _share(added: Tensor | None, texts: int) -> Tensor | None:
    """A mask or bias (B or 1, H or 1, T, S) for all heads; masks must be the same for all texts."""
    if added is None:
        return None
    if added.shape[0] > 1 and added.stride(0) != 0 and not torch.equal(added, added[:1].expand_as(added)):
        raise CannotFoldError
    if added.shape[1] == 1:
        return added[:1]
    return added[:1].repeat(1, texts, 1, 1)


def take_row(outputs: Any, number: int, texts: int) -> Any:
    """What a model of transformers returned for one text of a batch, as a batch of one."""
    if isinstance(outputs, Tensor):
        if outputs.dim() == 0 or outputs.shape[0] != texts:
            return outputs
        return outputs[number : number + 1]
    if isinstance(outputs, Mapping):
        return {name: take_row(value, number, texts) for name, value in outputs.items()}
    if isinstance(outputs, tuple | list):
        return tuple(take_row(value, number, texts) for value in outputs)
    return outputs


def agree(network: torch.nn.Module, batch: Batch, alone: Batch) -> bool:
    """Whether the first text of a batch was seen as in a pass of its own, as far as rounding explains."""
    far, sharpest = 0.0, 1.0
    for one, other in zip(batch.take(0), alone.take(0), strict=True):
        if one.place != other.place or one.shape != other.shape:
            return False
        seen, known = one.statistics, other.statistics
        looking = known.looking
        scores = np.abs(known.log_sum_exp[looking])
        sharpest = max(sharpest, float(scores[np.isfinite(scores)].max(initial=1.0)))
        far = max(far, float(np.abs(seen.peak - known.peak)[looking].max(initial=0.0)))
        masses = np.abs(seen.mass - known.mass) / max(1, int(known.rows.sum()))
        far = max(far, float(masses.max(initial=0.0)))
    return far <= tolerance_of(network, sharpest)
