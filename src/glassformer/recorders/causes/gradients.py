"""One pass over a text whose outcome can be differentiated.

In:   a model that `load` opens, a text, an outcome.
Out:  `OutcomePass`: the outcome as a tensor, and what the pass computed on its way: attention weights, what
      heads and feed-forward networks give, what goes into each layer, with their gradients on request.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.loaded.reading import Inputs
from glassformer.messages import Message, message
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.place import Place
from glassformer.recorders.causes.outcomes import Outcome, Reading
from glassformer.recorders.edits.edit import Edit, HeadOutputs, Part, States, Weights
from glassformer.recorders.record import find_recorder, make_request
from glassformer.recorders.request import Recorder, Request
from glassformer.recording import Tokens

Layer = tuple[str, Part, int]  # a part of a layer of a stack


@dataclass(slots=True)
class TrackedAttention(Edit):
    """Changes nothing: keeps the weights and outputs of heads, for their gradients."""

    weights: dict[Place, list[Tensor]] = field(default_factory=dict)  # (1, head, query, key) of each call
    outputs: dict[Place, list[Tensor]] = field(default_factory=dict)  # (1, head, query, width)

    def change_weights(self, weights: Weights) -> None:
        if not weights.tensor.requires_grad:  # of a recurrent network, which has no tracked layers
            weights.tensor = weights.tensor.detach().requires_grad_()
        self.weights.setdefault(weights.place._replace(step=None), []).append(weights.tensor)

    def change_outputs(self, outputs: HeadOutputs) -> None:
        self.outputs.setdefault(outputs.place._replace(step=None), []).append(outputs.read())

    def as_message(self) -> Message:
        return message("recorders.estimates.tracking")


@dataclass(slots=True)
class TrackedStates(Edit):
    """Changes nothing: keeps what goes into layers and what their feed-forward networks give.

    What goes into the first layer of a stack is what everything after it is differentiated through, so that
    parameters need no gradients.
    """

    found: dict[Layer, Tensor] = field(default_factory=dict)  # (1, token, width)

    def touches_states(self, stack: str, part: Part, layer: int) -> bool:  # noqa: ARG002
        return True

    def change_states(self, states: States) -> None:
        if states.part == "residual" and not states.tensor.requires_grad:
            states.tensor = states.tensor.detach().requires_grad_()
        self.found[states.stack, states.part, states.layer] = states.read()

    def as_message(self) -> Message:
        return message("recorders.estimates.tracking")


@dataclass(frozen=True, slots=True)
class OutcomePass:
    """A text that a model reads, and the outcome that is looked at; it runs as often as `run` is called."""

    model: LoadedModel
    recorder: Recorder
    request: Request
    reading: Reading
    source: Tokens
    tokens: Tokens  # whose positions have logits: the target, where there is one

    @property
    def has_layers(self) -> bool:
        """Whether the states of layers can be tracked; refuses a network without attention."""
        network = self.model.network
        if not isinstance(network, RecurrentTranslator):
            return True
        if network.decoder.attention is None:
            raise InputError("recorders.estimates.no_attention", name=self.model.name)
        return False

    def run(self, *edits: Edit) -> Tensor:
        """The outcome, a number that can be differentiated for what edits kept."""
        with torch.inference_mode(False), torch.enable_grad():
            logits = self.recorder.differentiate(self.request, edits, self.reading.positions)
            return self.reading.read(logits)[0]


def open_pass(
    model: Any,
    inputs: Inputs,
    target: Inputs | None,
    outcome: Outcome,
    *,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    target_language: str | None = None,
    second_text: str | None = None,
) -> OutcomePass:
    """Read a text and prepare its outcome. Without a target an encoder-decoder writes its own."""
    loaded = load(model, tokenizer, device=device)
    loaded.require("records", "edits", "gradients")
    if not isinstance(outcome, Outcome):
        raise InputError("recorders.causes.not_an_outcome", seen=repr(outcome))
    if not outcome.has_gradient:
        raise InputError("recorders.causes.zero_gradient", outcome=outcome.as_message())
    request = make_request(loaded, inputs, target, second_text=second_text, target_language=target_language)
    recorder = find_recorder(loaded)
    source, written = recorder.read_sides(request)
    if source is None or (written is None and loaded.shape == "encoder-decoder"):
        run = recorder.run(request)
        source, written = run.source, run.target
        if written is not None:
            request = replace(request, target=loaded.reader.read(written.ids[1:], target=True))
    tokens = source if written is None else written
    return OutcomePass(loaded, recorder, request, outcome.prepare(loaded, tokens), source, tokens)


def differentiate(value: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """How fast a number grows with each element of each tensor; 0 where it does not depend on it."""
    if not value.requires_grad:
        raise InputError("recorders.estimates.not_smooth")
    found = torch.autograd.grad(value, tensors, allow_unused=True)
    return [
        torch.zeros_like(each) if gradient is None else gradient
        for each, gradient in zip(tensors, found, strict=True)
    ]
