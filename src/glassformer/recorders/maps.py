"""From attention calls to attention maps.

In:   a `Call` of one layer, the tokens on both sides, and what is wanted.
Out:  an `AttentionMap`. With the exact kernel the weights are those of the call, and statistics are computed
      from queries and keys. With the fast kernel attention itself is computed here, in the pass that measures
      it; weights of short texts come from that pass, those of long ones are computed from queries and keys
      when they are read.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.errors import RecordingError
from glassformer.messages import Message, message
from glassformer.place import Place
from glassformer.recorders.call import Call, Masks, form_scores, repeat_heads
from glassformer.recorders.formed import FormedLater
from glassformer.recorders.statistics.device import DeviceMap
from glassformer.recorders.statistics.from_weights import can_measure, measure_weights
from glassformer.recorders.statistics.measure import (
    Measured,
    attend_and_keep,
    attend_and_measure,
    head_statistics,
    measures_there,
)
from glassformer.recorders.statistics.raw import Wanted
from glassformer.recorders.statistics.scoring import HIDDEN, Scoring
from glassformer.recorders.statistics.softmax_rows import can_form, form_weights
from glassformer.recorders.statistics.transfer import TransferPool, on_side_stream, record_event
from glassformer.recorders.store import LONGEST_DENSE, Array, ArrayStore, as_numbers, hold_or_store
from glassformer.recording import AttentionMap, Factors, HeadStatistics, Tokens, count_pixels, measure
from glassformer.recording.tiles import PYRAMID_LEVEL
from glassformer.rounding import rounding

SHORTEST_PYRAMID = 8192  # keys; tiles of shorter texts are computed fast enough
LARGEST_PYRAMIDS = 64 << 20  # bytes of pyramids for one map; further heads have none
FORMED_AGAIN = 640  # tokens; memory for matrices of shorter texts takes less time than forming them
_SUMMED = 64  # rows that are added in float32, before sums are added in float64
SUMS = "sums"  # wanted by studies alone: statistics that are added up where they were computed
UNVERIFIED = "recorders.notes.unknown_argument"  # the code of a note


@dataclass(slots=True)
class Axes:
    """The tokens on the axes of maps, by stack; axes of other lengths have numbered positions."""

    tokens: dict[str, Tokens]
    real: dict[str, NDArray[np.bool_]]  # by stack, (token,) False for padding
    source: str = "encoder"  # the stack whose states are the keys of cross-attention
    name: Callable[[str, int], Tokens] | None = None  # positions of a stack that are not text
    refine: Callable[[Tokens], Tokens] | None = None  # a text with what a pass showed about it

    def find(self, place: Place, queries: int, keys: int) -> tuple[Tokens, Tokens]:
        """The queries and the keys of a map."""
        read = place.stack if place.kind == "self" else self.source
        return self._find(place.stack, queries), self._find(read, keys)

    def rows(self, place: Place, count: int) -> NDArray[np.bool_]:
        """Which query rows are real."""
        real = self.real.get(place.stack)
        return np.ones(count, dtype=bool) if real is None or len(real) != count else real

    def _find(self, stack: str, count: int) -> Tokens:
        tokens = self.tokens.get(stack)
        if tokens is not None and len(tokens) == count:
            return tokens if self.refine is None else self.refine(tokens)
        return Tokens.positional("source", count) if self.name is None else self.name(stack, count)


class States(NamedTuple):
    """Queries, keys and values of a call, as far as they are kept; fields of `AttentionMap`."""

    scale: float
    dtype: str
    queries: Any = None  # an array, or a `Later` that is one when it is read
    keys: Any = None
    values: Any = None


@dataclass(slots=True)
class MapMaker:
    """Makes the maps of one recording, in the order of the calls, inside a `with` block."""

    axes: Axes
    want: Collection[str]
    keep: ArrayStore = hold_or_store
    later: bool = False  # whether `attend` may leave weights to be formed again when they are read
    proven: bool = False  # whether weights of this recording were formed again to the last bit
    room: Tensor | None = None  # for weights that are not kept
    notes: dict[Message, None] = field(default_factory=dict)  # in order, each once
    masks: Masks = field(default_factory=Masks)
    waiting: list[Callable[[], AttentionMap | DeviceMap]] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)  # on a GPU; to be copied
    transfers: TransferPool | None = None

    def receive(self, call: Call) -> Tensor | None:
        """Take what is needed from a call; returns the output of attention where the call has no weights."""
        _require_one(call)
        for name in call.unknown:
            self.notes[message(UNVERIFIED, name=name)] = None
        if call.weights is not None or not measures_there(call.queries):
            _require_finite(call.place, _are_finite(call))  # what a GPU measures is checked after the copy
        if call.weights is None:
            return self._receive_sums(call) if SUMS in self.want else self._receive_fast(call)
        self._receive_exact(call, call.weights[0])
        return None

    def attend(self, call: Call) -> Tensor | None:
        """The output of attention as standard eager functions compute it, to the last bit; measures it, too.

        None where it has more than a scale and a causal mask: nothing has been received then.
        """
        _require_one(call)
        scoring = self.masks.score(call)
        if not can_form(call.queries, call.keys, scoring):
            return None
        _require_finite(call.place, _are_finite(call))
        heads, count = call.queries.shape[1:3]
        keys, values = (repeat_heads(each, heads) for each in (call.keys, call.values))
        shape = (1, heads, count, keys.shape[2])
        later = self.later and min(shape[2:]) >= FORMED_AGAIN
        room = self._find_room(shape) if later else None
        products = torch.matmul(call.queries, keys.transpose(2, 3), out=room)  # (1, H, T, S)
        statistics = form_weights(products[0], scoring, self.axes.rows(call.place, count))
        numbers: Any = None
        if not later:
            call.weights, numbers = products, products[0].numpy()
        elif "weights" in self.want:
            numbers = FormedLater(call.place, call.queries, call.keys, scoring, statistics)
            self.proven = self.proven or numbers.is_reproducible()
            if not self.proven:  # they could not be formed again, so they are kept
                self.later = False
                call.weights = products.clone()
                numbers = call.weights[0].numpy()
        self._keep_exact(call, scoring, numbers, statistics)
        return torch.matmul(products, values).transpose(1, 2).contiguous()

    def _find_room(self, shape: Sequence[int]) -> Tensor:
        """Memory for the weights of one layer, the same for all layers."""
        if self.room is None or self.room.shape != shape:
            self.room = torch.empty(*shape, dtype=torch.float32)
        return self.room

    def finish(self) -> list[Any]:
        """The maps; results of a GPU are copied and checked while it still computes later layers.

        Where sums are wanted, and the kernel is fast, each is a `DeviceMap`.
        """
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
        scoring = self.masks.score(call)
        self._keep_exact(call, scoring, numbers, self._measure(call, scoring, numbers))

    def _keep_exact(self, call: Call, scoring: Scoring, numbers: Any, statistics: HeadStatistics) -> None:
        """`numbers`: the weights, or a `Later` of them."""
        scores = None
        if "scores" in self.want and not np.isnan(statistics.log_sum_exp).all():
            scores = as_numbers(form_scores(call, scoring))
        place = call.place
        states = self._send_states(call)()
        finished = AttentionMap(
            place,
            *self.axes.find(place, statistics.queries, statistics.keys),
            statistics,
            dense=numbers if "weights" in self.want else None,
            dense_scores=scores,
            sink_weights=_weigh_sink(call.sink, statistics, numbers, call.silenced),
            relaxed=call.relaxed,
            **states._asdict(),
        )
        self.waiting.append(lambda: finished)

    def _measure(self, call: Call, scoring: Scoring, weights: Array) -> HeadStatistics:
        """Statistics from queries and keys, which is faster and gives the log-sum-exp, where they agree with
        the weights; of short texts from all three; otherwise, or where weights were edited, from the weights
        alone."""
        rows = self.axes.rows(call.place, weights.shape[1])
        if call.relaxed is None:
            seen = torch.from_numpy(weights)
            if can_measure(seen, call.queries[0], scoring):
                known = measure_weights(seen, call.queries[0], call.keys[0], scoring, rows)
                if known is not None:
                    return known
            found = head_statistics(call.queries[0], call.keys[0], scoring, rows=torch.from_numpy(rows))
            if _agree(found, weights, rows, call.queries.shape[-1]):
                return found
            self.notes[message("recorders.notes.measured_by_weights", place=call.place)] = None
        allowed = (form_scores(call, scoring) > -torch.inf).cpu().numpy() | (weights > 0)
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
            return AttentionMap(
                place,
                *self.axes.find(place, statistics.queries, statistics.keys),
                statistics,
                dense=measured.weights,
                factors=_make_factors(states, scoring, statistics) if factored else None,
                # Factors have their sink; statistics alone are checked with it, too.
                sink_weights=None if factored else _weigh_sink(call_sink, statistics, measured.weights),
                pyramids=measured.pyramids,
                **states._asdict(),
            )

        place, call_sink = call.place, call.sink  # so that the rest of the call can be freed
        self.waiting.append(make)
        if call.queries.is_cuda:
            self.measured.append(measured)
        output, measured.output = measured.output, None  # so that it is freed when the model is done with it
        assert output is not None
        return output.transpose(0, 1)[None].to(call.values.dtype)  # (1, T, H, V)

    def _receive_sums(self, call: Call) -> Tensor:
        """Statistics stay on their device: nothing is copied or checked here."""
        place, shape = call.place, (*call.queries.shape[1:3], call.keys.shape[2])
        dtype = str(call.queries.dtype).removeprefix("torch.")
        states = (call.queries[0], call.keys[0], call.values[0])
        output, statistics = attend_and_keep(*states, self.masks.score(call))
        found = DeviceMap(place, shape, statistics, dtype)
        self.waiting.append(lambda: found)
        return output.transpose(0, 1)[None].to(call.values.dtype)  # (1, T, H, V)

    def _send_states(self, call: Call, also: Collection[str] = ()) -> Callable[[], States]:
        """Store vectors that are wanted. Those of a GPU are copied: the model may change its own; with
        the fast kernel they are stored in the background."""
        stack, kind, layer = call.place[:3]
        scale, dtype, device = call.scale, str(call.queries.dtype).removeprefix("torch."), call.queries.device
        own = call.queries if call.own_queries is None else call.own_queries
        given = {"queries": own[0], "keys": call.keys[0], "values": call.values[0]}
        wanted = {name: each.detach() for name, each in given.items() if name in self.want or name in also}

        def keep(vectors: Mapping[str, Tensor]) -> States:
            path = f"kept/{stack}/{kind}/{layer}"
            return States(
                scale, dtype, **{name: self.keep(f"{path}/{name}", each) for name, each in vectors.items()}
            )

        if device.type != "cuda" or not wanted:
            states = keep(wanted)
            return lambda: states
        copies = {name: each.clone(memory_format=torch.contiguous_format) for name, each in wanted.items()}
        if call.weights is not None:
            states = keep(copies)
            return lambda: states
        ready = record_event(device)

        def keep_later() -> States:
            with on_side_stream(device, ready):
                return keep(copies)

        return self._start_transfers().store(keep_later, sum(each.nbytes for each in copies.values()))

    def _start_transfers(self) -> TransferPool:
        self.transfers = self.transfers or TransferPool()
        return self.transfers


def _require_one(call: Call) -> None:
    batch, _, count, _ = call.queries.shape
    if batch != 1:
        raise RecordingError("recorders.maps.several_sequences", place=call.place, batch=batch, count=count)


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
    seen = torch.from_numpy(weights if rows.all() else weights[:, rows])
    received = [block.sum(1) for block in seen.split(_SUMMED, dim=1)]  # (head, key) each
    masses = np.abs(statistics.mass - torch.stack(received).double().sum(0).numpy())
    peaks = np.abs(statistics.peak[:, rows] - seen.amax(-1).numpy())
    return bool((peaks[looking] <= tolerance).all() and (masses <= tolerance * max(1, rows.sum())).all())


def _make_factors(states: States, scoring: Scoring, statistics: HeadStatistics) -> Factors:
    """What the weights of a call are computed from, as a recording keeps it."""
    assert states.queries is not None
    assert states.keys is not None
    extras = (scoring.bias, scoring.distance_bias, scoring.sink)
    bias, distance_bias, sink = (None if each is None else as_numbers(each) for each in extras)
    if bias is not None:
        bias[bias <= HIDDEN] = -np.inf
    return Factors(
        queries=states.queries,
        keys=states.keys,
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
