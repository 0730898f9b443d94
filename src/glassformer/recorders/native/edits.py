"""Edits of our own networks, through their windows.

In:   a Transformer or a recurrent translator, and edits.
Out:  a context in which scores, weights and outputs that come through a window are replaced, and stacks
      run fewer layers; afterwards the network is as it was.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import Any

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from glassformer.errors import InputError
from glassformer.model.attention import Attention, CrossAttention, Mask
from glassformer.model.layers import Memory
from glassformer.model.recurrent import ContextAttention, RecurrentTranslator
from glassformer.model.transformer import Stack, Transformer
from glassformer.place import Place
from glassformer.recorders.edited_rows import EditedRows, StatesAt, change_rows, change_states, copy_rows
from glassformer.recorders.edits.active import ActiveEdits, ActiveStates, limit_layers
from glassformer.recorders.edits.edit import (
    Edit,
    HeadInputs,
    HeadOutputs,
    Index,
    Projection,
    ScoreTensor,
    Weights,
    check_keys_left,
)
from glassformer.recorders.native.attentions import FoundAttention, find_attentions, find_stacks
from glassformer.recorders.preserve import replacing

# The edits at a place for each part of a batch of so many rows.
RowsAt = Callable[[Place, int], Iterable[tuple[slice, ActiveEdits]]]


@contextmanager
def applying_edits(network: nn.Module, edits: Sequence[Edit]) -> Iterator[None]:
    """Inside this context the network computes with the edits; one that changed nothing is an error."""
    with ExitStack() as changes:
        active, states = _apply(network, edits, changes)
        yield
    active.check_used()
    states.check_used()


class GenerationEdits:
    """The edits of a generation: each acts from the pass on whose queries it may change.

    Before that the network computes as if there were no such edit, to the last bit.
    """

    def __init__(self, network: nn.Module, edits: Sequence[Edit]) -> None:
        self.network = network
        self.edits = edits
        self._changes = ExitStack()
        self._acting: Sequence[Edit] | None = None
        self._active = ActiveEdits()

    def __enter__(self) -> "GenerationEdits":
        return self

    def __exit__(self, *_: object) -> None:
        self._changes.close()

    def begin_pass(self, start: int, queries: int) -> None:
        """The next pass has queries from the position `start` on."""
        acting = [edit for edit in self.edits if edit.starts < start + queries]
        if acting != self._acting:
            self._changes.close()
            self._active, _ = _apply(self.network, acting, self._changes)
            self._acting = acting
        self._active.start = start


def _apply(network: nn.Module, edits: Sequence[Edit], changes: ExitStack) -> tuple[ActiveEdits, ActiveStates]:
    """Open the windows through which edits change the network, until `changes` are closed."""
    active, states = ActiveEdits(edits), ActiveStates(edits)
    if edits:
        _check_network(network, active)
        changes.enter_context(_fewer_layers(network, edits))
        touched = [found for found in find_attentions(network) if _touches(active, found)]
        active.check_places()
        for found in touched:
            _open_windows(found, lambda _, __: ((slice(None), active),), changes)
    if states:
        _open_states(network, lambda *_: ((slice(None), states),), changes)
    return active, states


@contextmanager
def editing_rows(network: Transformer, rows: EditedRows) -> Iterator[None]:
    """Inside this context one text becomes a batch: rows join where their edits begin."""
    with ExitStack() as changes:
        for active in rows.active:
            _check_network(network, active)
        for found in find_attentions(network):
            if any(_touches(active, found) for active in rows.active):
                _open_windows(found, rows.at, changes)
        for name, stack in find_stacks(network).items():
            join = _make_join(rows, name, stack)
            for block in stack.layers:
                changes.enter_context(block.register_forward_pre_hook(join))
        if any(rows.states):
            _open_states(network, rows.states_at, changes)
        yield


def _make_join(
    rows: EditedRows, name: str, stack: Stack
) -> Callable[[nn.Module, tuple[Any, ...]], tuple[Any, ...]]:
    """Before each layer of a stack: copies of the unedited row for those that join."""
    layers = cycle(range(stack.depth))

    def join(_: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        count = rows.count(name, next(layers))
        hidden, mask, real, rotation, memory, cache = inputs
        if memory is not None:
            memory = Memory(copy_rows(memory.keys, count), copy_rows(memory.values, count), memory.mask)
        return copy_rows(hidden, count), mask, real, rotation, memory, cache

    return join


def _open_states(network: nn.Module, at: StatesAt, hooks: ExitStack) -> None:
    """Hooks on what goes into each layer, and on what its feed-forward network gives."""
    for name, stack in find_stacks(network).items():
        before, after, last = (cycle(range(stack.depth)) for _ in range(3))

        def change_input(
            _: nn.Module, inputs: tuple[Any, ...], name: str = name, layers: Iterator[int] = before
        ) -> tuple[Any, ...]:
            return change_states(inputs[0], at, name, "residual", next(layers)), *inputs[1:]

        def change_added(
            _: nn.Module, __: object, output: Tensor, name: str = name, layers: Iterator[int] = after
        ) -> Tensor:
            return change_states(output, at, name, "feed_forward", next(layers))

        def change_last(
            _: nn.Module, __: object, output: Tensor, name: str = name, layers: Iterator[int] = last,
            depth: int = stack.depth,
        ) -> Tensor:  # fmt: skip
            leaves = next(layers) == depth - 1
            return change_states(output, at, name, "residual", depth) if leaves else output

        for block in stack.layers:
            hooks.enter_context(block.register_forward_hook(change_last))
            hooks.enter_context(block.register_forward_pre_hook(change_input))
            hooks.enter_context(block.feed_forward.register_forward_hook(change_added))  # type: ignore[union-attr]


def _touches(active: ActiveEdits, found: FoundAttention) -> bool:
    """Whether an edit changes one of the layers of an attention; all of them are noted."""
    return any([active.touch(Place(found.stack, found.kind, layer)) for layer in found.layers])  # noqa: C419


def _open_windows(found: FoundAttention, at: RowsAt, hooks: ExitStack) -> None:
    places = [Place(found.stack, found.kind, layer) for layer in found.layers]
    for handle in _Windows(places, found.module, at).open():
        hooks.enter_context(handle)


@dataclass(slots=True)
class _Windows:
    """Scores, weights and outputs of one attention; layers that share a block call it one after the other."""

    places: list[Place]
    attention: Attention | ContextAttention
    at: RowsAt
    calls: int = 0
    queries: int | None = None  # of one sequence: cross-attention gets the beams as more queries
    mask: Mask | None = None
    hidden: list[tuple[slice, Index]] = field(default_factory=list)

    def open(self) -> Iterator[RemovableHandle]:
        if isinstance(self.attention, Attention):
            yield self.attention.register_forward_pre_hook(self._read_inputs)
            yield self.attention.queries.register_forward_hook(partial(self._change_inputs, "queries"))
            yield self.attention.keys.register_forward_hook(partial(self._change_inputs, "keys"))
            yield self.attention.values.register_forward_hook(partial(self._change_inputs, "values"))
        yield self.attention.scores.register_forward_hook(self._change_scores)
        yield self.attention.pattern.register_forward_hook(self._change_weights)
        yield self.attention.mixed.register_forward_hook(self._change_outputs)

    @property
    def place(self) -> Place:
        return self.places[self.calls % len(self.places)]

    def _read_inputs(self, _: nn.Module, inputs: tuple[Any, ...]) -> None:
        hidden, self.mask = inputs[:2]
        if isinstance(self.attention, CrossAttention):
            self.queries = hidden.shape[1]

    def _change_inputs(self, name: Projection, _: nn.Module, __: object, output: Tensor) -> Tensor:
        def change(part: Tensor, _: slice, active: ActiveEdits) -> Tensor:
            inputs = HeadInputs(self.place, name, part)
            active.change_inputs(inputs)
            return inputs.tensor

        return self._change(output, change)

    def _change_scores(self, _: nn.Module, __: object, output: Tensor) -> Tensor:
        allowed = None
        if self.mask is not None:
            allowed = self.mask.explicit(output.shape[-2], output.shape[-1], output.device)
        self.hidden = []

        def change(part: Tensor, rows: slice, active: ActiveEdits) -> Tensor:
            scores = ScoreTensor(self.place, part, self.queries, allowed=allowed)
            active.change_scores(scores)
            if (
                scores.flattened
                and isinstance(self.attention, Attention)
                and self.attention.best_keys is not None
            ):
                edit = next(each for each in active.edits if each.touches(self.place))
                raise InputError("recorders.edits.hard_attention", edit=edit)
            self.hidden += [(rows, at) for at in scores.hidden]
            return scores.tensor

        return self._change(output, change)

    def _change_weights(self, _: nn.Module, __: object, output: Tensor) -> Tensor:
        for rows, at in self.hidden:  # the mask is known only now
            check_keys_left(output[rows][at[:3]].sum(-1) > 0, self.place, at)

        def change(part: Tensor, _: slice, active: ActiveEdits) -> Tensor:
            weights = Weights(self.place, part)
            active.change_weights(weights)
            return weights.tensor

        return self._change(output, change)

    def _change_outputs(self, _: nn.Module, __: object, output: Tensor) -> Tensor:
        def change(part: Tensor, _: slice, active: ActiveEdits) -> Tensor:
            outputs = HeadOutputs(self.place, part)
            active.change_outputs(outputs)
            return outputs.tensor

        changed = self._change(output, change)
        self.calls += 1
        return changed

    def _change(self, batch: Tensor, change: Callable[[Tensor, slice, ActiveEdits], Tensor]) -> Tensor:
        return change_rows(batch, self.at(self.place, len(batch)), change)


def _fewer_layers(network: nn.Module, edits: Sequence[Edit]) -> AbstractContextManager[None]:
    """Stacks run as many layers as edits leave to them."""
    stacks = find_stacks(network)
    limits = limit_layers({name: stack.depth for name, stack in stacks.items()}, edits)
    return replacing("depth", [(stacks[name], count) for name, count in limits.items()])


def _check_network(network: nn.Module, active: ActiveEdits) -> None:
    if not isinstance(network, Transformer | RecurrentTranslator):
        raise InputError("recorders.edits.no_windows", model=type(network).__name__)
    for edit in active.edits:
        if isinstance(network, RecurrentTranslator) and (edit.needs != "each" or edit.starts):
            raise InputError("recorders.edits.recurrent", edit=edit)
