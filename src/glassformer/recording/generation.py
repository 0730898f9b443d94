"""What the model said: the most likely outputs, and how a text was generated, beams included.

In:   top-k lists and steps from a recorder.
Out:  Output, Step, Alternative and Generation, checked and read-only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.recording.arrays import (
    FLOATS,
    LONGS,
    Floats,
    Rebuilt,
    freeze,
    keep,
    refuse,
    require_count,
    require_text,
)

_DO = "Take the k largest log-probabilities of each position."
_SLACK = 1e-3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Output(Rebuilt):
    """The k most likely outputs at each position; `vocabulary` holds the text of every id that occurs."""

    stack: str
    ids: NDArray[np.int64]  # (position, k) best first
    log_probabilities: Floats  # (position, k)
    vocabulary: Mapping[int, str]
    kind: Literal["tokens", "classes"] = "tokens"  # tokens: one row per token; classes: one row for the text

    def __post_init__(self) -> None:
        require_text("The stack of an output", self.stack, "Call it encoder or decoder.")
        if self.kind not in ("tokens", "classes"):
            refuse(
                f"The kind of the output is {self.kind!r}.",
                "Wanted 'tokens' or 'classes'.",
                "Name one of the two.",
            )
        keep(self, ids=freeze("Output.ids", self.ids, LONGS, [("position", None), ("k", None)], _DO))
        axes = [("position", self.ids.shape[0]), ("k", self.ids.shape[1])]
        logs = freeze("Output.log_probabilities", self.log_probabilities, FLOATS, axes, _DO)
        keep(
            self,
            log_probabilities=logs,
            vocabulary=MappingProxyType({int(key): text for key, text in self.vocabulary.items()}),
        )
        if not (logs <= _SLACK).all():
            refuse(
                f"A log-probability is {logs.max()}.",
                "Wanted numbers up to 0.",
                "Apply log-softmax to the logits.",
            )
        missing = set(np.unique(self.ids).tolist()) - set(self.vocabulary)
        if missing:
            refuse(f"Id {min(missing)} has no text.", "Wanted a text for every id.", "Decode each id once.")

    @property
    def probabilities(self) -> Floats:
        """(position, k)"""
        return np.exp(self.log_probabilities)

    def texts(self, position: int) -> tuple[str, ...]:
        """The k most likely texts at a position, best first."""
        return tuple(self.vocabulary[each] for each in self.ids[position].tolist())

    def __repr__(self) -> str:
        return f"Output({self.stack}, {self.kind}, {self.ids.shape[0]} positions, top {self.ids.shape[1]})"


@dataclass(frozen=True, slots=True)
class Alternative(Rebuilt):
    """A token that could have come, and its log-probability."""

    token: int
    text: str
    log_probability: float

    def __post_init__(self) -> None:
        _check_choice("an alternative", self.token, self.text, self.log_probability)


@dataclass(frozen=True, slots=True)
class Step(Rebuilt):
    """One token as it was chosen; in a beam tree, a node whose `parent` is the node it continues."""

    index: int
    token: int
    text: str
    log_probability: float
    alternatives: tuple[Alternative, ...] = ()
    beam: int = 0
    parent: int | None = None  # a place in Generation.nodes
    score: float | None = None  # of the whole hypothesis so far, as the search ranks it

    def __post_init__(self) -> None:
        require_count("The index of a step", self.index, "Number steps from 0.")
        require_count("The beam of a step", self.beam, "Number beams from 0.")
        _check_choice(f"step {self.index}", self.token, self.text, self.log_probability)
        keep(self, alternatives=tuple(self.alternatives))
        if self.parent is not None:
            require_count("The parent of a step", self.parent, "It is a place in the list of nodes.")
        if self.score is not None and (not isinstance(self.score, float) or isnan(self.score)):
            refuse(
                f"The score of step {self.index} is {self.score!r}.",
                "Wanted a float.",
                "Leave it out if unknown.",
            )


@dataclass(frozen=True, slots=True)
class Generation(Rebuilt):
    """The steps of the text that was kept, and, for a beam search, every hypothesis on the way."""

    steps: tuple[Step, ...]
    nodes: tuple[Step, ...] = field(default=())
    method: str = "greedy"  # how tokens were chosen: greedy, sampling, beam …

    def __post_init__(self) -> None:
        keep(self, steps=tuple(self.steps), nodes=tuple(self.nodes))
        require_text("The method of a generation", self.method, "Call it greedy, sampling or beam.")
        for place, step in enumerate(self.steps):
            if step.index != place:
                refuse(
                    f"Step {place} says it is step {step.index}.", "Wanted 0, 1, 2 …", "Keep them in order."
                )
        for place, node in enumerate(self.nodes):
            first = node.parent is None
            if first != (node.index == 0):
                refuse(
                    f"Node {place} at step {node.index} has parent {node.parent}.",
                    "Wanted a parent except at step 0.",
                    "Keep the tree whole.",
                )
            if node.parent is not None and not (
                node.parent < place and self.nodes[node.parent].index == node.index - 1
            ):
                refuse(
                    f"Node {place} at step {node.index} continues node {node.parent}.",
                    "Wanted an earlier node of the step before.",
                    "List nodes step by step.",
                )

    @property
    def text(self) -> str:
        return "".join(step.text for step in self.steps)

    def __repr__(self) -> str:
        return f"Generation({self.method}, {len(self.steps)} steps, {len(self.nodes)} nodes)"


def _check_choice(what: str, token: Any, text: Any, log_probability: Any) -> None:
    require_count(f"The token of {what}", token, "Give the token's id.")
    if not isinstance(text, str):
        refuse(f"The text of {what} is {text!r}.", "Wanted a string.", "Decode the token.")
    if not isinstance(log_probability, float) or not log_probability <= _SLACK:
        refuse(
            f"The log-probability of {what} is {log_probability!r}.",
            "Wanted a float up to 0.",
            "Apply log-softmax to the logits.",
        )
