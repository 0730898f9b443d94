"""What a model is given: the text of a request, random tokens, or a sentence for its task.

In:   an opened model and a request.
Out:  `Given`: all that `record` wants to know, with the number of tokens that came of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from glassformer.api.jobs import JobRequest
from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.recorders.native.recorder import OurSubject
from glassformer.recorders.transformers.recorder import HuggingFaceSubject
from glassformer.text.sequences import find_frame
from glassformer.text.tokenizer import Tokenizer
from glassformer.workbench.sequences import choose_sentence, draw_tokens

Subject = OurSubject | HuggingFaceSubject
MASK = "[MASK]"  # how a person writes it, whatever the vocabulary calls it


@dataclass(frozen=True, slots=True)
class Given:
    """What `record` is given."""

    inputs: str | tuple[int, ...]
    ids: tuple[int, ...]  # the same as tokens, with all special ones
    second_text: str | None = None
    target: str | None = None
    language: str | None = None  # to translate into, where the model is told

    @property
    def count(self) -> int:
        return len(self.ids)


def network_of(subject: Subject) -> nn.Module:
    """The module that runs."""
    return subject.network if isinstance(subject, OurSubject) else subject.model


def tokenizer_of(subject: Subject) -> Tokenizer | None:
    """What it reads with, if anything."""
    return subject.reader.tokenizer


def shape_of(subject: Subject) -> str:
    """As in `ModelConfig`; a model that can write and has one stack is a decoder."""
    if isinstance(subject, OurSubject):
        return subject.shape
    if subject.giver.translates:
        return "encoder-decoder"
    model: Any = subject.model
    return "decoder" if model.can_generate() else "encoder"


def head_of(subject: Subject) -> str:
    """As in `ModelConfig`: what stands on top."""
    if isinstance(subject, OurSubject):
        config = subject.network.config
        return config.head if isinstance(config, ModelConfig) else "language"
    name = type(subject.model).__name__
    if name.endswith("ForMaskedLM"):
        return "masked"
    if name.endswith("ForSequenceClassification"):
        return "classes"
    return "language" if subject.giver.translates or shape_of(subject) == "decoder" else "none"


def read_given(subject: Subject, request: JobRequest, task: dict[str, Any]) -> Given:
    """What the request asks to be read; a text that is too long is refused here."""
    _check_shape(subject, request)
    language = request.target_language if task["tagged"] else None
    if request.sequence == "random":
        inputs: str | tuple[int, ...] = _draw(subject, request.length or 1, request.seed or 0)
    else:
        text = request.text or ""
        if request.sequence == "task":
            text = choose_sentence(_task_of(subject), _find_language(request, task), request.seed or 0)
        inputs = _spell_masks(subject, text)
    _check_masks(subject, request, inputs)
    ids = subject.reader.read_source(inputs, request.second_text, language).ids
    given = Given(inputs, ids, request.second_text, request.target, language)
    _check_length(subject, given.count, "text", task["tokens"])
    if request.target is not None:
        _check_length(subject, len(subject.reader.read_target(request.target)) + 1, "target", task["tokens"])
    return given


def _check_shape(subject: Subject, request: JobRequest) -> None:
    """What is not known of a model before it is opened."""
    shape = shape_of(subject)
    if request.second_text is not None and shape != "encoder":
        raise InputError(f"{subject.name} reads one text; two sentences are for models of BERT's kind.")
    if request.decode is not None and shape == "encoder":
        raise InputError(f"{subject.name} is an encoder and writes nothing; leave the decoding out.")
    if request.kind == "generate" and shape == "encoder" and head_of(subject) == "none":
        raise InputError(f"{subject.name} has no head that predicts anything; record it instead.")


def _check_length(subject: Subject, count: int, what: str, most: int) -> None:
    if count > most:
        raise InputError(f"The {what} has {count:,} tokens; at most {most:,} run here. Shorten it.")
    limit = find_limit(subject)
    if limit is not None and count > limit:
        raise InputError(f"The {what} has {count:,} tokens, and {subject.name} reads {limit:,}; shorten it.")


def find_limit(subject: Subject) -> int | None:
    """The longest text in tokens, special ones counted; None: there is no end."""
    if isinstance(subject, HuggingFaceSubject):
        return subject.giver.find_limit()
    config = subject.network.config
    if isinstance(config, ModelConfig) and config.positions in ("rotary", "relative", "none"):
        return None
    return config.max_length


def _draw(subject: Subject, length: int, seed: int) -> tuple[int, ...]:
    """Random words between the special tokens that the model is used to."""
    tokenizer = tokenizer_of(subject)
    vocabulary = _vocabulary_of(subject)
    if tokenizer is None:
        config = getattr(network_of(subject), "config", None)
        special = {getattr(config, name, None) for name in ("padding_id", "start_id", "end_id")}
        return draw_tokens(vocabulary, length, seed, special.__contains__, str)
    size = min(vocabulary, tokenizer.size)
    not_words = {tokenizer.roles[role] for role in ("unknown", "mask") if role in tokenizer.roles}

    def is_special(token: int) -> bool:
        return tokenizer.is_special(token) or token in not_words

    before, after = find_frame(tokenizer)
    words = draw_tokens(size, length, seed, is_special, lambda token: tokenizer.display([token])[0])
    return (*before, *words, *after)


def _vocabulary_of(subject: Subject) -> int:
    if isinstance(subject, OurSubject):
        return subject.network.config.vocabulary_size
    size = getattr(subject.giver.config.get_text_config(), "vocab_size", None)
    if not isinstance(size, int) or size < 1:
        raise InputError(f"{subject.name} reads no words, so none can be drawn; give it what it reads.")
    return size


def _task_of(subject: Subject) -> str:
    if shape_of(subject) == "encoder-decoder":
        return "translation"
    names = {"masked": "masked_language_modelling", "classes": "classification", "none": "encoding"}
    return names.get(head_of(subject), "language_modelling")


def _find_language(request: JobRequest, task: dict[str, Any]) -> str | None:
    """The language of the sentence: as asked, or one that the model does not translate into."""
    if request.source_language is not None:
        return request.source_language
    known: Sequence[str] = task["languages"]
    others = [language for language in known if language != request.target_language]
    return "en" if "en" in others or not others else others[0]


def _spell_masks(subject: Subject, text: str) -> str:
    """[MASK] as the model's own vocabulary spells it."""
    tokenizer = tokenizer_of(subject)
    if tokenizer is None or "mask" not in tokenizer.roles:
        return text
    return text.replace(MASK, tokenizer.display([tokenizer.roles["mask"]])[0])


def _check_masks(subject: Subject, request: JobRequest, inputs: str | tuple[int, ...]) -> None:
    if request.kind != "generate" or head_of(subject) != "masked":
        return
    tokenizer = tokenizer_of(subject)
    mask = None if tokenizer is None else tokenizer.roles.get("mask")
    ids = subject.reader.read_source(inputs, request.second_text).ids
    if mask is None or mask not in ids:
        raise InputError(
            f"There is no {MASK} in the text; write it in place of a word that is to be guessed."
        )
