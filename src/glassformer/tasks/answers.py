"""Texts in, texts out: a loaded model answers many texts at once, in their order, or one piece by piece.

In:   whatever `load` opens; texts.
Out:  translations, continuations, token ids. Texts of similar length run together; answers come in order.
      What happens to texts that are too long: see long.py.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, repeat
from typing import Any, NamedTuple, TypeVar

import torch

from glassformer.errors import InputError
from glassformer.loaded.model import Capability, LoadedModel
from glassformer.loaded.opening import Precision, load
from glassformer.loaded.perceiving import Percept
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.hypotheses import Hypothesis
from glassformer.tasks.long import LongTexts, divide, join_texts
from glassformer.text.sequences import find_frame, require_many

# Texts that are read before the first of them is answered, so that similar lengths can run together.
FIRST_CHUNKS = (16, 32, 64, 128, 256)  # only the first of these where answers are not wanted one by one
CHUNK = 512

Read = TypeVar("Read")
Question = TypeVar("Question")  # a text, or a list of words


def open_model(
    model: Any,
    tokenizer: Any = None,
    *,
    device: str | torch.device | None = None,
    capability: Capability | None = None,
    weights: Precision = "float32",
) -> LoadedModel:
    """Whatever `load` opens, as a model that has a capability, and a tokenizer where it reads text."""
    loaded = load(model, tokenizer, device=device, weights=weights)
    loaded.require(*(() if capability is None else (capability,)))
    if loaded.reads == "text":
        loaded.require("reads_text")
    return loaded


def check_texts(texts: Iterable[Question]) -> Iterable[Question]:
    """The texts; a single text is refused at once, what is not a text when its turn comes."""
    if not isinstance(texts, Iterable):
        raise InputError("tasks.not_texts", kind=type(texts).__name__)
    return require_many(texts)


def _check_text(number: int, text: object) -> str:
    if not isinstance(text, str):
        raise InputError("tasks.not_a_text", number=number, kind=type(text).__name__)
    return text


class Answer(NamedTuple):
    """One answer to a text."""

    text: str
    score: float  # the sum of the log-probabilities / length ** penalty


def answer(
    model: LoadedModel,
    texts: Iterable[Any],
    settings: GenerationSettings | None = None,
    target_language: str | None = None,
    long: LongTexts | None = None,
    *,
    soon: bool = True,
) -> Iterator[list[Answer]]:
    """For each text, in order, its answers, best first. A blank or skipped text has none.

    Where the model looks or listens, pictures or sounds stand for texts. `soon`: small batches come
    first, for early answers; without it all are done sooner.
    """
    if model.reads != "text":
        yield from _put_into_words(model, texts, settings, target_language)
        return
    long, used = long or LongTexts(), settings or model.generation
    decoder = model.shape == "decoder"
    limit = model.limit
    if limit is not None and decoder and long.how != "refuse":
        limit -= 1  # room for a new token

    def encode(text: str) -> list[int]:
        return model.read_prompt(text, target_language)

    def truncate(ids: Sequence[int]) -> Sequence[int]:
        assert model.limit is not None
        if not decoder:
            return truncate_end(model, ids)
        kept = max(model.limit // 2, model.limit - used.max_new_tokens)  # what is continued is the end
        return ids[-min(kept, model.limit - 1) :]

    def read(number: int, text: str) -> tuple[str, list[Sequence[int]]]:
        return text, divide(text, number, encode, truncate, limit, long) if text.strip() else []

    for chunk in _read_chunks(texts, read, long, soon=soon):
        answers = iter(model.generate([row for _, rows in chunk for row in rows], settings))
        for text, rows in chunk:
            found = [next(answers) for _ in rows]
            if decoder and rows:
                whole = encode(text)  # of a truncated prompt, too
                yield [Answer(write_answer(model, whole, each), each.score) for each in found[0]]
            else:
                yield [_join(model, each, used.length_penalty) for each in zip(*found, strict=False)]


def perceive_chunks(model: LoadedModel, inputs: Iterable[Any]) -> Iterator[list[Percept]]:
    """Pictures or sounds as the network is given them, many at a time."""
    return in_growing_chunks(map(model.perceive, inputs))


def _put_into_words(
    model: LoadedModel, inputs: Iterable[Any], settings: GenerationSettings | None, language: str | None
) -> Iterator[list[Answer]]:
    """Captions of pictures, transcripts of sounds."""
    for chunk in perceive_chunks(model, inputs):
        for found in model.write_words(chunk, settings, language):
            yield [Answer(write_answer(model, (), each), each.score) for each in found]


def _join(model: LoadedModel, pieces: Sequence[Hypothesis], penalty: float) -> Answer:
    """The answers to the pieces of one text as one, scored as one."""
    text = join_texts(write_answer(model, (), each) for each in pieces)
    if len(pieces) == 1:
        return Answer(text, pieces[0].score)
    length = sum(len(each.ids) for each in pieces)
    return Answer(text, sum(each.total for each in pieces) / max(length, 1) ** penalty)


def answer_texts(
    model: LoadedModel,
    texts: Iterable[Any],
    settings: GenerationSettings | None = None,
    target_language: str | None = None,
    long: LongTexts | None = None,
    *,
    soon: bool = True,
) -> Iterator[str]:
    """The best answer to each text; blank and skipped ones are blank."""
    for answers in answer(model, texts, settings, target_language, long, soon=soon):
        yield answers[0].text if answers else ""


def encode_chunks(
    model: LoadedModel, texts: Iterable[str], long: LongTexts
) -> Iterator[list[list[Sequence[int]]]]:
    """For each text its rows of token ids, many texts at a time; a blank or skipped text has none."""
    tokenizer = model.require_tokenizer()

    def encode(text: str) -> Sequence[int]:
        return tokenizer.encode(text).ids

    def read(number: int, text: str) -> list[Sequence[int]]:
        if not text.strip() or all(tokenizer.encode(text).special):
            return []
        return divide(text, number, encode, lambda ids: truncate_end(model, ids), model.limit, long)

    return _read_chunks(texts, read, long)


def truncate_end(model: LoadedModel, ids: Sequence[int]) -> Sequence[int]:
    """The start of a text, as much as the model reads, with the special tokens after it."""
    after = find_frame(model.require_tokenizer())[1]
    assert model.limit is not None
    return (*ids[: model.limit - len(after)], *after)


def _read_chunks(
    texts: Iterable[str], read: Callable[[int, str], Read], long: LongTexts, *, soon: bool = True
) -> Iterator[list[Read]]:
    """Texts after `read`, many at a time; `soon`: few at first.

    Where long texts are refused, all texts of a list are read before the first chunk is run.
    """
    found: Iterator[Read] = (read(number, _check_text(number, text)) for number, text in enumerate(texts, 1))
    if long.how == "refuse" and isinstance(texts, Sequence):
        found = iter(list(found))
    return in_growing_chunks(found, FIRST_CHUNKS if soon else FIRST_CHUNKS[:1])


def in_growing_chunks(found: Iterator[Read], first: Sequence[int] = FIRST_CHUNKS) -> Iterator[list[Read]]:
    """The first answers come soon, and are kept if all is stopped; then batches are full."""
    for size in chain(first, repeat(CHUNK)):
        chunk = list(islice(found, size))
        if not chunk:
            return
        yield chunk


def stream_answer(
    model: LoadedModel,
    text: str,
    settings: GenerationSettings | None = None,
    target_language: str | None = None,
) -> Iterator[str]:
    """The answer to one text, piece by piece as it grows; a beam search only knows it at the end."""
    prompt = model.read_prompt(text, target_language)
    check_length(model, prompt, 1)
    if (settings or model.generation).beams > 1:
        yield write_answer(model, prompt, model.generate([prompt], settings)[0][0])
        return
    known, shown = list(prompt) if model.shape == "decoder" else [], ""
    yield (shown := _show(model, known))
    for tokens in model.stream(prompt, settings):
        known += tokens
        whole = _show(model, known)
        yield whole[len(shown) :]
        shown = whole
    yield _decode(model, known)[len(shown) :]  # a character that was not completed


def write_answer(model: LoadedModel, prompt: Sequence[int], hypothesis: Hypothesis) -> str:
    """A hypothesis as text; after its prompt where a decoder continues it."""
    if model.shape == "decoder":
        return model.require_tokenizer().decode([*prompt, *hypothesis.words])
    return model.require_tokenizer().decode(hypothesis.words).strip()


def check_length(model: LoadedModel, ids: Sequence[int], number: int) -> None:
    """Refuse a text that the network has no positions for, by its number."""
    if model.limit is not None and len(ids) > model.limit:
        raise InputError("tasks.text_too_long", number=number, count=len(ids), limit=model.limit)


def _show(model: LoadedModel, ids: Sequence[int]) -> str:
    return _decode(model, ids).rstrip("\ufffd")  # half a character waits for the rest


def _decode(model: LoadedModel, ids: Sequence[int]) -> str:
    text = model.require_tokenizer().decode(ids)
    return text if model.shape == "decoder" else text.lstrip()
