"""Edits of the vectors of layers in a model of transformers: what goes into a block, what its MLP adds.

In:   the stacks of a model, how many layers each has, and edits.
Out:  a context in which hooks on the blocks change these vectors; afterwards the model is as before.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, get_args

from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.recorders.edited_rows import StatesAt, change_states
from glassformer.recorders.edits.active import ActiveStates
from glassformer.recorders.edits.edit import Part
from glassformer.recorders.transformers.edits import find_blocks
from glassformer.recorders.transformers.layers import Stacks

PARTS: tuple[Part, ...] = get_args(Part)
# Where blocks of transformers keep the last product of their feed-forward network, or all of it.
FEED_FORWARD = ("mlp", "feed_forward", "ffn_output", "ffn", "fc2", "output.dense", "DenseReluDense")


@contextmanager
def editing_states(stacks: Stacks, depths: Mapping[str, int], active: ActiveStates) -> Iterator[None]:
    """Inside this context the model computes with the edits; one that changed nothing is an error.

    `depths`: how many layers of each stack run.
    """
    with ExitStack() as hooks:
        if active:
            open_states(stacks, depths, lambda *_: ((slice(None), active),), [active], hooks)
        yield
    active.check_used()


def open_states(
    stacks: Stacks, depths: Mapping[str, int], at: StatesAt, edits: list[ActiveStates], hooks: ExitStack
) -> None:
    """Hooks on the stacks that edits touch."""
    for name, depth in depths.items():
        touched = [
            each.touch(name, part, layer) for each in edits for part in PARTS for layer in range(depth + 1)
        ]
        if any(touched):
            layers = _Layers(name, depth, at)
            added = any(each.touch(name, "feed_forward", layer) for each in edits for layer in range(depth))
            for block in find_blocks(stacks, name, depth)[2]:
                hooks.enter_context(block.register_forward_pre_hook(layers.enter, with_kwargs=True))
                hooks.enter_context(block.register_forward_hook(layers.leave))
                if added:
                    hooks.enter_context(find_feed_forward(block).register_forward_hook(layers.add))


@dataclass(slots=True)
class _Layers:
    """The layers of one stack, one after the other."""

    stack: str
    depth: int
    at: StatesAt
    calls: int = -1
    shape: tuple[int, int] = (0, 0)  # rows and tokens: some networks work on a list of all tokens

    def enter(
        self, _: nn.Module, positional: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What goes into a block."""
        self.calls += 1
        given = "hidden_states" in named
        states = named["hidden_states"] if given else positional[0]
        self.shape = (states.shape[0], states.shape[1])
        states = change_states(states, self.at, self.stack, "residual", self.calls % self.depth)
        return (
            (positional, named | {"hidden_states": states}) if given else ((states, *positional[1:]), named)
        )

    def leave(self, _: nn.Module, __: object, output: Any) -> Any:
        """What comes out of the last block."""
        if self.calls % self.depth != self.depth - 1:
            return output
        states = output if isinstance(output, Tensor) else output[0]
        changed = change_states(states, self.at, self.stack, "residual", self.depth)
        return changed if isinstance(output, Tensor) else (changed, *output[1:])

    def add(self, module: nn.Module, _: object, output: Any) -> Tensor:
        """What the feed-forward network of the block gives."""
        if not isinstance(output, Tensor):
            raise InputError("recorders.edits.no_feed_forward", block=type(module).__name__)
        states = output.view(*self.shape, -1)
        changed = change_states(states, self.at, self.stack, "feed_forward", self.calls % self.depth)
        return changed.view_as(output)


def find_feed_forward(block: nn.Module) -> nn.Module:
    """The module of a block that gives what its feed-forward network adds."""
    modules = [(path, module) for path, module in block.named_modules() if "attention" not in path.lower()]
    for wanted in FEED_FORWARD:
        for path, module in modules:
            if path == wanted or path.endswith(f".{wanted}"):
                return module
    raise InputError("recorders.edits.no_feed_forward", block=type(block).__name__)
