"""Attribution: how much each token, or each edge of attention, contributes to an outcome, by several methods.

In:   a model that `load` opens, a text, an outcome, the name of a method.
Out:  `Attribution`: a score for each token, or a map for each attention. None of them is a measured effect:
      `faithfulness` compares them with real cuts.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.loaded.reading import Inputs
from glassformer.messages import Message, message
from glassformer.place import Place
from glassformer.recorders.causes.embeddings import integrate_gradients, multiply_gradient
from glassformer.recorders.causes.gradients import (
    OutcomePass,
    TrackedAttention,
    TrackedStates,
    differentiate,
    open_pass,
)
from glassformer.recorders.causes.outcomes import Outcome
from glassformer.recorders.edits.edit import HeadOutputs
from glassformer.recording import Side, Tokens
from glassformer.registry import suggestion

Method = Literal[
    "attention",
    "value_weighted",
    "gradient_attention",
    "gradient_rollout",
    "gradient_input",
    "integrated_gradients",
]
METHODS: tuple[Method, ...] = get_args(Method)
SIGNED = ("gradient_attention", "gradient_input", "integrated_gradients")
STEPS = 32  # of an integral
MOST_STEPS = 1000

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Attribution:
    """What a method says about an outcome: a score for each token, or a map for each attention.

    Signed scores are above 0 where a part raises the outcome. `str()` shows the largest.

    >>> found = gf.attribute("zoo/sentiment", "A moving film.", outcome=gf.ClassProbability("positive"),
    ...                      method="gradient_input")
    >>> len(found.scores["source"]) == len(found.source)
    True
    """

    model: str
    method: Method
    outcome: Outcome
    source: Tokens
    tokens: Tokens  # whose positions have logits: the target, where there is one
    value: float  # the outcome
    scores: Mapping[Side, Array] = field(default_factory=dict)  # (token,)
    maps: Mapping[Place, Array] = field(default_factory=dict)  # (head, query, key)
    missing: float | None = None  # of integrated gradients: their sum minus what it should be
    base: float | None = None  # of integrated gradients: the outcome with embeddings of 0

    @property
    def signed(self) -> bool:
        """Whether scores tell in which direction a part moves the outcome, or only how much it counts."""
        return self.method in SIGNED

    @property
    def description(self) -> Message:
        """What the method computes, for a person."""
        return describe_method(self.method)

    def heads(self) -> dict[Place, Array]:
        """The sum over all edges of each head (head,), where the method gives maps."""
        return {place: each.sum((1, 2)) for place, each in self.maps.items()}

    def largest(self, count: int = 10) -> list[tuple[Message, float]]:
        """The tokens or edges with the largest scores, in either direction."""
        found = []
        for side, scores in self.scores.items():
            texts = (self.source if side == "source" else self.tokens).texts
            for position in np.argsort(-np.abs(scores), kind="stable")[:count]:
                code = "token" if len(self.scores) == 1 else f"token_of_{side}"
                name = message(f"recorders.attribution.{code}", token=texts[position], position=int(position))
                found.append((name, float(scores[position])))
        for place, edges in self.maps.items():
            for at in np.argsort(-np.abs(edges), axis=None, kind="stable")[:count]:
                head, query, key = (int(each) for each in np.unravel_index(at, edges.shape))
                name = message("recorders.attribution.edge", head=head, place=place, query=query, key=key)
                found.append((name, float(edges[head, query, key])))
        return sorted(found, key=lambda each: -abs(each[1]))[:count]

    def __str__(self) -> str:
        lines = [
            self.description,
            message("recorders.attribution.outcome", outcome=self.outcome, value=self.value),
            *(
                message("recorders.attribution.line", value=value, name=name)
                for name, value in self.largest()
            ),
        ]
        if self.missing is not None:
            lines.append(message("recorders.attribution.missing", missing=self.missing))
        return "\n".join(map(str, lines))


def attribute(  # noqa: PLR0913 - one argument for each thing that can be asked for
    model: Any,
    inputs: Inputs,
    target: Inputs | None = None,
    *,
    outcome: Outcome,
    method: Method = "gradient_input",
    steps: int = STEPS,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    target_language: str | None = None,
    second_text: str | None = None,
) -> Attribution:
    """Attribute an outcome to tokens, or to edges of attention.

    Arguments:
        method: scores of tokens:
            "gradient_input"        gradient × embedding
            "integrated_gradients"  the same, averaged on the way from embeddings of 0; `missing` is what the
                                    scores sum to beyond the difference of the two outcomes
            "gradient_rollout"      attention × gradient, its positive part, followed through the layers
        or maps of edges:
            "attention"             attention weights as they are
            "value_weighted"        the length of what an edge adds: ‖weight · value · W_O‖
            "gradient_attention"    gradient × attention weight
        steps: of the integral of integrated gradients.
        model, inputs, target, outcome, tokenizer, device, target_language, second_text: see `sweep`.

    >>> found = gf.attribute("zoo/gpt2", "The men on the road", outcome=gf.LogitDifference(" were", " was"),
    ...                      method="integrated_gradients")
    >>> found.source.texts[found.scores["source"].argmax()]
    ' men'
    """
    if method not in METHODS:
        near = suggestion(str(method), METHODS)
        raise InputError("recorders.attribution.unknown_method", method=str(method), suggestion=near)
    if not isinstance(steps, int) or not 1 <= steps <= MOST_STEPS:
        raise InputError("recorders.attribution.bad_steps", steps=repr(steps), most=MOST_STEPS)
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
    return attribute_pass(prepared, outcome, method, steps)


def attribute_pass(
    prepared: OutcomePass, outcome: Outcome, method: Method, steps: int = STEPS
) -> Attribution:
    """The same of a text that has been read."""

    def result(value: float, **found: Any) -> Attribution:
        sides = (prepared.source, prepared.tokens)
        return Attribution(prepared.model.name, method, outcome, *sides, value, **found)

    if method == "gradient_input":
        value, scores = multiply_gradient(prepared)
        return result(value, scores=scores)
    if method == "integrated_gradients":
        value, scores, missing, base = integrate_gradients(prepared, steps)
        return result(value, scores=scores, missing=missing, base=base)
    value, attention = _Attention.run(prepared, lengths=method == "value_weighted")
    if method == "gradient_rollout":
        return result(value, scores=attention.roll_out(prepared))
    maps: dict[Method, Callable[[], dict[Place, Array]]] = {
        "attention": lambda: attention.weights,
        "value_weighted": attention.weigh_values,
        "gradient_attention": attention.multiply,
    }
    return result(value, maps=maps[method]())


def describe_method(method: Method) -> Message:
    """What a method computes, for a person."""
    return {
        "attention": message("recorders.attribution.method.attention"),
        "value_weighted": message("recorders.attribution.method.value_weighted"),
        "gradient_attention": message("recorders.attribution.method.gradient_attention"),
        "gradient_rollout": message("recorders.attribution.method.gradient_rollout"),
        "gradient_input": message("recorders.attribution.method.gradient_input"),
        "integrated_gradients": message("recorders.attribution.method.integrated_gradients"),
    }[method]


@dataclass(frozen=True, slots=True)
class _Attention:
    """What one pass shows of attention, as arrays; calls of a place are joined."""

    model: str
    weights: dict[Place, Array]  # (head, query, key)
    slopes: dict[Place, Array]  # (head, query, key): how fast the outcome grows with each weight
    lengths: dict[Place, Array | None]  # (head, key): ‖value · W_O‖; None: no projection was seen
    readers: Array  # (token,): how much the outcome depends on each token after the last layer; sums to 1

    @classmethod
    def run(cls, prepared: OutcomePass, *, lengths: bool) -> "tuple[float, _Attention]":
        attention, states = _Projections(prepared.model.network), TrackedStates()
        layered = prepared.has_layers
        with attention.hooked():
            value = prepared.run(attention, states) if layered else prepared.run(attention)
        calls = [(place, each) for place, found in attention.weights.items() for each in found]
        measured = lengths and layered
        found_lengths = {place: attention.measure(place) if measured else None for place in attention.weights}
        last = [each for layer, each in states.found.items() if layer[1] == "feed_forward"][-1:]
        gradients = differentiate(value, [*(each for _, each in calls), *last])
        slopes: dict[Place, list[Tensor]] = {}
        for (place, _), gradient in zip(calls, gradients, strict=False):
            slopes.setdefault(place, []).append(gradient)
        readers = np.ones(len(prepared.tokens))
        if last:
            readers = gradients[-1][0].double().norm(dim=-1).cpu().numpy()
        found = cls(
            prepared.model.name,
            {place: _join(each) for place, each in attention.weights.items()},
            {place: _join(each) for place, each in slopes.items()},
            found_lengths,
            readers / (readers.sum() or 1.0),
        )
        return float(value.detach()), found

    def multiply(self) -> dict[Place, Array]:
        """Gradient × attention."""
        return {place: weights * self.slopes[place] for place, weights in self.weights.items()}

    def weigh_values(self) -> dict[Place, Array]:
        """‖weight · value · W_O‖."""
        found = {}
        for place, weights in self.weights.items():
            lengths = self.lengths[place]
            if lengths is None:
                raise InputError("recorders.attribution.no_projection", name=self.model, place=place)
            found[place] = weights * lengths[:, None]
        return found

    def roll_out(self, prepared: OutcomePass) -> dict[Side, Array]:
        """The positive part of gradient × attention, mean over heads, followed through the layers (Chefer et
        al. 2021): R ← R + Ā R; cross-attention adds what the encoder's tokens are made of."""
        both = prepared.source is not prepared.tokens
        encoder = np.eye(len(prepared.source))
        own, crossed = np.eye(len(prepared.tokens)), np.zeros((len(prepared.tokens), len(prepared.source)))
        for place, product in self.multiply().items():
            mean = np.maximum(product, 0).mean(0)  # (query, key)
            if place.kind == "cross":
                crossed = crossed + mean @ encoder
            elif both and place.stack == "encoder":
                encoder = encoder + mean @ encoder
            else:
                own, crossed = own + mean @ own, crossed + mean @ crossed
        if not both:
            return {"source": self.readers @ own}
        return {"source": self.readers @ crossed, "target": self.readers @ own}


class _Projections(TrackedAttention):
    """Attention, and the matrix by which each output projection reads its heads."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        self.waiting: tuple[Place, Tensor] | None = None
        self.matrices: dict[Place, Tensor] = {}  # (head · width, width of the stream)

    def change_outputs(self, outputs: HeadOutputs) -> None:
        super().change_outputs(outputs)
        self.waiting = outputs.place, outputs.tensor.transpose(1, 2).flatten(2)

    def hooked(self) -> ExitStack:
        """Hooks on every matrix of the network."""
        hooks = ExitStack()
        for module in self.network.modules():
            if isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D":
                hooks.enter_context(module.register_forward_pre_hook(self._notice))
        return hooks

    def _notice(self, module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        """The module that reads the heads side by side is their projection."""
        if self.waiting is None or inputs[0].shape != self.waiting[1].shape:
            return
        place, heads = self.waiting
        if torch.equal(inputs[0], heads):
            weight = module.weight
            assert isinstance(weight, Tensor)
            self.matrices[place] = weight.T if isinstance(module, nn.Linear) else weight
            self.waiting = None

    def measure(self, place: Place) -> Array | None:
        """The length (head, key) of what each value is, after the output projection; None: not seen."""
        if place not in self.matrices:
            return None
        (weights,), (outputs,) = self.weights[place], self.outputs[place]
        heads, width = outputs.shape[1], outputs.shape[-1]
        matrices = self.matrices[place].detach().double().unflatten(0, (heads, width))  # (head, width, ·)
        values = _find_values(weights, outputs)
        found: Array = (values @ matrices).norm(dim=-1).cpu().numpy()
        return found


def _find_values(weights: Tensor, outputs: Tensor) -> Tensor:
    """Values (head, key, width) of a call: what an output grows by with each weight.

    Each query has the same values, so that each may ask for another column.
    """
    queries, width = outputs.shape[-2:]
    parts = []
    for start in range(0, width, queries):
        count = min(queries, width - start)
        chosen = torch.zeros_like(outputs)
        for number in range(count):
            chosen[:, :, number, start + number] = 1.0
        (slopes,) = torch.autograd.grad(outputs, weights, chosen, retain_graph=True)
        parts.append(slopes[0, :, :count])  # (head, column, key)
    return torch.cat(parts, 1).transpose(1, 2).double()


def _join(parts: list[Tensor]) -> Array:
    joined: Array = torch.cat(parts, dim=2).detach()[0].double().cpu().numpy()
    return joined
