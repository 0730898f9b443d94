"""Estimates: what silencing each head and cutting each edge would do to an outcome, by one backward pass.

In:   a model that `load` opens, a text, an outcome.
Out:  `Estimate`: for every head, edge and layer the effect of taking it away, to first order: as if all that
      comes after it were linear. Signs and units are those of `sweep().effects`, which runs the network for
      each edit; an estimate says where to look, a sweep what is so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.errors import InputError
from glassformer.loaded.reading import Inputs
from glassformer.messages import message
from glassformer.place import Kind, Place
from glassformer.recorders.causes.gradients import (
    OutcomePass,
    TrackedAttention,
    TrackedStates,
    differentiate,
    open_pass,
)
from glassformer.recorders.causes.outcomes import Outcome
from glassformer.recorders.edits.ablate_head import AblateHead
from glassformer.recording import Tokens
from glassformer.rounding import row_tolerance

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What would change in an outcome without each part of a network, to first order; never exact.

    heads      (head,) by place: the head silenced
    positions  (head, query) by place: the head silenced at one token; they sum to `heads`
    edges      (head, query, key) by place: one key hidden from one query, the rest of the row renormalised as
               `CutEdge` does; NaN where the query sees no other key
    layers     (layer,) by stack and part: "self" and "cross" all heads of a layer silenced, "feed_forward"
               what its feed-forward network adds set to 0

    >>> estimate = gf.estimate("zoo/gpt2", "The cat sat on the", outcome=gf.LogProbability(" floor"))
    >>> estimate.table().shape  # (layer, head)
    (6, 8)
    >>> estimate.edges[gf.Place("decoder", "self", 4)].shape
    (8, 5, 5)
    """

    exact: ClassVar[bool] = False

    model: str
    outcome: Outcome
    source: Tokens
    tokens: Tokens  # whose positions have logits: the target, where there is one
    baseline: float
    heads: Mapping[Place, Array]
    positions: Mapping[Place, Array]
    edges: Mapping[Place, Array]
    layers: Mapping[tuple[str, str], Array]

    def table(self, stack: str | None = None, kind: Kind = "self") -> Array:
        """Heads as (layer, head): of a stack, by default the first that has this kind of attention."""
        found = [place for place in self.heads if place.kind == kind and stack in (None, place.stack)]
        if not found:
            raise InputError("recorders.causes.no_heads")
        return np.stack([self.heads[place] for place in found if place.stack == found[0].stack])

    def largest(self, count: int = 10) -> list[tuple[AblateHead, float]]:
        """The heads whose silence would change the outcome most, as edits for `sweep` to confirm."""
        found = [
            (AblateHead.at(place, head), float(effect))
            for place, effects in self.heads.items()
            for head, effect in enumerate(effects)
        ]
        return sorted(found, key=lambda each: -abs(each[1]))[:count]

    def __str__(self) -> str:
        lines = [
            message("recorders.estimates.head_line", outcome=self.outcome, value=self.baseline),
            *(
                message("recorders.causes.with_edits", effect=effect, edits=(edit,))
                for edit, effect in self.largest()
            ),
        ]
        return "\n".join(map(str, lines))


def estimate(
    model: Any,
    inputs: Inputs,
    target: Inputs | None = None,
    *,
    outcome: Outcome,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    target_language: str | None = None,
    second_text: str | None = None,
) -> Estimate:
    """Estimate what every head, edge and layer does to an outcome, by one pass forward and one back.

    Arguments: see `sweep`, which measures the same by a pass for each edit.

    >>> estimate = gf.estimate("zoo/gpt2", "The cat sat on the", outcome=gf.LogProbability(" floor"))
    >>> edit, effect = estimate.largest(1)[0]
    >>> print(edit)
    head 2 of decoder layer 5, self: silenced
    """
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
    return estimate_pass(prepared, outcome)


def estimate_pass(prepared: OutcomePass, outcome: Outcome) -> Estimate:
    """The same of a text that has been read."""
    attention, states = TrackedAttention(), TrackedStates()
    value = prepared.run(attention, states) if prepared.has_layers else prepared.run(attention)
    calls = [(place, each) for place, found in attention.weights.items() for each in found]
    added = [(layer, each) for layer, each in states.found.items() if layer[1] == "feed_forward"]
    gradients = differentiate(value, [each for _, each in (*calls, *added)])
    positions: dict[Place, list[Tensor]] = {}
    edges: dict[Place, list[Tensor]] = {}
    for (place, weights), gradient in zip(calls, gradients, strict=False):
        rows, slopes = weights.detach()[0].double(), gradient[0].double()
        positions.setdefault(place, []).append(-(rows * slopes).sum(-1))
        edges.setdefault(place, []).append(estimate_cuts(rows, slopes, _dtype(weights)))
    whole = {place: _join(parts, 1, _dtype(value)) for place, parts in positions.items()}
    heads = {place: each.sum(1) for place, each in whole.items()}
    layers: dict[tuple[str, str], list[float]] = {}
    for place, each in heads.items():
        layers.setdefault((place.stack, place.kind), []).append(float(each.sum()))
    for ((stack, part, _), given), gradient in zip(added, gradients[len(calls) :], strict=True):
        effect = -(given.detach() * gradient).sum(dtype=torch.float64)
        layers.setdefault((stack, part), []).append(float(effect))
    return Estimate(
        prepared.model.name,
        outcome,
        prepared.source,
        prepared.tokens,
        float(value.detach()),
        heads,
        whole,
        {place: _join(parts, 1, _dtype(value)) for place, parts in edges.items()},
        {part: np.array(each) for part, each in layers.items()},
    )


def estimate_cuts(weights: Tensor, slopes: Tensor, dtype: str) -> Tensor:
    """The effect of cutting each edge (…, query, key), by weights and how fast the outcome grows with each.

    Without key k, each other weight grows by the factor 1 / rest, where rest is what they sum to (with the
    weight of a sink, where a row does not sum to one). Sums over the other keys are formed without it, not
    by subtraction: rest may be far below the rounding of 1.
    """
    parts = weights * slopes
    missing = 1 - weights.sum(-1, keepdim=True)
    rest = _sum_others(weights) + missing.where(missing > row_tolerance(dtype), 0.0)
    effects = _sum_others(parts) / rest - parts.sum(-1, keepdim=True)
    effects = effects.where(rest > 0, torch.nan)
    return effects.where(weights > 0, 0.0)  # nothing to cut


def _sum_others(values: Tensor) -> Tensor:
    """For each key the sum over all others."""
    before = values.cumsum(-1).roll(1, -1)
    after = values.flip(-1).cumsum(-1).roll(1, -1)
    before[..., 0] = after[..., 0] = 0
    return before + after.flip(-1)


def _join(parts: list[Tensor], axis: int, dtype: str) -> Array:
    """The calls of a place as one array: a recurrent decoder has one for each token."""
    kept = np.float64 if dtype == "float64" else np.float32
    return torch.cat(parts, dim=axis).cpu().numpy().astype(kept)


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
