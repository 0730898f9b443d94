"""Texts in, texts out: an opened model answers many at once, in their order, or one piece by piece.

In:   a model's name, folder, or network with tokenizer; texts.
Out:  translations, continuations, hidden states. Texts of similar length run together; answers come in order.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.errors import InputError
from glassformer.model.generate import GREEDY, generate, stream
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.hypotheses import Hypothesis
from glassformer.model.prompt import pad_left
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.text.batches import BatchSettings, plan_batches
from glassformer.text.languages import find_language
from glassformer.text.opening import open_tokenizer, wrap_tokenizer
from glassformer.text.sequences import find_frame, in_chunks, pad_rows
from glassformer.text.tokenizer import Tokenizer
from glassformer.weights.checkpoint import open_checkpoint
from glassformer.weights.hub import find_folder

AHEAD = 1024  # texts that are read before the first is answered, so that similar lengths can run together
BUDGET = 8192  # tokens of a batch, times beams


@dataclass(frozen=True, slots=True)
class Model:
    """A network that works, with what it needs to read and to write."""

    network: Transformer | RecurrentTranslator
    tokenizer: Tokenizer
    generation: GenerationSettings = GREEDY  # how it generates where nothing else is said
    labels: tuple[str, ...] = ()  # of its classes

    @property
    def shape(self) -> str:
        """As in `ModelConfig`."""
        config = self.network.config
        return config.shape if isinstance(config, ModelConfig) else "encoder-decoder"

    @property
    def device(self) -> torch.device:
        """Where its parameters are."""
        return next(self.network.parameters()).device


def open_model(model: Any, tokenizer: Any = None, *, device: str | torch.device | None = None) -> Model:
    """A zoo name, hub name or folder; a network with its tokenizer; or a subject that has both."""
    if isinstance(model, str | Path):
        checkpoint = open_checkpoint(find_folder(model))
        if checkpoint.tokenizer is None:
            raise InputError(f"{model} has no tokenizer, so it cannot read text; add its tokenizer.json.")
        opened = Model(
            checkpoint.network, open_tokenizer(checkpoint.tokenizer), checkpoint.generation, checkpoint.labels
        )
    elif isinstance(model, Model):
        opened = model
    elif isinstance(model, nn.Module):
        opened = _join(model, tokenizer)
    else:
        opened = _join(getattr(model, "network", None), getattr(model, "tokenizer", None), model)
    if device is not None:
        opened.network.to(device)
    return opened


def _join(network: Any, tokenizer: Any, subject: Any = None) -> Model:
    if not isinstance(network, Transformer | RecurrentTranslator) or tokenizer is None:
        raise InputError(
            f"A {type(subject or network).__name__} cannot answer; "
            "give a name, a folder, or one of our networks with its tokenizer."
        )
    generation = getattr(subject, "generation", GREEDY)
    return Model(network, wrap_tokenizer(tokenizer), generation, tuple(getattr(subject, "labels", ())))


def read_prompt(model: Model, text: str, target_language: str | None = None) -> list[int]:
    """Token ids of what the model is to answer."""
    ids = list(model.tokenizer.encode(text).ids)
    if model.shape == "decoder":
        if target_language is not None:
            raise InputError("This model goes on writing and does not translate; leave the language out.")
        if len(ids) > 1 and ids[-1] == model.network.config.end_id:
            ids.pop()  # the end of the prompt is not the end of the text
        if not ids and model.network.config.start_id is not None:
            ids = [model.network.config.start_id]
    elif target_language is not None:
        ids.insert(0, find_language(model.tokenizer, target_language))
    return ids


def answer(
    model: Model,
    texts: Iterable[str],
    settings: GenerationSettings | None = None,
    target_language: str | None = None,
) -> Iterator[tuple[list[int], tuple[Hypothesis, ...]]]:
    """For each text, in order: its prompt, and the answers, best first. A blank text has none."""
    settings = settings or model.generation
    number = 0
    for chunk in in_chunks(texts, AHEAD):
        prompts = [read_prompt(model, text, target_language) if text.strip() else [] for text in chunk]
        for place, prompt in enumerate(prompts):
            check_length(model.network.config, prompt, number + place + 1)
        number += len(chunk)
        yield from zip(prompts, _answer_chunk(model, prompts, settings), strict=True)


def _answer_chunk(
    model: Model, prompts: Sequence[list[int]], settings: GenerationSettings
) -> list[tuple[Hypothesis, ...]]:
    answers: list[tuple[Hypothesis, ...]] = [()] * len(prompts)
    filled = np.array([place for place, prompt in enumerate(prompts) if prompt], dtype=np.int64)
    if not len(filled):
        return answers
    lengths = np.array([len(prompts[place]) for place in filled])
    budget = max(BUDGET // settings.beams, int(lengths.max()))
    for batch in plan_batches(lengths, BatchSettings(tokens=budget, shuffle=False)):
        places = filled[batch].tolist()
        ids, real = pad_left([prompts[place] for place in places], model.network.config.padding_id)
        known = None if bool(real.all()) else real.to(model.device)
        found = generate(model.network, ids.to(model.device), known, settings)
        for place, generated in zip(places, found, strict=True):
            answers[place] = generated.n_best
    return answers


def encode_chunks(
    model: Model, texts: Iterable[str], long: Literal["refuse", "start"] = "refuse"
) -> Iterator[list[Sequence[int]]]:
    """Texts as token ids, many at a time; too long ones are refused, or lose what does not fit."""
    number = 0
    config = model.network.config
    for chunk in in_chunks(texts, AHEAD):
        rows: list[Sequence[int]] = []
        for text in chunk:
            number += 1
            encoding = model.tokenizer.encode(text)
            if all(encoding.special):
                raise InputError(f"Text {number} is empty: it has no token of its own. Leave it out.")
            ids: Sequence[int] = encoding.ids
            if long == "start" and len(ids) > config.max_length:
                after = find_frame(model.tokenizer)[1]
                ids = (*ids[: config.max_length - len(after)], *after)
            check_length(config, ids, number)
            rows.append(ids)
        yield rows


def run_encoder(
    model: Model, rows: Sequence[Sequence[int]]
) -> Iterator[tuple[list[int], Tensor, Tensor | None]]:
    """Texts of similar length together: which ones, hidden states (B, S, D), and where they are real."""
    network = model.network
    assert isinstance(network, Transformer)
    lengths = np.array([len(row) for row in rows])
    settings = BatchSettings(tokens=max(BUDGET, int(lengths.max())), shuffle=False)
    for batch in plan_batches(lengths, settings):
        places = batch.tolist()
        ids, real = pad_rows([rows[place] for place in places], network.config.padding_id)
        real = None if real is None else real.to(model.device)
        read = network.encode if network.decoder is None else network.decode
        yield places, read(ids.to(model.device), real), real


def stream_answer(
    model: Model, text: str, settings: GenerationSettings | None = None, target_language: str | None = None
) -> Iterator[str]:
    """The answer to one text, piece by piece as it grows; a beam search only knows it at the end."""
    settings = settings or model.generation
    prompt = read_prompt(model, text, target_language)
    check_length(model.network.config, prompt, 1)
    if settings.beams > 1:
        hypothesis = _answer_chunk(model, [prompt], settings)[0][0]
        yield write_answer(model, prompt, hypothesis)
        return
    known, shown = list(prompt) if model.shape == "decoder" else [], ""
    yield (shown := _show(model, known))
    for nodes in stream(model.network, torch.tensor([prompt], device=model.device), None, settings):
        known += [node.token for node in nodes]
        whole = _show(model, known)
        yield whole[len(shown) :]
        shown = whole


def write_answer(model: Model, prompt: Sequence[int], hypothesis: Hypothesis) -> str:
    """A hypothesis as text; behind its prompt where a decoder goes on writing."""
    if model.shape == "decoder":
        return model.tokenizer.decode([*prompt, *hypothesis.words])
    return model.tokenizer.decode(hypothesis.words).strip()


def _show(model: Model, ids: Sequence[int]) -> str:
    text = model.tokenizer.decode(ids).rstrip("\ufffd")  # half a character waits for its other half
    return text if model.shape == "decoder" else text.lstrip()


def check_length(config: ModelConfig | RecurrentConfig, ids: Sequence[int], number: int) -> None:
    """Refuse a text that the network has no positions for, by its number."""
    endless = isinstance(config, ModelConfig) and config.positions in ("rotary", "relative", "none")
    if len(ids) > config.max_length and not endless:
        raise InputError(
            f"Text {number} has {len(ids)} tokens, and the model reads {config.max_length} at most; split it."
        )
