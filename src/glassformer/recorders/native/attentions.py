"""The stacks of our networks, and every attention in them.

In:   a Transformer or a recurrent translator.
Out:  its attention modules by stack, kind and layer, to hook or to replace.
"""

from collections.abc import Iterator
from typing import NamedTuple

from torch import nn

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
