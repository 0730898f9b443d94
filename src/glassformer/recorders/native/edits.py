"""Edits of our own networks, through their windows.

In:   a Transformer or a recurrent translator, and an edit (see edits.py).
Out:  a context in which what comes through a window is replaced; afterwards the network is as it was.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from glassformer.errors import InputError
from glassformer.model.attention import Attention, CrossAttention
from glassformer.model.recurrent import ContextAttention, RecurrentTranslator
from glassformer.model.transformer import Stack, Transformer
from glassformer.place import Place
from glassformer.recording import Kind

if TYPE_CHECKING:
    from glassformer.recorders.edits import FirstLayers

Change = Callable[
    [Tensor, Place, int], Tensor
]  # what came through a window, where, and how many queries a row has


class Inside(Protocol):
    """An edit of what happens inside attention."""

    def touches(self, place: Place) -> bool:
        """Whether it changes anything at a place."""


@contextmanager
def change_windows(
    network: nn.Module, edit: Inside, *, scores: Change | None = None, pattern: Change | None = None
) -> Iterator[None]:
    """Hooks on the windows of every attention that an edit touches; what they give replaces what came."""
    _check(network, edit)
    with ExitStack() as hooks:
        for name, kind, layers, attention in _find_attentions(network):
            places = [Place(name, kind, layer) for layer in layers]
            if not any(map(edit.touches, places)):
                continue
            rows = _Rows(attention)
            hooks.callback(rows.stop)
            for window, change in ((attention.scores, scores), (attention.pattern, pattern)):
                if change is not None:
                    hook = _replace(places, edit, change, rows)
                    hooks.callback(window.register_forward_hook(hook).remove)
        yield


@contextmanager
def run_first_layers(network: nn.Module, edit: "FirstLayers") -> Iterator[None]:
    """Stacks that are less deep."""
    there_are = _find_stacks(network)
    stacks = [stack for name, stack in there_are.items() if edit.touches(Place(name, "self", 0))]
    if not stacks:
        raise InputError(f"There is no stack to stop early ({edit}); there are: {_list(there_are)}.")
    found = [stack.depth for stack in stacks]
    if edit.count > max(found):
        raise InputError(f"{edit.count} layers cannot run, for there are {max(found)}; name fewer.")
    try:
        for stack in stacks:
            stack.depth = min(stack.depth, edit.count)
        yield
    finally:
        for stack, depth in zip(stacks, found, strict=True):
            stack.depth = depth


def _replace(
    places: list[Place], edit: Inside, change: Change, rows: "_Rows"
) -> Callable[..., Tensor | None]:
    """A hook; a block that is used again and again speaks for its layers in turn."""
    calls = 0

    def hook(_: nn.Module, __: object, output: Tensor) -> Tensor | None:
        nonlocal calls
        place = places[calls % len(places)]
        calls += 1
        return change(output, place, rows.count(output)) if edit.touches(place) else None

    return hook


class _Rows:
    """How many queries a row has: cross-attention is given the beams of one source as more queries."""

    def __init__(self, attention: nn.Module) -> None:
        self.length: int | None = None
        self.handle: RemovableHandle | None = None
        if isinstance(attention, CrossAttention):
            self.handle = attention.register_forward_pre_hook(self._note)

    def _note(self, _: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        self.length = inputs[0].shape[1]

    def count(self, output: Tensor) -> int:
        return output.shape[2] if self.length is None else self.length

    def stop(self) -> None:
        if self.handle is not None:
            self.handle.remove()


def _find_attentions(network: nn.Module) -> Iterator[tuple[str, Kind, range, Attention | ContextAttention]]:
    """Every attention of one of our networks: its stack, its kind, the layers that it speaks for."""
    if isinstance(network, RecurrentTranslator):
        if network.decoder.attention is not None:
            yield "decoder", "cross", range(1), network.decoder.attention
        return
    for name, stack in _find_stacks(network).items():
        for number in range(min(len(stack.layers), stack.depth)):
            block = stack.block(number)
            layers = range(number, stack.depth, len(stack.layers))
            yield name, "self", layers, block.attention
            if block.cross is not None:
                yield name, "cross", layers, block.cross


def _find_stacks(network: nn.Module) -> dict[str, Stack]:
    if not isinstance(network, Transformer):
        return {}
    stacks = {"encoder": network.encoder, "decoder": network.decoder}
    return {name: stack for name, stack in stacks.items() if stack is not None}


def _check(network: nn.Module, edit: Inside) -> None:
    """Refuse an edit that would touch nothing."""
    if not isinstance(network, Transformer | RecurrentTranslator):
        raise InputError(
            f"A {type(network).__name__} has no windows to change it through; record it with `edits=`."
        )
    places = [
        Place(name, kind, layer) for name, kind, layers, _ in _find_attentions(network) for layer in layers
    ]
    if not any(map(edit.touches, places)):
        raise InputError(f"There is nothing to edit ({edit}); there are: {_list(places)}.")


def check_at_once(network: nn.Module, edit: Inside) -> None:
    """Refuse an edit for which all queries must be there at once, where they come one by one."""
    if isinstance(network, RecurrentTranslator):
        raise InputError(
            f"A recurrent decoder looks once for each word and never at all of them, so this cannot be "
            f"({edit}). Silence its head, or scale its scores."
        )


def _list(things: Iterable[object]) -> str:
    return "; ".join(map(str, things)) or "none"
