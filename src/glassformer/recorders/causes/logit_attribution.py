"""Direct logit attribution: what each head, feed-forward network and the embedding writes into two logits.

In:   a model that `load` opens, a text, two tokens.
Out:  `LogitAttribution`: parts that sum to the difference of the two logits. A part is what goes straight
      from there to the logits, past all later layers: norms on the way keep the scale that they have in this
      pass, so that everything on it is linear. Biases are a part of their own.

How: what heads, feed-forward networks and the embedding give is cut off from what it was computed of; then
gradients know the direct way alone. A second pass with all of them at 0 gives what biases add. A network in
which the parts do not sum to the difference (a head with an activation, capped logits) is refused.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.loaded.reading import Inputs
from glassformer.messages import Message, message
from glassformer.place import Place, name_term
from glassformer.recorders.causes.gradients import Layer, differentiate, open_pass
from glassformer.recorders.causes.outcomes import LogitDifference
from glassformer.recorders.comparison import tolerance_of
from glassformer.recorders.edits.edit import Edit, HeadOutputs, Part, States, Weights
from glassformer.recording import Tokens
from glassformer.rounding import SHARPEST

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LogitAttribution:
    """What each part of a network writes into the difference of two logits; the parts sum to it.

    heads         (head,) by place
    keys          (head, key) by place: the same by the token that a head reads; they sum to `heads`
    feed_forward  (layer,) by stack
    embedding     what the first layer is given: token, position and all that belongs to them
    biases        of output projections, norms and the head of the network

    >>> outcome = gf.LogitDifference(" were", " was")
    >>> parts = gf.attribute_logits("zoo/gpt2", "The men on the road", outcome=outcome)
    >>> abs(parts.total - parts.value) < 1e-4
    True
    """

    model: str
    outcome: LogitDifference
    source: Tokens
    tokens: Tokens  # whose positions have logits: the target, where there is one
    value: float  # the difference of the two logits
    heads: Mapping[Place, Array]
    keys: Mapping[Place, Array]
    feed_forward: Mapping[str, Array]
    embedding: float
    biases: float

    @property
    def total(self) -> float:
        """The sum of all parts."""
        return float(sum(each for _, each in self.parts()))

    def parts(self) -> list[tuple[Message, float]]:
        """Every part with its name."""
        named = [
            (message("recorders.attribution.head", head=head, place=place), float(each))
            for place, heads in self.heads.items()
            for head, each in enumerate(heads)
        ]
        for stack, layers in self.feed_forward.items():
            for layer, each in enumerate(layers):
                name = message("recorders.attribution.feed_forward", stack=name_term(stack), layer=layer)
                named.append((name, float(each)))
        named.append((message("recorders.attribution.embedding"), self.embedding))
        named.append((message("recorders.attribution.biases"), self.biases))
        return named

    def __str__(self) -> str:
        largest = sorted(self.parts(), key=lambda each: -abs(each[1]))[:10]
        lines = [
            message("recorders.attribution.parts_of", outcome=self.outcome, value=self.value),
            *(message("recorders.attribution.line", value=value, name=name) for name, value in largest),
        ]
        return "\n".join(map(str, lines))


def attribute_logits(
    model: Any,
    inputs: Inputs,
    target: Inputs | None = None,
    *,
    outcome: LogitDifference,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    target_language: str | None = None,
    second_text: str | None = None,
) -> LogitAttribution:
    """Divide the difference of two logits among the parts of a network that write it.

    Arguments: see `sweep`. A part that matters by way of later layers only has nothing here; `sweep` counts
    that, too.

    >>> outcome = gf.LogitDifference(" were", " was")
    >>> parts = gf.attribute_logits("zoo/gpt2", "The men on the road", outcome=outcome)
    >>> print(parts)
    logit of ' were' minus that of ' was' at position -1: 3.02, of which
    2.407  head 1 of decoder layer 4, self
    ...
    """
    if not isinstance(outcome, LogitDifference):
        raise InputError("recorders.attribution.not_linear", seen=repr(outcome))
    prepared = open_pass(
        model,
        inputs,
        target,
        outcome,
        tokenizer=tokenizer,
        device=device,
        target_language=target_language,
        second_text=second_text,
    )
    if not prepared.has_layers:
        raise InputError("recorders.attribution.recurrent", name=prepared.model.name)
    config = getattr(prepared.model.network, "config", None)
    if getattr(config, "final_logit_softcapping", None):  # close to linear for small logits, but not exactly
        raise InputError("recorders.attribution.capped", name=prepared.model.name)
    heads, states = _CutHeads(), _CutStates()
    norms = _FrozenNorms()
    with norms.hooked(prepared.model.network):
        value = prepared.run(heads, states)
        norms.keep()
        biases = prepared.run(_CutHeads(zero=True), _CutStates(zero=True))
    calls = list(heads.given.items())
    written = list(states.given.items())
    gradients = differentiate(value, [*(each for _, each in calls), *(each for _, each in written)])
    kept, keys = {}, {}
    for (place, given), gradient in zip(calls, gradients, strict=False):
        if not bool(gradient.any()):
            continue  # an encoder writes nothing into the logits of a decoder
        kept[place] = _numbers((given * gradient).detach()[0].double().sum((1, 2)))
        weights, before = heads.weights[place], heads.before[place]
        (slopes,) = torch.autograd.grad(before, weights, gradient, retain_graph=True)
        keys[place] = _numbers((weights * slopes).detach()[0].double().sum(1))
    feed_forward: dict[str, list[float]] = {}
    embedding = 0.0
    for ((stack, part, _), given), gradient in zip(written, gradients[len(calls) :], strict=True):
        share = float((given * gradient).detach().sum(dtype=torch.float64))
        if part == "residual":
            embedding += share
        elif bool(gradient.any()):
            feed_forward.setdefault(stack, []).append(share)
    found = LogitAttribution(
        prepared.model.name,
        outcome,
        prepared.source,
        prepared.tokens,
        float(value.detach()),
        kept,
        keys,
        {stack: np.array(each) for stack, each in feed_forward.items()},
        embedding,
        float(biases.detach()),
    )
    size = sum(abs(each) for _, each in found.parts()) or 1.0
    if not abs(found.total - found.value) <= tolerance_of(prepared.model.network, SHARPEST) * size:
        raise InputError(
            "recorders.attribution.no_sum", name=prepared.model.name, total=found.total, value=found.value
        )
    return found


@dataclass(slots=True)
class _CutHeads(Edit):
    """What heads give, cut off from what it was computed of; `zero`: nothing instead."""

    zero: bool = False
    weights: dict[Place, Tensor] = field(default_factory=dict)
    before: dict[Place, Tensor] = field(default_factory=dict)  # (1, head, query, width), not cut off
    given: dict[Place, Tensor] = field(default_factory=dict)

    def change_weights(self, weights: Weights) -> None:
        self.weights[weights.place] = weights.tensor

    def change_outputs(self, outputs: HeadOutputs) -> None:
        self.before[outputs.place] = outputs.read()
        outputs.tensor = self.given[outputs.place] = _cut(outputs.tensor, zero=self.zero)

    def as_message(self) -> Message:
        return message("recorders.estimates.tracking")


@dataclass(slots=True)
class _CutStates(Edit):
    """The same for what the first layers of stacks are given, and what feed-forward networks give."""

    zero: bool = False
    given: dict[Layer, Tensor] = field(default_factory=dict)

    def touches_states(self, stack: str, part: Part, layer: int) -> bool:  # noqa: ARG002
        return part == "feed_forward" or layer == 0

    def change_states(self, states: States) -> None:
        cut = _cut(states.read(), zero=self.zero)
        states.tensor = self.given[states.stack, states.part, states.layer] = cut

    def as_message(self) -> Message:
        return message("recorders.estimates.tracking")


def _cut(tensor: Tensor, *, zero: bool) -> Tensor:
    return (torch.zeros_like(tensor) if zero else tensor.detach().clone()).requires_grad_()


class _FrozenNorms:
    """Layer norms and RMS norms with the scales that they have in the first pass."""

    def __init__(self) -> None:
        self.scales: list[Tensor] = []  # of all calls of a pass, in order
        self.calls: Iterator[Tensor] = iter(())
        self.kept = False

    def keep(self) -> None:
        """From now on use the scales of the last pass."""
        self.kept = True

    def _begin(self, *_: object) -> None:
        """A pass begins: maybe one of a self-check, before the one that counts."""
        if self.kept:
            self.calls = iter(self.scales)
        else:
            self.scales.clear()

    @contextmanager
    def hooked(self, network: nn.Module) -> Iterator[None]:
        with ExitStack() as hooks:
            hooks.enter_context(network.register_forward_pre_hook(self._begin))
            for module in network.modules():
                if isinstance(module, nn.LayerNorm):
                    hooks.enter_context(module.register_forward_hook(self._freeze_layer_norm))
                elif type(module).__name__.endswith(("RMSNorm", "T5LayerNorm")):
                    hooks.enter_context(module.register_forward_hook(self._freeze_rms_norm))
            yield

    def _freeze_layer_norm(self, module: nn.LayerNorm, inputs: tuple[Tensor, ...], _: Tensor) -> Tensor:
        hidden = inputs[0]
        centred = hidden - hidden.mean(-1, keepdim=True)
        variance = hidden.var(-1, keepdim=True, correction=0)
        result = centred * self._scale((variance + module.eps).rsqrt())
        result = result if module.weight is None else result * module.weight
        return result if module.bias is None else result + module.bias

    def _freeze_rms_norm(self, _: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        hidden = inputs[0]
        return hidden * self._scale((output / hidden).where(hidden != 0, 0.0).to(hidden.dtype))

    def _scale(self, own: Tensor) -> Tensor:
        if self.kept:
            return next(self.calls)
        self.scales.append(own.detach())
        return self.scales[-1]


def _numbers(tensor: Tensor) -> Array:
    return tensor.cpu().numpy()
