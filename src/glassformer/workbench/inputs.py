"""What a model is given: the text of a request, random tokens, a sentence for its task, a picture or a sound.

In:   an opened model and a request.
Out:  `JobInputs`: all that `record` wants to know, with the number of tokens that came of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer import bundle
from glassformer.api.jobs import JobRequest
from glassformer.config import Reads
from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.native import find_transformer
from glassformer.loaded.perceiving import Percept
from glassformer.media import read_picture, read_sound
from glassformer.messages import Message, message
from glassformer.place import name_term
from glassformer.text.sequences import find_frame
from glassformer.workbench.cards import HEADS
from glassformer.workbench.requests import check_media, check_sides
from glassformer.workbench.sequences import crop_text, draw_tokens, find_sentences

SHOWN = 200  # characters of a text that was cut
WITHOUT = {  # a recording that has none
    "picture": "workbench.request.recording_without_picture",
    "sound": "workbench.request.recording_without_sound",
}
# Tokens of a picture or a sound in a model of transformers, whose number is known only when it has run.
TYPICAL = {"picture": 512, "sound": 4096, "text": 0}
MASK = "[MASK]"  # how a person writes it, whatever the vocabulary calls it


@dataclass(frozen=True, slots=True)
class JobInputs:
    """What `record` is given."""

    inputs: Any  # a text, token ids, a picture or a sound
    count: int  # tokens that are read, with all special ones
    second_text: str | None = None
    target: str | None = None
    language: str | None = None  # to translate into, where the model is told
    prefix: tuple[int, ...] = ()  # the first tokens of what the model writes
    notes: tuple[Message, ...] = ()  # for the evidence: which sample it is, what was cut


def read_inputs(model: LoadedModel, request: JobRequest, task: dict[str, Any]) -> JobInputs:
    """What the request asks to be read; a text that is too long is refused here."""
    _check_shape(model, request)
    language = request.target_language if task["tagged"] else None
    if request.sequence == "media":
        return _read_media(model, request, task, language)
    second_text, notes = request.second_text, []
    if request.sequence == "random":
        inputs: str | tuple[int, ...] = _draw(model, request.length or 1, request.seed or 0)
    else:
        text = request.text or ""
        if request.sequence == "task":
            samples = find_sentences(_task_of(model), _find_language(request, task))
            number = (request.seed or 0) % len(samples)
            text = samples[number]
            notes.append(message("workbench.sample", number=number + 1, count=len(samples), text=text))
        inputs = text = _spell_masks(model, text)
        if request.length is not None:
            inputs = _crop(model, text, request.length, notes)
            second_text = second_text and _crop(model, second_text, request.length, notes)
    _check_masks(model, request, inputs)
    count = len(model.reader.read_source(inputs, second_text, language))
    prefix = request.prefix or ()
    if model.shape == "decoder":
        count += len(prefix)
    _check_length(model, count, "text", task["tokens"])
    target = prefix if request.target is None else model.reader.read(request.target, target=True)
    if model.shape != "decoder":
        _check_length(model, len(target) + 1, "target", task["tokens"])
    return JobInputs(inputs, count, second_text, request.target, language, prefix, tuple(notes))


def find_reads(model: LoadedModel) -> Reads:
    """What a model is given."""
    return "picture" if model.can("reads_pictures") else "sound" if model.can("hears") else "text"


def _read_media(
    model: LoadedModel, request: JobRequest, task: dict[str, Any], language: str | None
) -> JobInputs:
    """A file as it was sent, decoded here and nowhere else; or what a recording kept of one."""
    reads = find_reads(model)
    inputs: Any
    if request.media_of is not None:
        kept = bundle.open(task["media"]).source
        inputs = kept.picture if reads == "picture" else kept.sound
        if inputs is None:
            raise InputError(WITHOUT[reads])
    else:
        content = Path(task["media"]).read_bytes()  # errors must not name the file as it is called here
        inputs = read_picture(content) if reads == "picture" else read_sound(content)
    count = TYPICAL[reads]
    if model.library == "native":
        inputs = model.read_source(inputs)
        count = len(inputs)
        _check_seconds(model, inputs)
        _check_most(count, task["tokens"])  # the number of patches is fixed, whatever `limit` says
    target = () if request.target is None else model.reader.read(request.target, target=True)
    _check_length(model, len(target) + 1, "target", task["tokens"])
    return JobInputs(inputs, count, None, request.target, language, request.prefix or ())


def _check_seconds(model: LoadedModel, percept: Percept) -> None:
    """Refuse a sound that the model has no positions for, in the unit that a person thinks in."""
    network = find_transformer(model)
    if percept.sound is None or network is None or model.limit is None:
        return
    config, seconds = network.config, percept.sound.seconds
    if len(percept) > config.longest_sound:
        limit = config.longest_sound * config.token_samples / config.sample_rate
        raise InputError("loaded.processor.long", name=model.name, seconds=seconds, limit=limit)


def _crop(model: LoadedModel, text: str, length: int, notes: list[Message]) -> str:
    """The beginning of a text, with a note on what was cut."""
    tokenizer = model.require_tokenizer()

    def find_spans(part: str) -> Sequence[tuple[int, int]]:
        spans = tokenizer.encode(part, special=False).offsets
        if spans is None:
            raise InputError("workbench.request.no_spans", model=model.name)
        return spans

    kept = crop_text(text, length, find_spans)
    if kept != text:
        rest = text[len(kept) :].strip()
        shown = rest if len(rest) <= SHOWN else f"{rest[:SHOWN]}…"
        tokens = len(find_spans(kept)), len(find_spans(text))
        notes.append(message("workbench.cut", kept=tokens[0], count=tokens[1], rest=shown))
    return kept


def _check_shape(model: LoadedModel, request: JobRequest) -> None:
    """What may not have been known of a model before it was opened."""
    check_media(request, find_reads(model), model.name)
    check_sides(request, model.shape, model.name)
    if request.kind == "generate" and model.shape == "encoder" and model.head == "none":
        raise InputError("workbench.request.no_head", model=model.name)


def _check_most(count: int, most: int) -> None:
    if count > most:
        raise InputError("workbench.request.too_many_tokens", count=count, most=most)


def _check_length(model: LoadedModel, count: int, side: str, most: int) -> None:
    _check_most(count, most)
    limit = model.limit
    if limit is not None and count > limit:
        raise InputError(
            "workbench.request.limit_of_model",
            side=name_term(side),
            count=count,
            model=model.name,
            most=limit,
        )


def _draw(model: LoadedModel, length: int, seed: int) -> tuple[int, ...]:
    """Random words between the special tokens that the model is used to."""
    tokenizer, vocabulary = model.tokenizer, model.vocabulary_size
    if vocabulary is None:
        raise InputError("workbench.request.reads_no_text", model=model.name)
    if tokenizer is None:
        return draw_tokens(vocabulary, length, seed, model.special_ids.__contains__, str)
    size = min(vocabulary, tokenizer.size)
    not_words = {tokenizer.roles[role] for role in ("unknown", "mask") if role in tokenizer.roles}

    def is_special(token: int) -> bool:
        return tokenizer.is_special(token) or token in not_words

    before, after = find_frame(tokenizer)
    words = draw_tokens(size, length, seed, is_special, lambda token: tokenizer.display([token])[0])
    return (*before, *words, *after)


def _task_of(model: LoadedModel) -> str:
    if model.shape == "encoder-decoder":
        return "translation"
    return HEADS.get(model.head, "language_modelling")


def _find_language(request: JobRequest, task: dict[str, Any]) -> str | None:
    """The language of the sentence: as asked, or one that the model does not translate into."""
    if request.source_language is not None:
        return request.source_language
    known: Sequence[str] = task["languages"]
    others = [language for language in known if language != request.target_language]
    return "en" if "en" in others or not others else others[0]


def _spell_masks(model: LoadedModel, text: str) -> str:
    """[MASK] as the model's own vocabulary spells it."""
    tokenizer = model.tokenizer
    if tokenizer is None or "mask" not in tokenizer.roles:
        return text
    return text.replace(MASK, tokenizer.display([tokenizer.roles["mask"]])[0])


def _check_masks(model: LoadedModel, request: JobRequest, inputs: str | tuple[int, ...]) -> None:
    if request.kind != "generate" or model.head != "masked":
        return
    tokenizer = model.tokenizer
    mask = None if tokenizer is None else tokenizer.roles.get("mask")
    ids = model.reader.read_source(inputs, request.second_text).ids
    if mask is None or mask not in ids:
        raise InputError("workbench.request.no_mask", mask=MASK)
