"""One attention call as a recorder sees it: what attention was given, which keys queries may see, its scores.

In:   the tensors and settings of one attention of one layer; mask and biases are whole matrices.
Out:  `Call`, which statistics, edits and maps read; `Scoring`, in which the mask is described compactly
      (causal, a window, hidden keys; any other mask stays a matrix); and the scores as a matrix.

    score = softcap(scale * q . k) + bias + mask          softcap(x) = c * tanh(x / c)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from glassformer.messages import Message
from glassformer.place import Place
from glassformer.recorders.statistics.scoring import HIDDEN, MASKED, Scoring

Kernel = Literal["exact", "fast"]

_ROWS = 256  # of a mask that are read at once


@dataclass(slots=True)
class Call:
    """One attention of one layer; keys and values are not repeated for grouped queries."""

    place: Place
    queries: Tensor  # (B, H, T, K)
    keys: Tensor  # (B, key head, S, K)
    values: Tensor  # (B, key head, S, V)
    mask: Tensor | None  # (B or 1, H or 1, T, S) added to the scores; or boolean, True: the key may be seen
    causal: bool  # no key after its query is seen; only where there is no mask
    scale: float
    softcap: float | None
    bias: Tensor | None  # (B or 1, H, T, S) of positions, added to the scores
    sink: Tensor | None  # (H,) the logit of a column that belongs to no key
    weights: Tensor | None  # (B, H, T, S) from the exact kernel
    unknown: tuple[str, ...]  # arguments of the attention function that are not known here
    relaxed: Message | None = None  # the edit after which rows need not sum to one
    own_queries: Tensor | None = None  # as the model made them, where an edit changed `queries`
    silenced: tuple[int, ...] = ()  # heads whose weights an edit took away, those for a sink included
    window: int | None = None  # no key so many tokens away or farther is seen; only where there is no mask


class Masks:
    """The masks of one recording; layers share them, so each is read once."""

    def __init__(self) -> None:
        self._read: dict[int, tuple[Tensor, Scoring]] = {}  # the tensor is kept, so that its id is not reused

    def score(self, call: Call) -> Scoring:
        """How the only text of a call is scored."""
        pattern = self._find_pattern(call)
        own = None if call.bias is None else call.bias[0].float()
        biases = [bias for bias in (own, pattern.bias) if bias is not None]
        table = bias = None
        if len(biases) == 1 and not pattern.hides_by_bias:
            table = read_distances(biases[0].expand(call.queries.shape[1], -1, -1))
        if table is None and biases:
            bias = torch.stack(torch.broadcast_tensors(*biases)).sum(0)
        return replace(
            pattern, scale=call.scale, bias=bias, distance_bias=table, softcap=call.softcap, sink=call.sink
        )

    def _find_pattern(self, call: Call) -> Scoring:
        """What the queries of the only text of a call may see, without scale."""
        queries, keys = call.queries.shape[2], call.keys.shape[2]
        offset = keys - queries if call.place.kind == "self" and keys > queries else 0
        if call.mask is None:
            return Scoring(1.0, causal=call.causal, window=call.window, offset=offset)
        if id(call.mask) not in self._read:
            pattern = read_mask(call.mask[0].expand(-1, queries, -1), offset)
            self._read[id(call.mask)] = call.mask, pattern
        return self._read[id(call.mask)][1]


def read_mask(mask: Tensor, offset: int) -> Scoring:
    """The mask of one text (H or 1, T, S), described compactly where that is exactly the same."""
    allowed = allowed_by(mask)
    bias = None
    if mask.dtype != torch.bool:
        added = mask.masked_fill(~allowed, 0.0)
        bias = added.float() if bool(added.any()) else None
    compact = None
    same = len(allowed) == 1 or bool((allowed == allowed[:1]).all())
    if same and bool(allowed.any()):
        compact = _find_pattern(allowed[0], offset)
    if compact is None:
        plain = torch.zeros((), device=mask.device) if bias is None else bias
        return Scoring(1.0, offset=offset, bias=torch.where(allowed, plain, MASKED))
    return replace(compact, bias=bias)


def _find_pattern(plane: Tensor, offset: int) -> Scoring | None:
    """Causality, window and hidden keys that together allow exactly `plane` (T, S), if there are any."""
    queries, keys = plane.shape
    positions, columns = (torch.arange(count, device=plane.device) for count in (queries, keys))
    positions = positions + offset
    looking, seen = plane.any(1), plane.any(0)  # (T,), (S,)
    first = plane.byte().argmax(1)
    last = keys - 1 - plane.flip(1).byte().argmax(1)
    ahead, behind = (last - positions)[looking].max(), (positions - first)[looking].max()
    causal = queries > 1 and int(ahead) <= 0
    window = max(int(ahead), int(behind)) + 1
    narrow = False
    for start in range(0, queries, _ROWS):
        block = plane[start : start + _ROWS]
        distance = positions[start : start + _ROWS, None] - columns  # (rows, S)
        reached = seen & (distance >= 0) if causal else seen.expand_as(block)
        near = reached & (distance.abs() < window)
        narrow = narrow or not bool((near == reached).all())
        if not bool((near == block).all()):
            return None
    mask = None if bool(seen.all()) else seen
    return Scoring(1.0, causal, window if narrow else None, offset, key_mask=mask)


def read_distances(bias: Tensor) -> Tensor | None:
    """A bias (H, T, S) that depends on distance alone as a table (H, T + S - 1) by key - query + T - 1."""
    if bias.shape[1] > 1 and not bool((bias[:, 1:, 1:] == bias[:, :-1, :-1]).all()):
        return None
    return torch.cat((bias[:, 1:, 0].flip(1), bias[:, 0]), dim=1)


def allowed_by(mask: Tensor) -> Tensor:
    """Where a mask lets a query look: True, or a number far above the lowest of its type."""
    return mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2


def form_scores(call: Call, scoring: Scoring) -> Tensor:
    """What softmax is given (H, T, S) for the only text of a call; minus infinity where masked."""
    heads, queries, keys = call.queries.shape[1], call.queries.shape[2], call.keys.shape[2]
    states = repeat_heads(call.keys, heads)[0]
    scores = (call.queries[0] @ states.transpose(-1, -2)).float() * scoring.scale
    if scoring.softcap is not None:
        scores = torch.tanh(scores / scoring.softcap) * scoring.softcap
    rows, columns = slice(0, queries), slice(0, keys)
    for bias in scoring.biases(slice(0, heads), rows, columns, queries):
        scores = scores + bias
    for some, hidden in scoring.to("cpu").hidden(rows, columns):
        scores[..., some].masked_fill_(hidden.to(scores.device), -torch.inf)
    return scores.masked_fill(scores <= HIDDEN, -torch.inf)


def join_parts(parts: Sequence[Call]) -> Call:
    """One call of several whose queries see only the keys of their own part."""
    first, lengths = parts[0], [each.queries.shape[2] for each in parts]
    if len(parts) == 1:
        return first
    heads, count = first.queries.shape[1], sum(lengths)
    weights = first.queries.new_zeros((1, heads, count, count))
    allowed = torch.zeros((1, 1, count, count), dtype=torch.bool, device=weights.device)
    start = 0
    for each, length in zip(parts, lengths, strict=True):
        assert each.weights is not None
        own = slice(start, start + length)
        weights[:, :, own, own] = each.weights
        allowed[:, :, own, own] = True if each.mask is None else allowed_by(each.mask)
        start += length
    queries, keys, values = (
        torch.cat([getattr(each, name) for each in parts], dim=2) for name in ("queries", "keys", "values")
    )
    return replace(first, queries=queries, keys=keys, values=values, mask=allowed, weights=weights)


def repeat_heads(states: Tensor, heads: int) -> Tensor:
    """Keys or values (B, key head, S, K) once for each query head (B, H, S, K)."""
    group = heads // states.shape[1]
    return states if group == 1 else states.repeat_interleave(group, dim=1)
