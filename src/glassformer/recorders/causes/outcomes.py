"""Outcomes: one number that says what a network makes of a text, read from its logits.

In:   what to measure: a token, two tokens, a class, or the text itself.
Out:  `Outcome`. `read(model, …)` finds the ids of its tokens once; the `Reading` that it returns gives one
      number for each row of logits.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, ClassVar

import torch
from torch import Tensor

from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.messages import Message, message
from glassformer.place import name_term
from glassformer.recorders.outputs import as_floats, count_likelier
from glassformer.recording import Tokens

Token = str | int  # a text that is one token of the vocabulary, or its id


@dataclass(frozen=True, slots=True)
class Reading:
    """How an outcome is read from logits."""

    # The positions whose logits are needed, in order; None: logits are of classes, or all states are needed.
    positions: tuple[int, ...] | None
    # From (row, position, vocabulary) or (row, class) to (row,); the first row of a sweep is without edits.
    read: Callable[[Tensor], Tensor]


class Outcome(ABC):
    """What is measured: a frozen dataclass; `str()` describes it."""

    __slots__ = ()

    has_gradient: ClassVar[bool] = True  # False: its gradient at the text itself is zero

    @abstractmethod
    def check(self, model: LoadedModel) -> None:
        """Refuse a model that cannot give it, whatever the text is."""

    @abstractmethod
    def prepare(self, model: LoadedModel, tokens: Tokens) -> Reading:
        """How to read it; `tokens` are those whose positions have logits (the target, where there is one)."""

    @abstractmethod
    def as_message(self) -> Message:
        """What it is, for a person."""

    def __str__(self) -> str:
        return str(self.as_message())


@dataclass(frozen=True, slots=True)
class LogProbability(Outcome):
    """Log-probability of a token: that a decoder writes it after `position`, or an encoder puts it there.

    A text has to be one token, so mind the space in front: " Paris" in GPT-2. Of an encoder-decoder, position
    0 is the start token, after which the first word is written. -1 is the last position.

    >>> gf.sweep("zoo/gpt2", "The cat sat on the", outcome=gf.LogProbability(" floor")).baseline < 0
    True
    """

    token: Token
    position: int = -1

    def check(self, model: LoadedModel) -> None:
        _check_words(model, self.token)

    def prepare(self, model: LoadedModel, tokens: Tokens) -> Reading:
        [token] = _check_words(model, self.token)
        return Reading(
            (find_position(tokens, self.position),), lambda logits: _log_softmax(logits)[:, 0, token]
        )

    def as_message(self) -> Message:
        return message("recorders.causes.log_probability", token=str(self.token), position=self.position)


@dataclass(frozen=True, slots=True)
class LogitDifference(Outcome):
    """Logit of one token minus that of another, at one position: how much the network prefers it.

    >>> print(gf.LogitDifference(" Mary", " John"))
    logit of ' Mary' minus that of ' John' at position -1
    """

    token: Token
    against: Token
    position: int = -1

    def check(self, model: LoadedModel) -> None:
        _check_words(model, self.token, self.against)

    def prepare(self, model: LoadedModel, tokens: Tokens) -> Reading:
        token, against = _check_words(model, self.token, self.against)
        return Reading(
            (find_position(tokens, self.position),),
            lambda logits: as_floats(logits)[:, 0, token] - as_floats(logits)[:, 0, against],
        )

    def as_message(self) -> Message:
        return message(
            "recorders.causes.logit_difference",
            token=str(self.token),
            against=str(self.against),
            position=self.position,
        )


@dataclass(frozen=True, slots=True)
class Loss(Outcome):
    """Mean cross-entropy of the text's own tokens, in nats: how badly each is predicted from those before.

    `positions` are those of the predicted tokens (from 1 on); None: all. Of an encoder-decoder the text is
    the target, the end token that should follow included.

    >>> gf.sweep("zoo/gpt2", "The cat sat on the floor.", outcome=gf.Loss()).baseline > 0
    True
    """

    positions: tuple[int, ...] | None = None

    def check(self, model: LoadedModel) -> None:
        if model.head != "language":
            raise InputError("recorders.causes.no_loss", name=model.name, shape=name_term(model.shape))

    def prepare(self, model: LoadedModel, tokens: Tokens) -> Reading:
        self.check(model)
        labels = dict(enumerate(tokens.ids.tolist()))
        if model.shape == "encoder-decoder" and tokens.ids[-1] not in model.end_ids and model.end_ids:
            labels[len(labels)] = min(model.end_ids)
        if len(labels) == 1:
            raise InputError("recorders.causes.nothing_predicted")
        last = len(labels) - 1
        wanted = range(1, len(labels)) if self.positions is None else self.positions
        if not isinstance(wanted, Sequence) or isinstance(wanted, str) or not wanted:
            raise InputError("recorders.causes.bad_positions", seen=repr(wanted)[:80], last=last)
        for position in wanted:
            if not 1 <= (as_number(position) or 0) <= last:
                raise InputError("recorders.causes.not_predicted", position=str(position), last=last)
        ids = torch.tensor([labels[position] for position in wanted])

        def read(logits: Tensor) -> Tensor:
            chosen = ids.to(logits.device)[None, :, None].expand(len(logits), -1, 1)
            return -_log_softmax(logits).gather(2, chosen)[:, :, 0].mean(1)

        return Reading(tuple(position - 1 for position in wanted), read)

    def as_message(self) -> Message:
        if self.positions is None:
            return message("recorders.causes.loss")
        return message("recorders.causes.loss_at", count=len(self.positions))


@dataclass(frozen=True, slots=True)
class TextScore(Outcome):
    """Log-probability of the whole text after its first token, or of the whole target.

    >>> texts = ("The cat sleeps.", "Le chat dort.")
    >>> sweep = gf.sweep("zoo/translator", *texts, outcome=gf.TextScore(), target_language="fr")
    >>> sweep.baseline < 0
    True
    """

    def check(self, model: LoadedModel) -> None:
        Loss().check(model)

    def prepare(self, model: LoadedModel, tokens: Tokens) -> Reading:
        mean = Loss().prepare(model, tokens)
        assert mean.positions is not None
        count = len(mean.positions)
        return Reading(mean.positions, lambda logits: -count * mean.read(logits))

    def as_message(self) -> Message:
        return message("recorders.causes.text_score")


@dataclass(frozen=True, slots=True)
class ClassProbability(Outcome):
    """Probability of a class, by its label or number, in a model that classifies texts.

    >>> gf.sweep("zoo/sentiment", "A moving film.", outcome=gf.ClassProbability("positive")).baseline > 0.5
    True
    """

    label: str | int

    def check(self, model: LoadedModel) -> None:
        model.require("classifies")
        find_class(model, self.label)

    def prepare(self, model: LoadedModel, tokens: Tokens) -> Reading:  # noqa: ARG002
        self.check(model)
        chosen = find_class(model, self.label)
        return Reading(None, lambda logits: _log_softmax(logits)[:, chosen].exp())

    def as_message(self) -> Message:
        return message("recorders.causes.class_probability", label=str(self.label))


@dataclass(frozen=True, slots=True)
class Rank(Outcome):
    """How many tokens are likelier than this one at a position: 0 is the likeliest.

    >>> gf.sweep("zoo/gpt2", "The cat sat on the", outcome=gf.Rank(" floor")).baseline < 20
    True
    """

    token: Token
    position: int = -1

    def check(self, model: LoadedModel) -> None:
        _check_words(model, self.token)

    def prepare(self, model: LoadedModel, tokens: Tokens) -> Reading:
        [token] = _check_words(model, self.token)
        return Reading(
            (find_position(tokens, self.position),), lambda logits: count_likelier(logits[:, 0], token)
        )

    def as_message(self) -> Message:
        return message("recorders.causes.rank", token=str(self.token), position=self.position)


@dataclass(frozen=True, slots=True)
class Similarity(Outcome):
    """Cosine of the vector of the text and the one without edits, in a model that only gives vectors.

    The vector is the mean of the last states over all tokens, as sentences are usually embedded. Without
    edits it is 1; an effect of -0.02 says that the cosine falls to 0.98.

    >>> network = gf.Transformer(gf.ModelConfig(vocabulary_size=5, shape="encoder", head="none", layers=1))
    >>> sweep = gf.sweep(network, [1, 2, 3], outcome=gf.Similarity())
    >>> round(sweep.baseline, 6), bool((sweep.effects < 0).all())
    (1.0, True)
    """

    has_gradient: ClassVar[bool] = False  # 1 is the largest value there is

    def check(self, model: LoadedModel) -> None:
        if model.head != "none":
            raise InputError("recorders.causes.no_vectors", name=model.name)

    def prepare(self, model: LoadedModel, tokens: Tokens) -> Reading:  # noqa: ARG002
        self.check(model)
        return Reading(None, _compare_with_first)

    def as_message(self) -> Message:
        return message("recorders.causes.similarity")


def _compare_with_first(states: Tensor) -> Tensor:
    """Cosines of the means over tokens (row, token, width) with that of the first row."""
    vectors = states.double()
    vectors = vectors.mean(1) if vectors.dim() > 2 else vectors  # several labels, which are one vector
    return torch.cosine_similarity(vectors, vectors[:1], dim=-1)


def read_together(readings: Sequence[Reading]) -> Reading:
    """Several outcomes of the same passes as one: from logits to (row, outcome)."""
    if any(each.positions is None for each in readings):  # of a classifier, all of them are
        return Reading(None, lambda logits: torch.stack([each.read(logits) for each in readings], dim=1))
    positions = sorted({position for each in readings for position in each.positions or ()})
    places = [[positions.index(position) for position in each.positions or ()] for each in readings]

    def read(logits: Tensor) -> Tensor:
        found = (each.read(logits[:, at]) for each, at in zip(readings, places, strict=True))
        return torch.stack([values.double() for values in found], dim=1)

    return Reading(tuple(positions), read)


def find_targets(model: LoadedModel, targets: object) -> tuple[int, ...]:
    """The ids of tokens, or the numbers of classes, that a recording scores at every position."""
    if isinstance(targets, str) or not isinstance(targets, Sequence):
        raise InputError("record.targets_not_a_list", seen=repr(targets)[:80])
    if not all(isinstance(target, str) or as_number(target) is not None for target in targets):
        raise InputError("record.targets_not_a_list", seen=repr(targets)[:80])
    if not targets:
        return ()
    if model.head == "classes":
        return tuple(find_class(model, target) for target in targets)
    _check_words(model)
    return tuple(find_token(model, target) for target in targets)


def find_class(model: LoadedModel, label: str | int) -> int:
    """The number of a class; InputError where the model has none such."""
    if isinstance(label, str):
        if label not in model.labels:
            raise InputError("recorders.causes.unknown_label", label=label, known=model.labels)
        return model.labels.index(label)
    number = as_number(label)
    if number is None or number < 0 or (model.labels and number >= len(model.labels)):
        raise InputError("recorders.causes.unknown_label", label=str(label), known=model.labels)
    return number


def _check_words(model: LoadedModel, *tokens: Token) -> list[int]:
    """The ids of tokens; refuses a model that gives no logits of words."""
    if model.head not in ("language", "masked"):
        raise InputError("recorders.causes.no_words", name=model.name, shape=name_term(model.shape))
    return [find_token(model, token) for token in tokens]


def find_token(model: LoadedModel, token: Token) -> int:
    """The id of a token; InputError where a text is not exactly one token."""
    if not isinstance(token, str):
        number = as_number(token)
        if number is None:
            raise InputError("recorders.causes.not_a_token", seen=repr(token)[:80])
        if not 0 <= number < (model.vocabulary_size or 0):
            raise InputError(
                "recorders.causes.unknown_token", token=number, last=(model.vocabulary_size or 0) - 1
            )
        return number
    target = model.shape == "encoder-decoder"
    ids = model.require_tokenizer().encode(token, None, special=False, target=target).ids
    if len(ids) != 1:
        raise InputError(
            "recorders.causes.several_tokens", token=token, count=len(ids), parts=model.reader.show(ids)
        )
    return int(ids[0])


def find_position(tokens: Tokens, position: int) -> int:
    """A position from the front; InputError where the text has none such."""
    number = as_number(position)
    if number is None or not -len(tokens) <= number < len(tokens):
        raise InputError("recorders.causes.no_position", position=str(position), last=len(tokens) - 1)
    return number % len(tokens)


def as_number(given: Any) -> int | None:
    """A whole number, also one of NumPy or torch; None for anything else."""
    try:
        return None if isinstance(given, bool) else index(given)
    except TypeError:
        return None


def _log_softmax(logits: Tensor) -> Tensor:
    return as_floats(logits).log_softmax(-1)
