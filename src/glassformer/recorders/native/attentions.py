"""The stacks of our networks, every attention in them, and what its windows show.

In:   a Transformer or a recurrent translator.
Out:  its attention modules by stack, kind and layer, to hook or to replace; the tensors that pass through
      their windows, as soon as a layer has run.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from glassformer.model.attention import Attention
from glassformer.model.recurrent import ContextAttention, RecurrentTranslator
from glassformer.model.transformer import Stack, Transformer
from glassformer.place import Kind


class FoundAttention(NamedTuple):
    """One attention module; layers that share a block call it one after the other."""

    stack: str
    kind: Kind
    layers: range
    module: Attention | ContextAttention


def find_stacks(network: nn.Module) -> dict[str, Stack]:
    """The stacks of a Transformer; a recurrent translator has none."""
    if not isinstance(network, Transformer):
        return {}
    stacks = {"encoder": network.encoder, "decoder": network.decoder}
    return {name: stack for name, stack in stacks.items() if stack is not None}


def find_attentions(network: nn.Module) -> Iterator[FoundAttention]:
    """Every attention of a network, by stack and layer."""
    if isinstance(network, RecurrentTranslator) and network.decoder.attention is not None:
        yield FoundAttention("decoder", "cross", range(1), network.decoder.attention)
    for name, stack in find_stacks(network).items():
        for number in range(min(len(stack.layers), stack.depth)):
            block = stack.block(number)
            layers = range(number, stack.depth, len(stack.layers))
            yield FoundAttention(name, "self", layers, block.attention)
            if block.cross is not None:
                yield FoundAttention(name, "cross", layers, block.cross)


Finish = Callable[[FoundAttention, Mapping[str, Tensor]], None]  # gets what one map needs, by window


@contextmanager
def open_windows(network: nn.Module, windows: Sequence[str], finish: Finish) -> Iterator[None]:
    """Call `finish` for each attention that has run, with the outputs (B, head, token, …) of these windows.

    The last of them closes a map of a Transformer; the steps of a recurrent decoder, which are the rows of
    one map, are joined when the context ends. Hooks exist only inside it, also after an exception.
    """
    seen: dict[FoundAttention, dict[str, list[Tensor]]] = {}

    def watch(found: FoundAttention, window: str) -> Callable[[nn.Module, Any, Tensor], None]:
        def hook(_: nn.Module, __: Any, output: Tensor) -> None:
            seen.setdefault(found, {}).setdefault(window, []).append(output.detach())
            if window == windows[-1] and isinstance(found.module, Attention):
                close(found)

        return hook

    def close(found: FoundAttention) -> None:
        finish(found, {name: torch.cat(parts, dim=2) for name, parts in seen.pop(found).items()})

    with ExitStack() as hooks:
        for found in find_attentions(network):
            for window in windows:
                module = getattr(found.module, window)
                hooks.callback(module.register_forward_hook(watch(found, window)).remove)
        yield
        for found in list(seen):
            close(found)
