"""A network with weights of eight bits: its products take a third of the time, or less, on a CPU.

In:   a Transformer in float32.
Out:  the same Transformer. Weights of products are the nearest numbers that eight bits can say, with one
      scale for each output; at inference on a CPU inputs of products are rounded to eight bits, too, by the
      range of their row. Norms, softmax and the products of attention stay float32. Where an encoder and a
      decoder translate, so do those layers whose rounding moves what the decoder says most for the time that
      it saves (decision 0007): keys and values of cross-attention, the second layers of the encoder's
      feed-forward networks and the first layers of the decoder's.

The weights remain tensors of float32, rounded: whatever reads them sees those that are used.
"""

import torch
from torch import nn

from glassformer.errors import InputError
from glassformer.model.attention import CrossAttention
from glassformer.model.heads import LanguageHead
from glassformer.model.layers import FeedForward
from glassformer.model.linear import Int8Weight, Linear, find_scales, knows_int8
from glassformer.model.transformer import Transformer


@torch.no_grad()
def round_to_int8(network: nn.Module) -> Transformer:
    """Round a network in place; InputError where it, or this machine, has no such products."""
    if not knows_int8():
        raise InputError("model.int8.no_kernels")
    if not isinstance(network, Transformer):
        raise InputError("model.int8.no_transformer", kind=type(network).__name__)
    first = next(network.parameters())
    if first.device.type != "cpu" or first.dtype is not torch.float32:
        raise InputError("model.int8.wrong_place", device=str(first.device), type=str(first.dtype))
    exact = _find_exact(network)
    for module in network.modules():
        if module in exact:
            continue
        if isinstance(module, Linear):
            weight = module.weight
        elif isinstance(module, LanguageHead):
            weight = network.output_vectors()  # also what is looked up, where embeddings are tied
        else:
            continue
        scales = find_scales(weight)
        weight.copy_((weight / scales).round() * scales)
        module.packed = Int8Weight()
    return network


def _find_exact(network: Transformer) -> set[nn.Module | None]:
    """Products that stay float32."""
    if network.encoder is None or network.decoder is None:
        return set()
    narrowing = {each.contract for each in network.encoder.modules() if isinstance(each, FeedForward)}
    widening = {each.expand for each in network.decoder.modules() if isinstance(each, FeedForward)}
    crossing = {each.kv for each in network.decoder.modules() if isinstance(each, CrossAttention)}
    return narrowing | widening | crossing


def is_int8(network: nn.Module) -> bool:
    """Whether a network was rounded."""
    return any(isinstance(getattr(each, "packed", None), Int8Weight) for each in network.modules())
