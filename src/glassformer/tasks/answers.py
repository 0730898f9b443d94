"""Texts in, texts out: a loaded model answers many texts at once, in their order, or one piece by piece.

In:   whatever `load` opens; texts.
Out:  translations, continuations, token ids. Texts of similar length run together; answers come in order.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any, Literal

import torch

from glassformer.errors import InputError
from glassformer.loaded.model import Capability, LoadedModel
from glassformer.loaded.opening import load
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.hypotheses import Hypothesis
from glassformer.text.sequences import find_frame, in_chunks, require_many

AHEAD = 1024  # texts that are read before the first is answered, so that similar lengths can run together


def open_model(
    model: Any,
    tokenizer: Any = None,
    *,
    device: str | torch.device | None = None,
    capability: Capability | None = None,
) -> LoadedModel:
    """Whatever `load` opens, as a model that reads text and has a capability."""
    loaded = load(model, tokenizer, device=device)
    loaded.require(*(() if capability is None else (capability,)), "reads_text")
    return loaded


def check_texts(texts: Iterable[str]) -> Iterator[str]:
    """The texts one by one; a single text is refused at once, what is not a text when its turn comes."""
    if not isinstance(texts, Iterable):
        raise InputError("tasks.not_texts", kind=type(texts).__name__)
    return map(_check_text, count(1), require_many(texts))


def _check_text(number: int, text: object) -> str:
    if not isinstance(text, str):
        raise InputError("tasks.not_a_text", number=number, kind=type(text).__name__)
    return text


def answer(
    model: LoadedModel,
    texts: Iterable[str],
    settings: GenerationSettings | None = None,
    target_language: str | None = None,
) -> Iterator[tuple[list[int], tuple[Hypothesis, ...]]]:
    """For each text, in order: its prompt, and the answers, best first. A blank text has none."""
    number = 0
    for chunk in in_chunks(check_texts(texts), AHEAD):
        prompts = [model.read_prompt(text, target_language) if text.strip() else [] for text in chunk]
        for prompt in prompts:
            number += 1
            check_length(model, prompt, number)
        answers = iter(model.generate([prompt for prompt in prompts if prompt], settings))
        for prompt in prompts:
            yield prompt, next(answers) if prompt else ()


def answer_texts(
    model: LoadedModel,
    texts: Iterable[str],
    settings: GenerationSettings | None = None,
    target_language: str | None = None,
) -> Iterator[str]:
    """The best answer to each text; blank ones stay blank."""
    for prompt, hypotheses in answer(model, texts, settings, target_language):
        yield write_answer(model, prompt, hypotheses[0]) if hypotheses else ""


def encode_chunks(
    model: LoadedModel, texts: Iterable[str], long: Literal["refuse", "start"] = "refuse"
) -> Iterator[list[Sequence[int]]]:
    """Texts as token ids, many at a time; too long ones are refused, or only their start is kept."""
    number = 0
    tokenizer, limit = model.require_tokenizer(), model.limit
    for chunk in in_chunks(check_texts(texts), AHEAD):
        rows: list[Sequence[int]] = []
        for text in chunk:
            number += 1
            encoding = tokenizer.encode(text)
            if all(encoding.special):
                raise InputError("tasks.empty_text", number=number)
            ids: Sequence[int] = encoding.ids
            if long == "start" and limit is not None and len(ids) > limit:
                after = find_frame(tokenizer)[1]
                ids = (*ids[: limit - len(after)], *after)
            check_length(model, ids, number)
            rows.append(ids)
        yield rows


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
    text = model.require_tokenizer().decode(ids).rstrip("\ufffd")  # half a character waits for the rest
    return text if model.shape == "decoder" else text.lstrip()
