"""Attention calls captured through the attention interface of transformers.

In:   a model, and a function that receives its calls.
Out:  a `Call` for each attention of each layer. With the exact kernel it holds the weights that the model
      file's own eager function returned; with the fast one the receiver computes the output, and no n×n
      matrix exists.

Both an attention function and a mask function are registered, under our own names and only while a recording
is under way: without a mask function transformers silently drops the mask. The capture belongs to this
thread; calls of other threads are computed by the eager function and not recorded.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from glassformer.errors import InputError, RecordingError
from glassformer.place import Place
from glassformer.recorders.call import Call, Kernel, join_parts
from glassformer.recorders.edits.active import ActiveEdits
from glassformer.recorders.preserve import Shared, preserving_state, using_attention
from glassformer.recorders.store import LONGEST_DENSE
from glassformer.recorders.transformers.edits import change_scores, change_weights
from glassformer.recorders.transformers.layers import Counter, Stacks

NAMES: dict[Kernel, str] = {"exact": "glassformer_exact", "fast": "glassformer_fast"}

# Arguments of an attention call that are read here, and those that change nothing: they are meant for other
# kernels, or only passed along.
READ = frozenset({"scaling", "dropout", "position_bias", "softcap", "s_aux", "sliding_window", "is_causal"})
IGNORED = frozenset({
    "cache", "cache_position", "cu_seq_lens_k", "cu_seq_lens_q", "deterministic", "labels", "logits_to_keep",
    "max_length_k", "max_length_q", "num_items_in_batch", "output_attentions", "output_hidden_states",
    "output_router_logits", "past_key_values", "position_ids", "return_dict", "use_cache",
})  # fmt: skip


Receive = Callable[[Call], Tensor | None]  # returns the output (B, T, H, V) where the call has no weights

# What the standard eager functions name: a product, a scale, a mask, a softmax, a product.
STANDARD_NAMES = frozenset({
    "contiguous", "dropout", "dtype", "float32", "functional", "matmul", "nn", "num_key_value_groups",
    "repeat_kv", "size", "softmax", "to", "torch", "training", "transpose", "type",
})  # fmt: skip


class Capture:
    """One recording under way: numbers the calls, applies edits and passes the calls on."""

    def __init__(
        self,
        stacks: Stacks,
        kernel: Kernel,
        receive: Receive,
        edits: ActiveEdits | None = None,
        compute: Receive | None = None,
    ) -> None:
        """`compute`: computes what the standard eager functions do, to the last bit, and takes the call; or
        returns None and does neither."""
        self.counter = Counter(stacks)
        self.kernel = kernel
        self.receive = receive
        self.compute = compute
        self.edits = ActiveEdits() if edits is None else edits
        self.parts: list[Call] = []  # of one attention, so far
        self.left_out: dict[Place, None] = {}  # computed in parts, too long to be put together

    def attend(
        self,
        module: nn.Module,
        states: tuple[Tensor, Tensor, Tensor],
        mask: Tensor | None,
        arguments: dict[str, Any],
    ) -> tuple[Tensor, Tensor | None]:
        call = describe(self.counter.locate(module, states[0]), states, mask, arguments)
        if self.parts and self.parts[0].place != call.place:
            self.flush()
        whole = self.counter.find_whole(module, states[0])
        part = whole > 0
        if self.kernel == "fast" and not part:
            call = hide_later_keys(call, module, arguments)
            output = self.receive(call)
            assert output is not None
            return output, None
        edited = self.edits.touch(call.place)
        if edited and part:
            raise InputError("recorders.edits.windows", place=call.place)
        if edited:
            arguments = arguments | change_scores(self.edits, call)
        elif not part and self.compute is not None and is_standard(module, call, arguments):
            output = self.compute(call)
            if output is not None:
                return output, call.weights
        output, weights = find_eager(module)(
            module, call.queries, call.keys, call.values, call.mask, **arguments
        )  # the mask is complete, so that `is_causal` changes nothing
        if edited:
            output, weights = change_weights(self.edits, call, output, weights)
        call.weights = weights
        if whole > LONGEST_DENSE:
            self.left_out[call.place] = None
        elif part:
            self.parts.append(call)
        else:
            self.receive(call)
        return output, weights

    def flush(self) -> None:
        """Pass on an attention whose parts have all been seen."""
        if self.parts:
            parts, self.parts = self.parts, []
            self.receive(join_parts(parts))


_active: ContextVar[Capture | None] = ContextVar("glassformer_capture", default=None)


@contextmanager
def capturing(model: nn.Module, capture: Capture, *, preserved: bool = False) -> Iterator[None]:
    """All attention that the model computes inside this context, in this thread, goes to the capture.

    `preserved`: the caller is inside `preserving_state` already.
    """
    with (
        nullcontext() if preserved else preserving_state(model),
        _registration.using(),
        using_attention(model, NAMES[capture.kernel]),
        capture.counter.watching(lambda: _active.get() is capture),
    ):
        token = _active.set(capture)
        flushing = model.register_forward_hook(lambda *_: capture.flush())
        try:
            yield
        finally:
            _active.reset(token)
            flushing.remove()


@contextmanager
def _registered() -> Iterator[None]:
    """Our functions are registered with transformers."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface

    for name in NAMES.values():
        AttentionInterface.register(name, _attend)
        AttentionMaskInterface.register(name, _mask)
    try:
        yield
    finally:
        for name in NAMES.values():  # there is no public way to unregister
            AttentionInterface._global_mapping.pop(name, None)
            AttentionMaskInterface._global_mapping.pop(name, None)


_registration = Shared(_registered)  # for as long as at least one recording is under way


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **arguments: Any,
) -> tuple[Tensor, Tensor | None]:
    """The attention function that transformers calls."""
    capture = _active.get()
    if capture is None:
        return find_eager(module)(module, query, key, value, attention_mask, **arguments)
    return capture.attend(module, (query, key, value), attention_mask, arguments)


def _mask(*positional: Any, **named: Any) -> Tensor | None:
    """Its mask function: complete masks for the eager function, else as little as possible."""
    from transformers.masking_utils import eager_mask, sdpa_mask

    capture = _active.get()
    make = sdpa_mask if capture is not None and capture.kernel == "fast" else eager_mask
    return make(*positional, **named)


def describe(
    place: Place, states: tuple[Tensor, Tensor, Tensor], mask: Tensor | None, arguments: dict[str, Any]
) -> Call:
    """The arguments of an attention function as a `Call`."""
    queries, keys, values = states
    scale, sink = arguments.get("scaling"), arguments.get("s_aux")
    unknown = (name for name, value in arguments.items() if value is not None and name not in READ | IGNORED)
    return Call(
        place=place,
        queries=queries,
        keys=keys,
        values=values,
        mask=mask if mask is None or mask.shape[-1] == keys.shape[2] else mask[..., : keys.shape[2]],
        causal=False,
        scale=queries.shape[-1] ** -0.5 if scale is None else float(scale),
        softcap=arguments.get("softcap"),
        bias=arguments.get("position_bias"),
        sink=None if sink is None else sink.detach().reshape(-1),
        weights=None,
        unknown=tuple(sorted(unknown)),
    )


def hide_later_keys(call: Call, module: nn.Module, arguments: dict[str, Any]) -> Call:
    """Without a mask a call may be causal: as its `is_causal` says, or else its module's."""
    is_causal = arguments.get("is_causal")
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    count = call.queries.shape[2]
    if not is_causal or call.mask is not None or count == 1:
        return call
    # A cache of fixed size may be longer than the text.
    return replace(call, causal=True, keys=call.keys[:, :, :count], values=call.values[:, :, :count])


def is_standard(module: nn.Module, call: Call, arguments: dict[str, Any]) -> bool:
    """Whether the model's eager function is the softmax of scaled products, and a product with the values."""
    code = getattr(find_eager(module), "__code__", None)
    others = (call.softcap, call.bias, call.sink)
    plain = not call.unknown and all(each is None for each in others)
    return (
        plain
        and isinstance(arguments.get("scaling"), float)
        and code is not None
        and {*code.co_names} <= STANDARD_NAMES
    )


def find_eager(module: nn.Module) -> Callable[..., tuple[Tensor, Tensor]]:
    """The eager attention function that stands in the same file as the module's class."""
    for kind in type(module).__mro__:
        function = getattr(sys.modules.get(kind.__module__), "eager_attention_forward", None)
        if function is not None:
            return function
    raise RecordingError("recorders.interface.no_eager", module=type(module).__name__)
