"""Edits of our own networks, through their windows.

In:   a Transformer or a recurrent translator, and edits.
Out:  a context in which scores, weights and outputs that come through a window are replaced, and stacks
      run fewer layers; afterwards the network is as it was.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from glassformer.errors import InputError
from glassformer.model.attention import Attention, CrossAttention, Mask
from glassformer.model.recurrent import ContextAttention, RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.place import Place
from glassformer.recorders.edits.active import ActiveEdits, limit_layers
from glassformer.recorders.edits.edit import Edit, HeadOutputs, Index, ScoreTensor, Weights, check_keys_left
from glassformer.recorders.native.attentions import find_attentions, find_stacks
from glassformer.recorders.preserve import replacing


@contextmanager
def applying_edits(network: nn.Module, edits: Sequence[Edit]) -> Iterator[None]:
    """Inside this context the network computes with the edits; one that changed nothing is an error."""
    active = ActiveEdits(edits)
    with ExitStack() as changes:
        if edits:
            _check_network(network, active)
            changes.enter_context(_fewer_layers(network, edits))
            _change_windows(network, active, changes)
        yield
    active.check_used()


def _change_windows(network: nn.Module, active: ActiveEdits, hooks: ExitStack) -> None:
    """Hooks on the windows of every attention that an edit touches."""
    touched = []
    for name, kind, layers, attention in find_attentions(network):
        places = [Place(name, kind, layer) for layer in layers]
        if any([active.touch(place) for place in places]):  # noqa: C419 - every place is to be noted
            touched.append((places, attention))
    active.check_places()
    for places, attention in touched:
        windows = _Windows(places, attention, active)
        for handle in windows.open():
            hooks.enter_context(handle)


@dataclass(slots=True)
class _Windows:
    """Scores, weights and outputs of one attention; layers that share a block call it one after the other."""

    places: list[Place]
    attention: Attention | ContextAttention
    active: ActiveEdits
    calls: int = 0
    queries: int | None = None  # of one sequence: cross-attention gets the beams as more queries
    mask: Mask | None = None
    hidden: list[Index] = field(default_factory=list)

    def open(self) -> Iterator[RemovableHandle]:
        if isinstance(self.attention, Attention):
            yield self.attention.register_forward_pre_hook(self._read_inputs)
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

    def _change_scores(self, _: nn.Module, __: object, output: Tensor) -> Tensor:
        allowed = None
        if self.mask is not None:
            allowed = self.mask.explicit(output.shape[-2], output.shape[-1], output.device)
        scores = ScoreTensor(self.place, output, self.queries, allowed=allowed)
        self.active.change_scores(scores)
        if (
            scores.flattened
            and isinstance(self.attention, Attention)
            and self.attention.best_keys is not None
        ):
            edit = next(each for each in self.active.edits if each.touches(self.place))
            raise InputError("recorders.edits.hard_attention", edit=edit)
        self.hidden = scores.hidden
        return scores.tensor

    def _change_weights(self, _: nn.Module, __: object, output: Tensor) -> Tensor:
        for at in self.hidden:  # the mask is known only now
            check_keys_left(output[at[:3]].sum(-1) > 0, self.place, at)
        weights = Weights(self.place, output)
        self.active.change_weights(weights)
        return weights.tensor

    def _change_outputs(self, _: nn.Module, __: object, output: Tensor) -> Tensor:
        outputs = HeadOutputs(self.place, output)
        self.active.change_outputs(outputs)
        self.calls += 1
        return outputs.tensor


def _fewer_layers(network: nn.Module, edits: Sequence[Edit]) -> AbstractContextManager[None]:
    """Stacks run as many layers as edits leave to them."""
    stacks = find_stacks(network)
    limits = limit_layers({name: stack.depth for name, stack in stacks.items()}, edits)
    return replacing("depth", [(stacks[name], count) for name, count in limits.items()])


def _check_network(network: nn.Module, active: ActiveEdits) -> None:
    if not isinstance(network, Transformer | RecurrentTranslator):
        raise InputError("recorders.edits.no_windows", model=type(network).__name__)
    for edit in active.edits:
        if isinstance(network, RecurrentTranslator) and edit.needs != "each":
            raise InputError("recorders.edits.recurrent", edit=edit)
