"""Every step of one pass through one of our Transformers, as the walk shows it.

In:   a network that is about to read one text.
Out:  arrays by name, such as encoder/0/self/queries (head, token, k): exact, float32, without a batch axis;
      and, where they are wanted, the network's parameters by their own names.

Hooks are registered only inside `watching`, and change nothing. A sub-layer writes under STACK/LAYER/self,
/cross or /feed_forward: normed (where norms come first), what it computes, output, sum (with the residual
stream), norm (where norms come last). A step reads what the step before it wrote.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.errors import InputError
from glassformer.model.attention import Attention, CrossAttention, SelfAttention
from glassformer.model.frames import FrameEmbeddings
from glassformer.model.heads import ClassifierHead, LanguageHead, NumberHead, TaggingHead
from glassformer.model.layers import FeedForward, Residual
from glassformer.model.patches import PatchEmbeddings
from glassformer.model.similarity import AdditiveSimilarity, ProductSimilarity
from glassformer.model.spectrogram import LogMel
from glassformer.model.transformer import Embeddings, Stack, Transformer
from glassformer.recorders.edits.edit import Edit
from glassformer.recorders.native.attentions import find_stacks
from glassformer.recorders.store import as_numbers
from glassformer.recording import LONGEST_TRACE
from glassformer.recording.arrays import Floats

Hook = Callable[[nn.Module, Any, Any], None]
Name = str | Callable[[], str]  # where an array belongs; called when it is computed


def complete_want(want: frozenset[str]) -> frozenset[str]:
    """A trace is followed through scores and weights, so they are kept with it."""
    return want | {"weights", "scores", "output"} if "trace" in want else want


def check_traceable(
    want: Collection[str], edits: Sequence[Edit], sides: Sequence[Sequence[int] | Any]
) -> None:
    """Refuse a trace that is not possible or too long."""
    if "trace" not in want:
        return
    for edit in edits:
        if edit.edits_attention or edit.edits_states:
            raise InputError("recorders.trace.edited", edit=edit)
    longest = max(len(side) for side in sides if side is not None)
    if longest > LONGEST_TRACE:
        raise InputError("recorders.trace.too_long", tokens=longest, most=LONGEST_TRACE)


def read_parameters(network: nn.Module) -> dict[str, Floats]:
    """All parameters as parameters/NAME; those that half precision holds exactly are kept in it."""
    read: dict[str, Floats] = {}
    tensors = network.state_dict()
    head = getattr(network, "head", None)
    if isinstance(head, NumberHead):  # its layer, scale and center together are one layer
        tensors["head.numbers.weight"], tensors["head.numbers.bias"] = head.fold()
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():
            continue
        numbers = as_numbers(tensor)
        with np.errstate(over="ignore"):
            half = numbers.astype(np.float16)
        read[f"parameters/{name}"] = half if (half == numbers).all() else numbers
    return read


class Trace:
    """What one pass computed, by name."""

    def __init__(self, network: Transformer) -> None:
        self.network = network
        self.arrays: dict[str, NDArray[np.float32]] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Hooks exist only inside this context."""
        with ExitStack() as hooks:
            for module, hook in self._hooks():
                hooks.callback(module.register_forward_hook(hook).remove)
            yield

    def keep(self, name: str, tensor: Tensor) -> None:
        self.arrays[name] = as_numbers(tensor)

    def _hooks(self) -> Iterator[tuple[nn.Module, Hook]]:
        stacks, head = find_stacks(self.network), self.network.head
        seen = self.network.perception
        if seen is not None:
            yield from self._watch_perception(seen)
        if self.network.config.has_words:
            yield from self._watch_embeddings(
                self.network.embeddings, tuple(each for each in stacks if seen is None or each != "encoder")
            )
        for name, stack in stacks.items():
            yield from self._watch_stack(name, stack)
        if isinstance(head, ClassifierHead):
            yield from self._watch_classifier(head)
        elif isinstance(head, TaggingHead):
            yield head.classes, self._keep("output", "classes")
        elif head is not None:
            yield from self._watch_words(head)

    # Below the stacks

    def _watch_embeddings(
        self, module: Embeddings, stacks: tuple[str, ...]
    ) -> Iterator[tuple[nn.Module, Hook]]:
        """One module for all stacks: the encoder's tokens come first."""
        done = [0]

        def place() -> str:
            return f"{stacks[done[0]]}/embedding"

        yield module.tokens, self._keep(place, "tokens")
        if module.factor != 1.0:
            yield module.scaled, self._keep(place, "scaled")
        if module.positions is not None:
            yield module.positions, self._keep(place, "positions", batched=False)
        if module.segments is not None:
            yield module.segments, self._keep(place, "segments")
        if module.norm is not None:
            yield module.norm, self._keep(place, "norm", given="sum")
        if module.projection is not None:
            if module.norm is None:
                yield module.projection, self._keep(place, given="sum")
            yield module.projection, self._keep(place, "widened")

        def finish(_: nn.Module, __: Any, output: Tensor) -> None:
            if module.norm is None and module.projection is None:
                self.keep(f"{place()}/sum", output[0])
            done[0] += 1

        yield module, finish

    def _watch_perception(
        self, module: PatchEmbeddings | FrameEmbeddings
    ) -> Iterator[tuple[nn.Module, Hook]]:
        """What an encoder has instead of embeddings of words."""
        place = "encoder/embedding"
        if isinstance(module, PatchEmbeddings):
            classed = module.class_vector is not None
            yield module.patches, self._keep_patches(module)
            yield module.projection, self._keep(place, "projected" if classed else "tokens")
            yield module.projection, self._join_class_vector(module)
        else:
            yield module.spectrogram, self._keep_spectrum(module.spectrogram)
            yield module.first, self._keep_rows(place, "first")
            yield module.second, self._keep_rows(place, "second", given="first_active")
            yield module.second, self._activate(f"{place}/tokens")
        if module.positions is not None:
            yield module.positions, self._keep(place, "positions", batched=False)
        if module.norm is not None:
            yield module.norm, self._keep(place, "norm", given="sum")
        elif module.positions is not None:
            yield module, self._keep(place, "sum")

    # In a stack

    def _watch_stack(self, name: str, stack: Stack) -> Iterator[tuple[nn.Module, Hook]]:
        blocks = len(stack.layers)
        if stack.bias is not None:
            yield stack.bias, self._keep(name, "position_bias")
        for number in range(blocks):
            block = stack.block(number)
            parts: list[tuple[str, nn.Module, Residual]] = [
                ("self", block.attention, block.attention_residual),
                ("feed_forward", block.feed_forward, block.feed_forward_residual),
            ]
            if block.cross is not None and block.cross_residual is not None:
                parts.insert(1, ("cross", block.cross, block.cross_residual))
            for kind, part, residual in parts:
                turn = _Turn(name, number, blocks, kind)
                if isinstance(part, FeedForward):
                    yield part.expand, self._keep(turn, "inner")
                    yield part.contract, self._keep(turn, "output", given="active")
                if isinstance(part, Attention):
                    yield from self._watch_attention(part, turn)
                yield from self._watch_residual(residual, turn)
        if stack.norm is not None:
            yield stack.norm, self._keep(name, "final")

    def _watch_attention(self, module: Attention, turn: "_Turn") -> Iterator[tuple[nn.Module, Hook]]:
        if isinstance(module, SelfAttention) and module.qkv is not None:
            yield module.qkv, self._split(module, turn, ("queries", "keys", "values"), module.parts)
        elif isinstance(module, CrossAttention) and module.q is not None and module.kv is not None:
            # Keys and values of all layers are made before the first layer runs: they count by themselves.
            own = copy(turn)
            width, key_width = self.network.config.width, self.network.config.key_width
            yield module.kv, self._split(module, own, ("keys", "values"), (key_width, key_width))
            if module.key_norm is not None:
                yield module.key_norm, self._keep(own, "keys_normed")
            yield module.key_norm or module.kv, lambda *_: own.advance()
            yield module.q, self._split(module, turn, ("queries",), (width,))
        if module.query_norm is not None:
            yield module.query_norm, self._keep(turn, "queries_normed")
        if module.key_norm is not None and isinstance(module, SelfAttention):
            yield module.key_norm, self._keep(turn, "keys_normed")
        turned = self.network.config.positions == "rotary" and isinstance(module, SelfAttention)
        if turned:
            yield module.queries, self._keep(turn, "queries_turned")
            yield module.keys, self._keep(turn, "keys_turned")
        if isinstance(module, SelfAttention) and module.qkv is None:
            yield module, self._split_input(module, turn)
        elif isinstance(module, CrossAttention) and module.q is None:
            yield module.queries, self._keep(turn, "queries")
            yield module.keys, self._keep(turn, "keys")
            yield module.values, self._keep(turn, "values")
        yield module.similarity, self._compare(module.similarity, turn)
        if self.network.config.positions in ("relative", "alibi") and isinstance(module, SelfAttention):
            yield module.scores, self._keep(turn, "biased")
        yield module.mixed, self._keep(turn, "mixed")
        yield module.output, self._keep(turn, "output", given="joined")

    def _watch_residual(self, module: Residual, turn: "_Turn") -> Iterator[tuple[nn.Module, Hook]]:
        """The residual connection, which is the last step of a sub-layer."""
        if module.before:
            yield module.norm, self._keep(turn, "normed")
        else:
            yield module.norm, self._keep(turn, "norm", given="sum")

        def finish(_: nn.Module, __: Any, output: Tensor) -> None:
            if module.before:
                self.keep(f"{turn()}/sum", output[0])
            turn.advance()

        yield module, finish

    # Above the stacks

    def _watch_words(self, head: LanguageHead) -> Iterator[tuple[nn.Module, Hook]]:
        norm = getattr(head, "norm", None)
        if head.narrow is not None and norm is None:
            yield head.narrow, self._keep("output", "transformed")
        elif head.narrow is not None and norm is not None:
            yield head.narrow, self._keep("output", "dense")
            yield norm, self._keep("output", "transformed", given="active")
        yield head, self._keep("output", "logits")

    def _watch_classifier(self, head: ClassifierHead) -> Iterator[tuple[nn.Module, Hook]]:
        scores = None if isinstance(head, NumberHead) else "classes"
        if head.pooler is not None:
            yield head.pooler, self._keep("output", "dense", given="pooled")
            yield head.classes, self._keep("output", scores, given="active")
        else:
            yield head.classes, self._keep("output", scores, given="pooled")
        if isinstance(head, NumberHead):
            yield head, self._keep("output", "numbers")

    # Hooks

    def _keep(
        self, place: Name, output: str | None = None, *, given: str | None = None, batched: bool = True
    ) -> Hook:
        """Keeps what a module was given, what it returned, or both, under the names of a place."""

        def hook(_: nn.Module, inputs: Any, returned: Tensor) -> None:
            name = place if isinstance(place, str) else place()
            if given is not None:
                self.keep(f"{name}/{given}", inputs[0][0])
            if output is not None:
                self.keep(f"{name}/{output}", returned[0] if batched else returned)

        return hook

    def _keep_rows(self, place: str, output: str, *, given: str | None = None) -> Hook:
        """Of a convolution, whose rows are columns: (batch, feature, column)."""

        def hook(_: nn.Module, inputs: Any, returned: Tensor) -> None:
            if given is not None:
                self.keep(f"{place}/{given}", inputs[0][0].T)
            self.keep(f"{place}/{output}", returned[0].T)

        return hook

    def _activate(self, name: str) -> Hook:
        """The activation after a convolution, which the network computes without a module to watch."""

        def hook(_: nn.Module, __: Any, returned: Tensor) -> None:
            with torch.no_grad():
                self.keep(name, F.gelu(returned)[0].T)

        return hook

    def _keep_patches(self, module: PatchEmbeddings) -> Hook:
        """The pixels of each patch; what was taken from bytes and divided by, for each colour."""

        def hook(_: nn.Module, __: Any, returned: Tensor) -> None:
            self.keep("encoder/embedding/patches", returned[0])
            for name in ("pixel_mean", "pixel_deviation"):
                numbers = torch.tensor(getattr(module.config, name))
                self.keep(f"encoder/{name}", numbers.expand(module.shape[0]))

        return hook

    def _join_class_vector(self, module: PatchEmbeddings) -> Hook:
        """The class token in front of the patches."""

        def hook(_: nn.Module, __: Any, returned: Tensor) -> None:
            if module.class_vector is not None:
                with torch.no_grad():
                    self.keep("encoder/embedding/tokens", torch.cat((module.class_vector[None], returned[0])))

        return hook

    def _keep_spectrum(self, module: LogMel) -> Hook:
        """A spectrogram (batch, band, column), and the powers of frequencies that it was made of."""

        def hook(_: nn.Module, inputs: Any, returned: Tensor) -> None:
            with torch.no_grad():
                if type(module) is LogMel:  # of others the walk shows no powers
                    self.keep("encoder/embedding/power", module.find_powers(*inputs[:2])[0].T)
            self.keep("encoder/embedding/spectrogram", returned[0].T)

        return hook

    def _split(
        self, module: Attention, turn: "_Turn", names: tuple[str, ...], widths: tuple[int, ...]
    ) -> Hook:
        """Parts of a fused projection, by head: (head, token, k)."""

        def hook(_: nn.Module, __: Any, output: Tensor) -> None:
            for name, part in zip(names, output.split(widths, dim=-1), strict=True):
                self.keep(f"{turn()}/{name}", module.split(part)[0])

        return hook

    def _split_input(self, module: SelfAttention, turn: "_Turn") -> Hook:
        """Without projections queries, keys and values are parts of what came in, before they are turned."""

        def hook(_: nn.Module, inputs: Any, __: Tensor) -> None:
            for name in ("queries", "keys", "values"):
                self.keep(f"{turn()}/{name}", module.split(inputs[0])[0])

        return hook

    def _compare(self, similarity: ProductSimilarity | AdditiveSimilarity, turn: "_Turn") -> Hook:
        """Similarities; where there is a factor, also before it: the network forms both in one."""
        config = self.network.config
        product = config.similarity in ("dot", "scaled-dot")
        factor = config.score_scale is not None or config.similarity == "scaled-dot"

        def hook(_: nn.Module, inputs: Any, output: Tensor) -> None:
            if product or factor:
                with torch.no_grad():
                    compared = similarity.compare(*inputs)[0]
                self.keep(f"{turn()}/{'products' if product else 'similarities'}", compared)
            if factor or not product:
                self.keep(f"{turn()}/scaled", output[0])

        return hook


@dataclass(slots=True)
class _Turn:
    """Which layer a sub-layer computes now: layers that share a block call it one after the other."""

    stack: str
    layer: int
    blocks: int
    kind: str

    def __call__(self) -> str:
        return f"{self.stack}/{self.layer}/{self.kind}"

    def advance(self) -> None:
        self.layer += self.blocks
