"""Attention products of our networks replaced by ones that measure while they compute.

In:   a Transformer whose similarity is a dot product, and a `MapMaker`.
Out:  its maps. With the exact kernel weights are formed as the network's explicit path forms them, to the
      last bit; with the fast one no n×n matrix exists. Afterwards the network has its own products again.
"""

from contextlib import AbstractContextManager
from itertools import count

from torch import Tensor

from glassformer.messages import Message, message
from glassformer.model.attention import Mask, repeat_heads
from glassformer.model.similarity import dot, soft
from glassformer.model.transformer import Transformer
from glassformer.place import Place
from glassformer.recorders.batch import FoldingMaker
from glassformer.recorders.call import Call, Kernel
from glassformer.recorders.maps import MapMaker
from glassformer.recorders.native.attentions import find_attentions
from glassformer.recorders.preserve import replacing
from glassformer.recording import Kind

KERNELS: dict[Kernel, Message] = {
    "exact": message("recorders.kernels.explicit"),
    "fast": message("recorders.kernels.blocks"),
}
PLAIN = ("scaled-dot", "dot")  # similarities whose queries and keys enter the product as they are


def can_measure(network: object) -> bool:
    """Whether weights follow from queries and keys by a plain product and softmax over all keys."""
    return (
        isinstance(network, Transformer)
        and network.config.similarity in PLAIN
        and network.config.best_keys is None
    )


def measured_attention(
    network: Transformer, maker: MapMaker | FoldingMaker, kernel: Kernel
) -> AbstractContextManager[None]:
    """Inside this context every attention of the network is computed and measured by `maker`."""
    products: dict[tuple[str, Kind], _MeasuredProduct] = {}
    measured = [
        (attention, products.setdefault((stack, kind), _MeasuredProduct(maker, kernel, stack, kind)))
        for stack, kind, _, attention in find_attentions(network)
    ]
    return replacing("product", measured)


class _MeasuredProduct:
    """Replaces the products of one kind of attention in one stack; layers are numbered by call order."""

    def __init__(self, maker: MapMaker | FoldingMaker, kernel: Kernel, stack: str, kind: Kind) -> None:
        self.maker = maker
        self.kernel = kernel
        self.stack = stack
        self.kind: Kind = kind
        self.layers = count()

    def __call__(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Mask, factor: float, dropout: float, /
    ) -> Tensor:
        assert dropout == 0, "recordings are made in evaluation mode"
        call = Call(
            place=Place(self.stack, self.kind, next(self.layers)),
            queries=queries,
            keys=keys,
            values=values,
            mask=mask.allowed,
            causal=mask.causal,
            scale=factor,
            softcap=None,
            bias=mask.bias,
            sink=None,
            weights=_form_weights(queries, keys, mask, factor) if self.kernel == "exact" else None,
            unknown=(),
            window=mask.window,
        )
        output = self.maker.receive(call)  # (B, T, H, K), from the fast kernel
        if call.weights is not None:
            return call.weights @ repeat_heads(values, queries.shape[1])
        assert output is not None
        return output.transpose(1, 2)


def _form_weights(queries: Tensor, keys: Tensor, mask: Mask, factor: float) -> Tensor:
    """The weights (B, H, T, S) that `Attention` forms where its `pattern` window has hooks."""
    scores = dot(queries * factor, repeat_heads(keys, queries.shape[1]))
    if mask.bias is not None:
        scores = scores + mask.bias
    allowed = mask.explicit(scores.shape[-2], scores.shape[-1], scores.device)
    if allowed is not None:
        scores.masked_fill_(~allowed, float("-inf"))  # as `soft` does, without a copy
    return soft(scores)
