"""One step of a generation in few kernels: what `GraphDecoding` records for networks that they support.

In:   a network that decodes, the buffers of a `StaticCache`, one token for each beam.
Out:  logits (source, beam, vocabulary), those of the layers themselves to rounding.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from glassformer.model.attention import Attention, fused_product
from glassformer.model.heads import LanguageHead
from glassformer.model.layers import ACTIVATIONS, LayerNorm, Memory, Residual
from glassformer.model.linear import Linear
from glassformer.model.similarity import ProductSimilarity

if TYPE_CHECKING:
    from glassformer.model.cuda_graph import StaticCache
    from glassformer.model.transformer import Transformer

MOST_ROWS = 64  # with more rows, arithmetic and no longer memory limits a product
MOST_WIDTH = 8192  # of the vectors that one program reads
TYPES = (torch.float32, torch.bfloat16, torch.float16)
# How much a program does at once; found by trying on an H200.
SHORT = 2048  # inputs; with more, a program computes one output only
COLUMNS, WARPS, LONG_WARPS = 4, 2, 8
SLOTS, ATTEND_WARPS = 128, 8
EARLY = True  # a kernel reads its weights while the one before it still runs, on GPUs that can (Hopper)
_OVERLAPPED: dict[bool, dict[str, Any]] = {False: {}, True: {"launch_pdl": True}}
_ACTIVATIONS = {activation: number for number, activation in enumerate(ACTIVATIONS.values(), 1)}


class Stream(NamedTuple):
    """Hidden states (row, width), to be normed before they are read."""

    raw: Tensor
    norm: LayerNorm | None


def can_fuse(network: "Transformer", memories: Sequence[Memory] | None, rows: int, beams: int = 1) -> bool:
    """Whether these kernels compute the same as this network, and faster, and no hook reads its states.

    With several rows in single precision, and with beams, torch's own kernels are as fast or faster.
    """
    weight = network.embeddings.tokens.weight
    return (
        has_kernels(weight.device)
        and beams == 1
        and (rows == 1 or (rows <= MOST_ROWS and weight.dtype in TYPES[1:]))
        and weight.dtype in TYPES
        and max(network.config.width, network.config.feed_forward) <= MOST_WIDTH
        and is_supported(network, memories)
    )


def has_kernels(device: torch.device) -> bool:
    """Whether kernels in Triton run there."""
    known = device.type == "cuda" and find_spec("triton") is not None
    return known and torch.cuda.get_device_capability(device) >= (8, 0)


def is_supported(network: "Transformer", memories: Sequence[Memory] | None) -> bool:
    """Whether these kernels can compute every part of a network, whatever its device."""
    head, decoder, embeddings = network.head, network.decoder, network.embeddings
    # A module whose weight is computed at each access, such as an adapter, has another type.
    if decoder is None or type(head) is not LanguageHead or type(embeddings.tokens) is not nn.Embedding:
        return False
    special = (
        embeddings.segments, embeddings.norm, embeddings.projection, head.narrow, decoder.rotary,
        decoder.bias, decoder.window, *(memory.mask.bias for memory in memories or ()),
    )  # fmt: skip
    return (
        all(part is None for part in special)
        and len({parameter.dtype for parameter in network.parameters()}) == 1
        and all(parameter.is_contiguous() for parameter in network.parameters())  # rows one after another
        and (decoder.norm is None or type(decoder.norm) is LayerNorm)
        and not any(map(_is_watched, network.modules()))
        and all(map(_is_supported_part, decoder.modules()))
    )


def _is_supported_part(part: nn.Module) -> bool:
    if isinstance(part, Attention):
        plain = type(part.similarity) is ProductSimilarity and type(part.output) is Linear
        supported = plain and part.query_norm is None and not part.explicit and part.product is fused_product
        if not supported:
            return False
    if isinstance(part, Residual):
        return part.scale is None and type(part.norm) is LayerNorm
    products = [getattr(part, name, None) for name in ("qkv", "q", "kv", "expand", "contract")]
    return all(each is None or type(each) is Linear for each in products)


def _is_watched(module: nn.Module) -> bool:
    return bool(module._forward_hooks or module._forward_pre_hooks)


class FusedStep:
    """The kernels of one network in their order."""

    def __init__(self, network: "Transformer", memories: Sequence[Memory] | None) -> None:
        from glassformer.model import step_kernels

        self.kernels: Any = step_kernels
        device = network.embeddings.tokens.weight.device
        self.early = EARLY and device.type == "cuda" and torch.cuda.get_device_capability(device) >= (9, 0)
        self.network = network
        self.memories = [
            memory._replace(keys=memory.keys.contiguous(), values=memory.values.contiguous())
            for memory in memories or ()
        ]
        table = network.embeddings.positions
        self.table: Tensor | None = None
        if table is not None:
            places = torch.arange(network.config.max_length, device=device)
            self.table = table(places).to(network.embeddings.tokens.weight.dtype).contiguous()

    def run(self, ids: Tensor, following: Tensor, cache: "StaticCache") -> Tensor:
        """Read one token for each row (row, 1); `following` is their position, and is increased by one."""
        decoder, head = self.network.decoder, self.network.head
        assert decoder is not None
        assert isinstance(head, LanguageHead)
        stream = Stream(self._embed(ids, following, cache), None)
        for layer in range(decoder.depth):
            block = decoder.block(layer)
            own, residual = block.attention, block.attention_residual
            assert own.qkv is not None
            mixed = self._multiply(self._enter(stream, residual), own.qkv)
            mixed = self._attend(own, mixed, cache, layer)
            stream = self._leave(stream, residual, mixed, own.output)
            if block.cross is not None and block.cross_residual is not None:
                cross, residual = block.cross, block.cross_residual
                assert cross.q is not None
                queries = self._multiply(self._enter(stream, residual), cross.q)
                mixed = self._look_back(cross, queries, self.memories[layer])
                stream = self._leave(stream, residual, mixed, cross.output)
            feed, residual = block.feed_forward, block.feed_forward_residual
            active = self._multiply(self._enter(stream, residual), feed.expand, feed.activation)
            stream = self._leave(stream, residual, active, feed.contract)
        last = Stream(stream.raw, stream.norm if decoder.norm is None else decoder.norm)  # type: ignore[arg-type]
        logits = self._product(last, self.network.output_vectors(), head.bias)
        self.kernels.advance_kernel[(1,)](
            following, cache.slots, following.numel(), BLOCK=_power(following.numel())
        )
        return logits[:, None]

    def _embed(self, ids: Tensor, following: Tensor, cache: "StaticCache") -> Tensor:
        embeddings = self.network.embeddings
        width = embeddings.tokens.weight.shape[1]
        hidden = embeddings.tokens.weight.new_empty(len(ids), width)
        places = cache.slot_positions
        self.kernels.embed_kernel[(len(ids),)](
            ids,
            following,
            cache.slots,
            embeddings.tokens.weight,
            hidden if self.table is None else self.table,
            hidden,
            cache.seen,
            places,
            float(embeddings.factor),
            width,
            cache.seen.shape[-1],
            0 if following.dim() == 1 else following.stride(0),
            0 if places.dim() == 1 else places.stride(0),
            SCALED=embeddings.factor != 1.0,
            TABLED=self.table is not None,
            BLOCK=_power(width),
        )
        return hidden

    def _enter(self, stream: Stream, residual: Residual) -> Stream:
        """The input of a sub-layer."""
        return Stream(stream.raw, residual.norm) if residual.before else stream  # type: ignore[arg-type]

    def _leave(self, stream: Stream, residual: Residual, mixed: Tensor, output: nn.Module) -> Stream:
        """The output of a sub-layer, added to the stream."""
        assert isinstance(output, Linear)
        added = self._product(Stream(mixed, None), output.weight, output.bias, residual=stream)
        return Stream(added, None if residual.before else residual.norm)  # type: ignore[arg-type]

    def _multiply(self, stream: Stream, linear: Linear, activation: Any = None) -> Tensor:
        return self._product(stream, linear.weight, linear.bias, activation)

    def _product(
        self,
        stream: Stream,
        weight: Tensor,
        bias: Tensor | None,
        activation: Any = None,
        residual: Stream | None = None,
    ) -> Tensor:
        rows, inputs = stream.raw.shape
        outputs = weight.shape[0]
        found = stream.raw.new_empty(rows, outputs)
        norm, added = stream.norm, residual
        added_norm = None if added is None else added.norm
        nothing = found
        pointers = (
            stream.raw,
            weight,
            nothing if bias is None else bias,
            nothing if norm is None else norm.weight,
            nothing if norm is None else norm.bias,
            nothing if added is None else added.raw,
            nothing if added_norm is None else added_norm.weight,
            nothing if added_norm is None else added_norm.bias,
            found,
        )
        epsilon = next((each.eps for each in (norm, added_norm) if each is not None), 0.0)
        constants = {
            "NORMED": norm is not None,
            "BIASED": bias is not None,
            "ACTIVATION": 0 if activation is None else _ACTIVATIONS[activation],
            "ADDED": added is not None,
            "ADDED_NORMED": added_norm is not None,
        }
        if rows == 1:
            block = _power(inputs)
            columns = COLUMNS if block <= SHORT else 1
            self.kernels.vector_kernel[(-(-outputs // columns),)](
                *pointers,
                inputs,
                outputs,
                epsilon,
                **constants,
                COLUMNS=columns,
                BLOCK=block,
                WHOLE=_power(outputs) if added_norm is not None else 16,
                EARLY=self.early,
                num_warps=WARPS if block <= SHORT else LONG_WARPS,
                **_OVERLAPPED[self.early],
            )
            return found
        columns = 16 if outputs < 8192 else 32
        self.kernels.rows_kernel[(-(-outputs // columns),)](
            *pointers,
            rows,
            inputs,
            outputs,
            epsilon,
            **constants,
            ROWS=max(16, _power(rows)),
            COLUMNS=columns,
            BLOCK=128 if found.element_size() == 2 else 64,
            num_warps=4,
            num_stages=4 if found.element_size() == 2 else 2,
        )
        return found

    def _attend(self, attention: Attention, mixed: Tensor, cache: "StaticCache", layer: int) -> Tensor:
        """`mixed` holds queries, then keys, then values of the new tokens."""
        buffers = cache.layers[layer]
        assert buffers.keys is not None
        assert buffers.values is not None
        return self._launch(attention, mixed, buffers.keys, buffers.values, cache.seen, cache.slots)

    def _look_back(self, attention: Attention, queries: Tensor, memory: Memory) -> Tensor:
        return self._launch(attention, queries, memory.keys, memory.values, memory.mask.allowed, None)

    def _launch(
        self,
        attention: Attention,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None,
        slots: Tensor | None,
    ) -> Tensor:
        """`mask` has the shape (row or 1, 1 …, key)."""
        assert isinstance(attention.similarity, ProductSimilarity)
        rows, key_heads, capacity, width = keys.shape
        whole = attention.heads * width
        output = queries.new_empty(rows, whole)
        self.kernels.attend_kernel[rows, attention.heads](
            queries,
            keys,
            values,
            output if slots is None else slots,
            output if mask is None else mask.view(torch.uint8),
            output,
            attention.similarity.factor,
            queries.stride(0),
            whole,
            whole,
            whole + key_heads * width,
            attention.heads // key_heads,
            key_heads,
            capacity,
            capacity,
            0 if mask is None or len(mask) == 1 else mask.stride(0),
            OWN=slots is not None,
            MASKED=mask is not None,
            WIDTH=width,
            PADDED=max(16, _power(width)),
            BLOCK=SLOTS,
            EARLY=self.early,
            num_warps=ATTEND_WARPS,
            **_OVERLAPPED[self.early],
        )
        return output


def _power(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()
