"""Attention through the interface of transformers: what every layer was given, and what it made of it.

In:   a model, and somebody who receives its calls.
Out:  a `Call` for each attention of each layer. With the exact kernel it holds the weights that the model
      file's own eager function returned; with the fast one the receiver computes the output, and no n×n
      matrix exists.

Both an attention function and its mask function are registered, under names of our own and only while
somebody looks: without the second the mask is dropped and nobody is told. Who looks is known to this thread
alone; what another does with the model meanwhile is computed by the eager function and not recorded.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from glassformer.errors import RecordingError
from glassformer.place import Place
from glassformer.recorders.call import Call, Kernel
from glassformer.recorders.edits.active import ActiveEdits
from glassformer.recorders.preserve import on_loan, switched
from glassformer.recorders.transformers.edits import change_scores, change_weights
from glassformer.recorders.transformers.layers import Counter, Stacks

NAMES: dict[Kernel, str] = {"exact": "glassformer_exact", "fast": "glassformer_fast"}

# Words of an attention call that we read, and those that change nothing here: what other kernels need, or
# what is only passed along.
KNOWN = frozenset({"scaling", "dropout", "position_bias", "softcap", "s_aux", "sliding_window", "is_causal"})
IDLE = frozenset({
    "cache", "cache_position", "cu_seq_lens_k", "cu_seq_lens_q", "deterministic", "labels", "logits_to_keep",
    "max_length_k", "max_length_q", "num_items_in_batch", "output_attentions", "output_hidden_states",
    "output_router_logits", "past_key_values", "position_ids", "return_dict", "use_cache",
})  # fmt: skip


Receive = Callable[[Call], Tensor | None]  # gives the output (B, T, H, V) where the call has no weights


class Capture:
    """One recording under way: counts the calls, applies changes and hands out what happened."""

    def __init__(
        self, stacks: Stacks, kernel: Kernel, receive: Receive, edits: ActiveEdits | None = None
    ) -> None:
        self.counter = Counter(stacks)
        self.kernel = kernel
        self.receive = receive
        self.edits = ActiveEdits() if edits is None else edits

    def attend(
        self,
        module: nn.Module,
        states: tuple[Tensor, Tensor, Tensor],
        mask: Tensor | None,
        words: dict[str, Any],
    ) -> tuple[Tensor, Tensor | None]:
        call = describe(self.counter.locate(module), states, mask, words)
        if self.kernel == "fast":
            call = leave_out_later_keys(call, module, words)
            output = self.receive(call)
            assert output is not None
            return output, None
        edited = self.edits.touch(call.place)
        if edited:
            words = words | change_scores(self.edits, call)
        output, weights = find_eager(module)(
            module, call.queries, call.keys, call.values, call.mask, **words
        )  # its mask is whole, so that `is_causal` has nothing left to say
        if edited:
            output, weights = change_weights(self.edits, call, output, weights)
        call.weights = weights
        self.receive(call)
        return output, weights


_active: ContextVar[Capture | None] = ContextVar("glassformer_capture", default=None)
_users = 0
_users_lock = threading.Lock()


@contextmanager
def capturing(model: nn.Module, capture: Capture, *, lent: bool = False) -> Iterator[None]:
    """Whatever the model computes inside this context, in this thread, goes to the capture.

    A model that is `lent` is on loan already, and nothing that happens here needs to be put back before that.
    """

    def notice(module: nn.Module, crosses: bool) -> None:
        if _active.get() is capture:
            capture.counter.notice(module, crosses)

    def begin() -> None:
        if _active.get() is capture:
            capture.counter.begin()

    with (
        nullcontext() if lent else on_loan(model),
        _registered(),
        switched(model, NAMES[capture.kernel]),
        capture.counter.stacks.watching(notice, begin),
    ):
        token = _active.set(capture)
        try:
            yield
        finally:
            _active.reset(token)


@contextmanager
def _registered() -> Iterator[None]:
    """Our names are in the interfaces of transformers while at least one recording is under way."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface

    global _users
    with _users_lock:
        _users += 1
        for name in NAMES.values():
            AttentionInterface.register(name, _attend)
            AttentionMaskInterface.register(name, _mask)
    try:
        yield
    finally:
        with _users_lock:
            _users -= 1
            if _users == 0:
                for name in NAMES.values():  # there is no public way to take a name back
                    AttentionInterface._global_mapping.pop(name, None)
                    AttentionMaskInterface._global_mapping.pop(name, None)


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **words: Any,
) -> tuple[Tensor, Tensor | None]:
    """What transformers calls under our names."""
    capture = _active.get()
    if capture is None:
        return find_eager(module)(module, query, key, value, attention_mask, **words)
    return capture.attend(module, (query, key, value), attention_mask, words)


def _mask(*places: Any, **words: Any) -> Tensor | None:
    """The mask that belongs to it: written out for the eager function, as little as can be else."""
    from transformers.masking_utils import eager_mask, sdpa_mask

    capture = _active.get()
    make = sdpa_mask if capture is not None and capture.kernel == "fast" else eager_mask
    return make(*places, **words)


def describe(
    place: Place, states: tuple[Tensor, Tensor, Tensor], mask: Tensor | None, words: dict[str, Any]
) -> Call:
    """The arguments of an attention function in our own words."""
    queries, keys, values = states
    scale, sink = words.get("scaling"), words.get("s_aux")
    unknown = (word for word, value in words.items() if value is not None and word not in KNOWN | IDLE)
    return Call(
        place=place,
        queries=queries,
        keys=keys,
        values=values,
        mask=mask if mask is None or mask.shape[-1] == keys.shape[2] else mask[..., : keys.shape[2]],
        causal=False,
        scale=queries.shape[-1] ** -0.5 if scale is None else float(scale),
        softcap=words.get("softcap"),
        bias=words.get("position_bias"),
        sink=None if sink is None else sink.detach().reshape(-1),
        weights=None,
        unknown=tuple(sorted(unknown)),
    )


def leave_out_later_keys(call: Call, module: nn.Module, words: dict[str, Any]) -> Call:
    """To the fused kernel no mask may mean a causal one: if the call says so, or else its module."""
    is_causal = words.get("is_causal")
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    count = call.queries.shape[2]
    if not is_causal or call.mask is not None or count == 1:
        return call
    # A cache of fixed size may have room behind the text.
    return replace(call, causal=True, keys=call.keys[:, :, :count], values=call.values[:, :, :count])


def find_eager(module: nn.Module) -> Callable[..., tuple[Tensor, Tensor]]:
    """The eager attention function that stands in the same file as the module's class."""
    for kind in type(module).__mro__:
        function = getattr(sys.modules.get(kind.__module__), "eager_attention_forward", None)
        if function is not None:
            return function
    raise RecordingError(
        f"The file of {type(module).__name__} has no eager_attention_forward, by which a recording is exact. "
        "Record with another version of transformers."
    )
