"""Tokens of transformers' `generate` as they are chosen."""

import threading
from types import SimpleNamespace

import pytest

import glassformer as gf
from glassformer.loaded.opening import load
from glassformer.tasks.answers import stream_answer
from live_models import DECODERS, TEXTS, TOKENIZER, TRANSLATORS, make


@pytest.mark.parametrize("kind", [*DECODERS, *TRANSLATORS])
def test_tokens_are_streamed_as_they_are_chosen(kind: str) -> None:
    network = make(kind).train()
    model = load(network, TOKENIZER)
    settings = gf.GenerationSettings(max_new_tokens=6)
    prompt = model.read_prompt(TEXTS[0])
    [[wanted]] = model.generate([prompt], settings)
    pieces = list(model.stream(prompt, settings))
    assert [token for piece in pieces for token in piece] == list(wanted.ids)
    assert len(pieces) == len(wanted.ids)
    capability = "generates" if kind in DECODERS else "translates"
    verb = {"generates": gf.generate, "translates": gf.translate}[capability]
    [text] = verb(model, TEXTS[:1], decode=settings)
    assert "".join(stream_answer(model, TEXTS[0], settings)).strip() == text.strip()
    assert network.training


def test_a_stream_can_be_closed_and_tells_what_went_wrong() -> None:
    network = make("GPT2LMHeadModel")
    model = load(network, TOKENIZER)
    before = set(threading.enumerate())  # other tests may have left some, which may end meanwhile
    tokens = model.stream([5, 6], gf.GenerationSettings(max_new_tokens=20, min_new_tokens=20))
    assert len(next(tokens)) == 1  # type: ignore[arg-type]
    assert set(threading.enumerate()) - before
    tokens.close()  # type: ignore[attr-defined]
    assert set(threading.enumerate()) <= before
    network.forward = None  # type: ignore[assignment]
    with pytest.raises(TypeError):
        list(model.stream([5, 6], gf.GenerationSettings(max_new_tokens=3)))
    assert set(threading.enumerate()) <= before


def test_half_a_character_at_the_end_is_shown_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(make("GPT2LMHeadModel"), TOKENIZER)
    written = {1: "a", 2: "a\ufffd", 3: "aé", 4: "aé\ufffd"}  # by the count of tokens
    tokenizer = SimpleNamespace(decode=lambda ids: written[len(ids)])
    monkeypatch.setattr(type(model), "require_tokenizer", lambda _: tokenizer)
    monkeypatch.setattr(type(model), "read_prompt", lambda *_: [5])
    settings = gf.GenerationSettings(max_new_tokens=3, min_new_tokens=3)
    assert list(stream_answer(model, "x", settings)) == ["a", "", "é", "", "\ufffd"]
