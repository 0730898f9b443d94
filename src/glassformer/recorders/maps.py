"""From attention calls to attention maps.

In:   a `Call` of one layer, the tokens on both sides, and what is wanted.
Out:  an `AttentionMap`. With the exact kernel the weights are those of the call, and statistics are computed
      from queries and keys. With the fast kernel attention itself is computed here, in the pass that measures
      it; weights of short texts come from that pass, those of long ones are computed from queries and keys
      when they are read.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.errors import RecordingError
from glassformer.messages import Message, message
from glassformer.place import Place
from glassformer.recorders.call import Call, Masks, allowed_keys, form_scores
from glassformer.recorders.statistics.measure import (
    Measured,
    attend_and_measure,
    head_statistics,
    measures_there,
)
from glassformer.recorders.statistics.raw import Wanted
from glassformer.recorders.statistics.scoring import HIDDEN, Scoring
from glassformer.recorders.statistics.transfer import TransferPool, on_side_stream, record_event
from glassformer.recorders.store import LONGEST_DENSE, Array, ArrayStore, as_numbers, store_temporarily
from glassformer.recording import (
    AttentionMap,
    Factors,
    HeadStatistics,
    Pyramid,
    Tokens,
    count_pixels,
    measure,
)
from glassformer.recording.tiles import PYRAMID_LEVEL
from glassformer.rounding import rounding

SHORTEST_PYRAMID = 8192  # keys; tiles of shorter texts are computed fast enough
LARGEST_PYRAMIDS = 64 << 20  # bytes of pyramids for one map; further heads have none
UNVERIFIED = "recorders.notes.unknown_argument"  # the code of a note


@dataclass(slots=True)
class Axes:
    """The tokens on the axes of maps, by stack; axes of other lengths have numbered positions."""

    tokens: dict[str, Tokens]
    real: dict[str, NDArray[np.bool_]]  # by stack, (token,) False for padding
    source: str = "encoder"  # the stack whose states are the keys of cross-attention

    def queries(self, place: Place, count: int) -> Tokens:
        return self._find(place.stack, count)

    def keys(self, place: Place, count: int) -> Tokens:
        return self._find(place.stack if place.kind == "self" else self.source, count)

    def rows(self, place: Place, count: int) -> NDArray[np.bool_]:
        """Which query rows are real."""
        real = self.real.get(place.stack)
        return np.ones(count, dtype=bool) if real is None or len(real) != count else real

    def _find(self, stack: str, count: int) -> Tokens:
        tokens = self.tokens.get(stack)
        if tokens is not None and len(tokens) == count:
            return tokens
        return Tokens.positional("source", count)


@dataclass(slots=True)
class Parts:
    """What a map may hold besides its statistics."""

    dense: Array | None = None
    scores: Array | None = None
    sink: Array | None = None
    factors: Factors | None = None
    pyramids: Mapping[int, Pyramid] = field(default_factory=dict)


class States(NamedTuple):
    """Queries, keys and values of a call that are kept."""

    kept: Mapping[str, Array]  # by name: queries, keys, values
    scale: float
    dtype: str


@dataclass(slots=True)
class MapMaker:
    """Makes the maps of one recording, in the order of the calls, inside a `with` block."""

    axes: Axes
    want: Collection[str]
    keep: ArrayStore = store_temporarily
    notes: dict[Message, None] = field(default_factory=dict)  # in order, each once
    masks: Masks = field(default_factory=Masks)
    waiting: list[Callable[[], AttentionMap]] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)  # on a GPU; to be copied
    transfers: TransferPool | None = None

    def receive(self, call: Call) -> Tensor | None:
        """Take what is needed from a call; returns the output of attention where the call has no weights."""
        _check_batch(call)
        for name in call.unknown:
            self.notes[message(UNVERIFIED, name=name)] = None
        if call.weights is not None or not measures_there(call.queries):
            _require_finite(call.place, _are_finite(call))  # what a GPU measures is checked after the copy
        if call.weights is None:
            return self._receive_fast(call)
        self._receive_exact(call, call.weights[0])
        return None

    def finish(self) -> list[AttentionMap]:
        """The maps; results of a GPU are copied and checked while it still computes later layers."""
        with self:
            if self.measured:
                self._start_transfers().fetch([each.fetch for each in self.measured])
            maps = [make() for make in self.waiting]
        self.waiting.clear()
        self.measured.clear()
        return maps

    def __enter__(self) -> "MapMaker":
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for all threads, also after an exception: they may write to a file that is closed next."""
        if self.transfers is not None:
            self.transfers.close()
            self.transfers = None

    def _receive_exact(self, call: Call, weights: Tensor) -> None:
        numbers = weights.detach().float().cpu().numpy()  # (head, query, key), not copied
        statistics = self._measure(call, numbers)
        parts = Parts(sink=_weigh_sink(call.sink, statistics, numbers, call.silenced))
        if "weights" in self.want:
            parts.dense = numbers
        if "scores" in self.want and not np.isnan(statistics.log_sum_exp).all():
            parts.scores = as_numbers(form_scores(call, self.masks.see(call)))
        kept = self._keep(call.place, self._choose_states(call))
        states = _describe_states(call)._replace(kept=kept)
        finished = self._make(call.place, statistics, parts, states, call.relaxed)
        self.waiting.append(lambda: finished)

    def _measure(self, call: Call, weights: Array) -> HeadStatistics:
        """Statistics from queries and keys, which is faster and gives the log-sum-exp, where they agree with
        the weights; otherwise, or where weights were edited, from the weights alone."""
        rows = self.axes.rows(call.place, weights.shape[1])
        scoring = self.masks.score(call)
        if call.relaxed is None:
            found = head_statistics(call.queries[0], call.keys[0], scoring, rows=torch.from_numpy(rows))
            if _agree(found, weights, rows, call.queries.shape[-1]):
                return found
            self.notes[message("recorders.notes.measured_by_weights", place=call.place)] = None
        allowed = allowed_keys(call, self.masks.see(call)).cpu().numpy() | (weights > 0)
        sink = None if call.sink is None else _leave_to_sink(weights, call.silenced)
        return measure(weights, allowed, rows, sink_weights=sink, offset=scoring.offset)

    def _receive_fast(self, call: Call) -> Tensor:
        scoring = self.masks.score(call)
        heads, queries = call.queries.shape[1:3]
        keys = call.keys.shape[2]
        short = max(queries, keys) <= LONGEST_DENSE
        measured = attend_and_measure(
            call.queries[0],
            call.keys[0],
            call.values[0],
            scoring,
            Wanted(
                rows=torch.from_numpy(self.axes.rows(call.place, queries)),
                weights=short and "weights" in self.want,
                pyramids=_choose_heads(heads, queries, keys),
            ),
        )
        factored = "scores" in self.want or ("weights" in self.want and not short)
        keep = self._send_states(call, ("queries", "keys") if factored else ())

        def make() -> AttentionMap:
            _require_finite(place, measured.raw.finite)
            statistics, states = measured.statistics, keep()
            parts = Parts(dense=measured.weights, pyramids=measured.pyramids)
            if factored:
                parts.factors = _make_factors(states, scoring, statistics)
            else:  # factors have their sink; statistics alone are checked with it, too
                parts.sink = _weigh_sink(call_sink, statistics, parts.dense)
            return self._make(place, statistics, parts, states)

        place, call_sink = call.place, call.sink  # so that the rest of the call can be freed
        self.waiting.append(make)
        if call.queries.is_cuda:
            self.measured.append(measured)
        output, measured.output = measured.output, None  # so that it is freed when the model is done with it
        assert output is not None
        return output.transpose(0, 1)[None].to(call.values.dtype)  # (1, T, H, V)

    def _send_states(self, call: Call, also: Collection[str]) -> Callable[[], States]:
        """Store vectors; those of a GPU in the background, as copies that the model cannot change."""
        place, about, wanted = call.place, _describe_states(call), self._choose_states(call, also)
        if not call.queries.is_cuda or not wanted:
            states = about._replace(kept=self._keep(place, wanted))
            return lambda: states
        copies = {name: each.clone(memory_format=torch.contiguous_format) for name, each in wanted.items()}
        ready, device = record_event(call.queries.device), call.queries.device

        def keep() -> States:
            with on_side_stream(device, ready):
                return about._replace(kept=self._keep(place, copies))

        return self._start_transfers().store(keep, sum(each.nbytes for each in copies.values()))

    def _start_transfers(self) -> TransferPool:
        self.transfers = self.transfers or TransferPool()
        return self.transfers

    def _choose_states(self, call: Call, also: Collection[str] = ()) -> dict[str, Tensor]:
        """Queries, keys and values as far as they are wanted."""
        states = {"queries": call.queries[0], "keys": call.keys[0], "values": call.values[0]}
        return {name: each.detach() for name, each in states.items() if name in self.want or name in also}

    def _keep(self, place: Place, states: Mapping[str, Tensor]) -> dict[str, Array]:
        stack, kind, layer = place[:3]
        return {
            name: self.keep(f"kept/{stack}/{kind}/{layer}/{name}", tensor) for name, tensor in states.items()
        }

    def _make(
        self,
        place: Place,
        statistics: HeadStatistics,
        parts: Parts,
        states: States,
        relaxed: Message | None = None,
    ) -> AttentionMap:
        return AttentionMap(
            place=place,
            query=self.axes.queries(place, statistics.queries),
            key=self.axes.keys(place, statistics.keys),
            statistics=statistics,
            dense=parts.dense,
            factors=parts.factors,
            sink_weights=parts.sink,
            dense_scores=parts.scores,
            queries=states.kept.get("queries"),
            keys=states.kept.get("keys"),
            values=states.kept.get("values"),
            scale=states.scale,
            pyramids=parts.pyramids,
            dtype=states.dtype,
            relaxed=relaxed,
        )


def _check_batch(call: Call) -> None:
    batch, _, count, _ = call.queries.shape
    if batch != 1:
        raise RecordingError("recorders.maps.several_sequences", place=call.place, batch=batch, count=count)


def _describe_states(call: Call) -> States:
    """The same before anything is kept."""
    return States({}, call.scale, str(call.queries.dtype).removeprefix("torch."))


def _are_finite(call: Call) -> bool:
    """Whether all queries, keys and values are finite: the least and the largest of each are."""
    given = (states.detach() for states in (call.queries, call.keys, call.values) if states.numel() > 0)
    return bool(
        torch.stack([extreme for states in given for extreme in torch.aminmax(states)]).isfinite().all()
    )


def _require_finite(place: Place, finite: bool) -> None:
    if not finite:
        raise RecordingError("recorders.maps.not_finite", place=place)


def _choose_heads(heads: int, queries: int, keys: int) -> range:
    """The heads that get a pyramid: of long texts, as many as LARGEST_PYRAMIDS allows."""
    if keys < SHORTEST_PYRAMID:
        return range(0)
    size = 8 * count_pixels(queries, PYRAMID_LEVEL) * count_pixels(keys, PYRAMID_LEVEL)
    return range(min(heads, max(1, LARGEST_PYRAMIDS // size)))


def _agree(statistics: HeadStatistics, weights: Array, rows: NDArray[np.bool_], width: int) -> bool:
    """Whether measured peaks and masses are those of the weights, as far as float32 can tell: both need one
    product of vectors of this width and one softmax."""
    looking = (statistics.allowed > 0)[:, rows]
    scores = np.abs(statistics.log_sum_exp[:, rows][looking]).max(initial=1.0)
    tolerance = rounding(operations=2, summands=width, scores=float(scores))
    peaks = np.abs(statistics.peak - weights.max(axis=-1, initial=0.0))[:, rows]
    masses = np.abs(statistics.mass - weights[:, rows].sum(axis=1, dtype=np.float64))
    return bool((peaks[looking] <= tolerance).all() and (masses <= tolerance * max(1, rows.sum())).all())


def _make_factors(states: States, scoring: Scoring, statistics: HeadStatistics) -> Factors:
    """What the weights of a call are computed from, as a recording keeps it."""
    extras = (scoring.bias, scoring.distance_bias, scoring.sink)
    bias, distance_bias, sink = (None if each is None else as_numbers(each) for each in extras)
    if bias is not None:
        bias[bias <= HIDDEN] = -np.inf
    return Factors(
        queries=states.kept["queries"],
        keys=states.kept["keys"],
        log_sum_exp=statistics.log_sum_exp,
        scale=scoring.scale,
        bias=bias,
        distance_bias=distance_bias,
        causal=scoring.causal,
        window=scoring.window,
        offset=scoring.offset,
        key_mask=None if scoring.key_mask is None else scoring.key_mask.cpu().numpy(),
        softcap=scoring.softcap,
        sink=sink,
    )


def _weigh_sink(
    sink: Tensor | None, statistics: HeadStatistics, weights: Array | None, silenced: Sequence[int] = ()
) -> Array | None:
    """The weight (head, query) that goes to no key."""
    if sink is None:
        return None
    if weights is not None and np.isnan(statistics.log_sum_exp).any():
        return _leave_to_sink(weights, silenced)
    return np.exp(as_numbers(sink)[:, None] - statistics.log_sum_exp).astype(np.float32)


def _leave_to_sink(weights: Array, silenced: Sequence[int]) -> Array:
    """What rows (head, query) leave to a sink; a head that is silenced leaves nothing."""
    left: Array = np.asarray(1 - weights.sum(axis=-1), dtype=np.float32)
    left[list(silenced)] = 0
    return left
