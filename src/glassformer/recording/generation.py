"""What the model said: the most likely outputs, and how a text was generated, beams included.

In:   top-k lists and steps from a recorder.
Out:  Output, Step, Alternative and Generation, checked and read-only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import fsum, isnan
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import RecordingError
from glassformer.recording.arrays import (
    FLOATS,
    LONGS,
    Floats,
    Rebuilt,
    distinct,
    freeze_field,
    keep,
    require_choice,
    require_count,
    require_text,
    require_type,
    wrong_value,
)

OutputKind = Literal["tokens", "classes", "tags", "numbers"]

_SLACK = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class TargetScores(Rebuilt):
    """Given tokens (or classes) as possible outputs at each position: how much the model expects each."""

    ids: NDArray[np.int64]  # (target,)
    logits: Floats  # (position, target)
    log_probabilities: Floats  # (position, target)
    ranks: NDArray[np.int64]  # (position, target): how many outputs are likelier; 0 is the likeliest

    def __post_init__(self) -> None:
        freeze_field(self, "ids", LONGS, [("target", None)])
        count = len(self.ids)
        freeze_field(self, "logits", FLOATS, [("position", None), ("target", count)])
        axes = [("position", len(self.logits)), ("target", count)]
        freeze_field(self, "log_probabilities", FLOATS, axes)
        freeze_field(self, "ranks", LONGS, axes)
        if not (self.log_probabilities <= _SLACK).all():
            worst = self.log_probabilities.max()
            raise wrong_value("TargetScores.log_probabilities", worst, "log_probability")
        if (self.ranks < 0).any():
            raise wrong_value("TargetScores.ranks", int(self.ranks.min()), "count")

    @property
    def losses(self) -> Floats:
        """(position, target): cross-entropy, if the target were the right output there."""
        return -self.log_probabilities

    def difference(self, target: int = 0, against: int = 1) -> Floats:
        """(position,): logit of one target minus that of another, by their places in `ids`."""
        return self.logits[:, target] - self.logits[:, against]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Output(Rebuilt):
    """The k most likely outputs at each position; `vocabulary` holds the text of every id that occurs.

    `targets` and `logits` are there where they were asked for.
    "tokens" and "tags" have a row for each token, "classes" one for the text. "numbers" has one for the text,
    too: the names of `numbers` in their order, whose log-probabilities say nothing and are 0.
    """

    stack: str
    ids: NDArray[np.int64]  # (position, k) best first
    log_probabilities: Floats  # (position, k)
    vocabulary: Mapping[int, str]
    kind: OutputKind = "tokens"
    logits: Floats | None = None  # (position, vocabulary)
    targets: TargetScores | None = None
    numbers: tuple[float, ...] = ()  # what the model says of the text, where `kind` is "numbers"

    def __post_init__(self) -> None:
        require_text("Output.stack", self.stack)
        require_choice("Output.kind", self.kind, get_args(OutputKind))
        freeze_field(self, "ids", LONGS, [("position", None), ("k", None)])
        positions, count = self.ids.shape
        freeze_field(self, "log_probabilities", FLOATS, [("position", positions), ("k", count)])
        vocabulary = {int(key): text for key, text in self.vocabulary.items()}
        keep(self, vocabulary=MappingProxyType(vocabulary))
        if set(map(type, vocabulary.values())) - {str}:  # a subclass of str will do
            for text in vocabulary.values():
                require_type("Output.vocabulary", text, str)
        if not (self.log_probabilities <= _SLACK).all():
            raise wrong_value("Output.log_probabilities", self.log_probabilities.max(), "log_probability")
        self._check_numbers()
        freeze_field(self, "logits", FLOATS, [("position", positions), ("vocabulary", None)])
        if self.targets is not None:
            require_type("Output.targets", self.targets, TargetScores)
            if len(self.targets.logits) != positions:
                axes = f"(position {positions}, target)"
                shape = str(self.targets.logits.shape)
                raise RecordingError("recording.wrong_shape", name="Output.targets", shape=shape, axes=axes)
        shown = self.ids if self.targets is None else np.append(self.ids, self.targets.ids)
        missing = [each for each in distinct(shown).tolist() if each not in vocabulary]
        if missing:
            raise RecordingError("recording.id_without_text", id=min(missing))

    def _check_numbers(self) -> None:
        keep(self, numbers=tuple(self.numbers))
        for number in self.numbers:
            require_type("Output.numbers", number, float)
        shape = (1, len(self.numbers))
        if self.kind == "numbers" and (not self.numbers or self.ids.shape != shape):
            raise RecordingError(
                "recording.wrong_numbers", count=len(self.numbers), shape=str(self.ids.shape)
            )
        if self.kind != "numbers" and self.numbers:
            raise RecordingError("recording.unexpected_numbers", kind=self.kind)

    @property
    def per_token(self) -> bool:
        """Whether there is a row for each token, not one for the text."""
        return self.kind in ("tokens", "tags")

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
        _check_choice("Alternative", self.token, self.text, self.log_probability)


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
        require_count("Step.index", self.index)
        require_count("Step.beam", self.beam)
        _check_choice("Step", self.token, self.text, self.log_probability)
        keep(self, alternatives=tuple(self.alternatives))
        for each in self.alternatives:
            require_type("Step.alternatives", each, Alternative)
        if self.parent is not None:
            require_count("Step.parent", self.parent)
        if self.score is not None and (not isinstance(self.score, float) or isnan(self.score)):
            raise wrong_value("Step.score", self.score, "float")


@dataclass(frozen=True, slots=True)
class Generation(Rebuilt):
    """The steps of the text that was kept, and, for a beam search, every hypothesis on the way.

    >>> decode = {"num_beams": 2, "max_new_tokens": 3}
    >>> generation = gf.record("zoo/gpt2", "Once upon a", decode=decode).generation
    >>> [step.text for step in generation.steps], len(generation.nodes)
    ([' time', ',', ' I'], 12)
    """

    steps: tuple[Step, ...]
    nodes: tuple[Step, ...] = field(default=())
    method: str = "greedy"  # how tokens were chosen: greedy, sampling, beam …
    forced: tuple[int, ...] = ()  # the steps whose tokens were given, not chosen
    # What is needed to go on from any step: GenerationSettings by name, with the first `step` that they hold
    # for, and the edits by name and fields. Empty where they are not known, as in files of version 0.1.
    settings: tuple[Mapping[str, Any], ...] = ()
    edits: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        keep(self, steps=tuple(self.steps), nodes=tuple(self.nodes), forced=tuple(self.forced))
        keep(self, settings=tuple(self.settings), edits=tuple(self.edits))
        for written in (*self.settings, *self.edits):
            require_type("Generation.settings", written, Mapping)
        for number in self.forced:
            require_count("Generation.forced", number)
            if number >= len(self.steps):
                raise RecordingError("recording.forced_step", step=number, count=len(self.steps))
        for each in (*self.steps, *self.nodes):
            require_type("Generation.steps", each, Step)
        require_text("Generation.method", self.method)
        for place, step in enumerate(self.steps):
            if step.index != place:
                raise RecordingError("recording.wrong_step", index=place, seen=step.index)
        for place, node in enumerate(self.nodes):
            first = node.parent is None
            if first != (node.index == 0):
                raise RecordingError("recording.wrong_root", node=place, step=node.index, parent=node.parent)
            if node.parent is not None and not (
                node.parent < place and self.nodes[node.parent].index == node.index - 1
            ):
                raise RecordingError(
                    "recording.wrong_parent", node=place, step=node.index, parent=node.parent
                )

    @property
    def text(self) -> str:
        return "".join(step.text for step in self.steps)

    @property
    def score(self) -> float:
        """The logarithm of the probability of the whole text; forced tokens count like all others."""
        return fsum(step.log_probability for step in self.steps)

    def path(self, node: int) -> tuple[Step, ...]:
        """The nodes of a beam search from a first token to this one."""
        if not 0 <= node < len(self.nodes):
            raise RecordingError("recording.no_node", node=node, count=len(self.nodes))
        path = [self.nodes[node]]
        while path[-1].parent is not None:
            path.append(self.nodes[path[-1].parent])
        return tuple(path[::-1])

    def hypotheses(self) -> list[int]:
        """The nodes at which hypotheses of a beam search end: nothing continues them.

        First the end of the text that was kept, then the others, the longest first and those of one length by
        score. A hypothesis shorter than the search had ended by itself or was pruned; its score is a sum over
        fewer tokens, so that it cannot be compared with that of a longer one.
        """
        continued = {node.parent for node in self.nodes}
        ends = [place for place in range(len(self.nodes)) if place not in continued]
        kept = [step.token for step in self.steps]

        def rank(place: int) -> tuple[bool, int, float]:
            node = self.nodes[place]
            is_kept = node.index == len(kept) - 1 and [step.token for step in self.path(place)] == kept
            return not is_kept, -node.index, -(node.score or 0.0)

        return sorted(ends, key=rank)

    def __repr__(self) -> str:
        return f"Generation({self.method}, {len(self.steps)} steps, {len(self.nodes)} nodes)"


def _check_choice(what: str, token: Any, text: Any, log_probability: Any) -> None:
    require_count(f"{what}.token", token)
    if not isinstance(text, str):
        raise wrong_value(f"{what}.text", text, "string")
    if not isinstance(log_probability, float) or not log_probability <= _SLACK:
        raise wrong_value(f"{what}.log_probability", log_probability, "log_probability")
