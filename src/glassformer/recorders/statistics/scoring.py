"""How one attention turns queries and keys into scores, and which keys each query may see.

In:   the settings of an attention function: scale, masks, biases, soft cap, sink.
Out:  Scoring, the description that `recording.Factors` keeps; what a block of rows can reach and must hide.

Query i stands at position i + offset, key j at position j; see recording/factors.py for the formula.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

LOG2_E = 1.4426950408889634  # scores are computed to base 2
MASKED = -1e30  # the score of a hidden key: finite, so that 0 · score stays 0; exp of it is 0
HIDDEN = -1e29  # below this a score counts as hidden


@dataclass(frozen=True, slots=True)
class Scoring:
    """How scores are formed; a bias at or below -1e29 hides a key as minus infinity does."""

    scale: float
    causal: bool = False  # hides keys after the query
    window: int | None = None  # hides keys at this distance or farther
    offset: int = 0  # the position of the first query
    key_mask: Tensor | None = None  # (key,) True where looking is allowed
    bias: Tensor | None = None  # (head or 1, query or 1, key or 1) added to the scores
    distance_bias: Tensor | None = None  # (head, query + key - 1) entry key - query + (query count - 1)
    softcap: float | None = None
    sink: Tensor | None = None  # (head,) the logit of a column that belongs to no key

    @property
    def is_plain(self) -> bool:
        """Whether scores are scaled products, and nothing but causality hides a key."""
        special = self.window, self.key_mask, self.bias, self.distance_bias, self.softcap, self.sink
        return all(each is None for each in special)

    def to(self, device: str | torch.device) -> "Scoring":
        """The same with its tensors on a device."""
        tensors = {
            name: tensor.to(device)
            for name in ("key_mask", "bias", "distance_bias", "sink")
            if (tensor := getattr(self, name)) is not None
        }
        return replace(self, **tensors) if tensors else self

    def of_heads(self, heads: slice) -> "Scoring":
        """The scoring of some heads alone."""
        bias = self.bias if self.bias is None or self.bias.shape[0] == 1 else self.bias[heads]
        table, sink = (
            None if tensor is None else tensor[heads] for tensor in (self.distance_bias, self.sink)
        )
        return replace(self, bias=bias, distance_bias=table, sink=sink)

    def hidden(self, queries: slice, keys: slice) -> Iterator[tuple[slice, Tensor]]:
        """Columns of a rectangle, and which of their cells are hidden: (row or 1, column)."""
        rows = torch.arange(queries.start, queries.stop)[:, None] + self.offset
        first, last = queries.start + self.offset, queries.stop - 1 + self.offset  # positions

        def columns(start: int, stop: int) -> tuple[slice, Tensor] | None:
            start, stop = max(start, keys.start), min(stop, keys.stop)
            if start >= stop:
                return None
            return slice(start - keys.start, stop - keys.start), torch.arange(start, stop)

        if self.causal and (part := columns(first + 1, keys.stop)):
            yield part[0], part[1] > rows
        if self.window is not None:
            if part := columns(keys.start, last - self.window + 1):
                yield part[0], part[1] <= rows - self.window
            if not self.causal and (part := columns(first + self.window, keys.stop)):
                yield part[0], part[1] >= rows + self.window
        if self.key_mask is not None:
            mask = self.key_mask[keys]
            if not bool(mask.all()):
                yield slice(0, len(mask)), ~mask[None, :]

    def count_allowed(self, queries: int, keys: int) -> Tensor:
        """How many keys masks leave to each query (query,); what a bias hides is not known here."""
        positions = torch.arange(queries) + self.offset
        first, last = torch.zeros_like(positions), torch.full_like(positions, keys)
        if self.causal:
            last = last.minimum(positions + 1)
        if self.window is not None:
            first, last = first.maximum(positions - self.window + 1), last.minimum(positions + self.window)
        first, last = first.clamp(0, keys), last.clamp(0, keys)
        if self.key_mask is None:
            return (last - first).clamp_min(0)
        before = torch.nn.functional.pad(self.key_mask.cpu().long().cumsum(0), (1, 0))  # (key + 1,)
        return (before[last] - before[first]).clamp_min(0)

    def biases(self, heads: slice, queries: slice, keys: slice, query_count: int) -> Iterator[Tensor]:
        """What is added to the scores of a rectangle, each (head or 1, query or 1, key or 1)."""
        if self.bias is not None:
            by_head, by_query, by_key = (length > 1 for length in self.bias.shape)
            whole = slice(None)
            yield self.bias[
                heads if by_head else whole, queries if by_query else whole, keys if by_key else whole
            ]
        if self.distance_bias is not None:
            rows, columns = queries.stop - queries.start, keys.stop - keys.start
            # Row i of the rectangle is a stretch of the table that starts one entry earlier than row i - 1.
            start = keys.start - (queries.stop - 1) + query_count - 1
            stretches = self.distance_bias[heads, start : start + rows - 1 + columns].unfold(-1, columns, 1)
            yield stretches.flip(1)  # (head, row, column)

    @property
    def hides_by_bias(self) -> bool:
        """Whether a bias works as a mask: allowed keys must then be counted score by score."""
        tables = [table for table in (self.bias, self.distance_bias) if table is not None]
        return any(bool((table <= HIDDEN).any()) for table in tables)
