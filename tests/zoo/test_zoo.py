"""The models that ship: small, described, the same in transformers, and able to do what their cards say."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glassformer.loaded.model import LoadedModel
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.recorders.record import record
from glassformer.recording.axes import name_rows
from glassformer.tasks.answers import open_model
from glassformer.tasks.classification import classify
from glassformer.tasks.language_modelling import generate
from glassformer.tasks.masked_language_modelling import fill
from glassformer.tasks.translation import translate
from glassformer.text.vocabulary import HAN
from glassformer.training.monitor import Monitor, _repeat_random
from glassformer.training.settings import MonitorSettings
from glassformer.weights.hub import ZOO
from tolerances import assert_near

MODELS = (
    "albert",
    "bert",
    "captioner",
    "digits",
    "gpt2",
    "listener",
    "recurrent",
    "recurrent-fixed",
    "reviews",
    "rotary",
    "sentiment",
    "translator",
)
THEIRS = {
    "albert": "AlbertForMaskedLM",
    "bert": "BertForMaskedLM",
    "gpt2": "GPT2LMHeadModel",
    "sentiment": "BertForSequenceClassification",
    "translator": "MarianMTModel",
}
LARGEST = 90_000_000  # bytes of all files together, atlases included
TEXTS = {
    "translator": ">>de<< Where did you learn to play the piano?",
    "sentiment": "a moving , funny and beautifully acted film .",
}
TEXT = "It was the best of times, it was the worst of times; the old man looked at the sea."


def test_the_zoo_is_complete_and_small() -> None:
    assert sorted(path.name for path in ZOO.iterdir() if path.is_dir()) == list(MODELS)
    files = [*ZOO.rglob("*"), *(ZOO.parent / "api" / "shipped_atlases").rglob("*")]
    assert sum(path.stat().st_size for path in files if path.is_file()) <= LARGEST


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_card(name: str) -> None:
    card = (ZOO / name / "README.md").read_text(encoding="utf-8")
    for part in ("## How it was trained", "## Scores", "## Data", "## Known limits"):
        assert part in card
    recipe = f"recipes/{name}.toml"
    assert f"glassformer train {recipe}" in card
    assert (Path(__file__).parents[2] / recipe).is_file()
    assert json.loads((ZOO / name / "config.json").read_text())["dtype"] == "float16"


@pytest.mark.parametrize("name", THEIRS)
def test_transformers_says_the_same(name: str) -> None:
    import transformers

    folder = ZOO / name
    theirs = getattr(transformers, THEIRS[name]).from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ours = open_model(folder)
    encoded = tokenizer(TEXTS.get(name, TEXT), return_tensors="pt")
    assert ours.tokenizer.encode(TEXTS.get(name, TEXT)).ids == tuple(encoded.input_ids[0].tolist())
    target = torch.tensor([[2, 300, 400, 500]])
    words: dict[str, Any] = {"decoder_input_ids": target} if name == "translator" else {}
    assert isinstance(ours.network, Transformer)
    with torch.no_grad():
        wanted = theirs(input_ids=encoded.input_ids, **words).logits
        found = ours.network(encoded.input_ids, target=target if words else None)
    assert_near(found, wanted, layers=9, summands=256, scores=100)


@pytest.fixture(scope="module")
def translator() -> LoadedModel:
    return open_model("zoo/translator")


@pytest.mark.slow
def test_the_translator_speaks_four_languages(translator: LoadedModel) -> None:
    greedy = GenerationSettings(max_new_tokens=30)

    def say(text: str, language: str) -> str:
        return next(iter(translate(translator, [text], target_language=language, decode=greedy)))

    assert say("I love you.", "fr") == "Je t'aime."
    assert "Klavier" in say("He plays the piano.", "de")
    assert "我" in say("I am a student.", "zh")
    assert say("Je suis fatigué.", "en").startswith("I'm tired")
    assert say("我爱你", "en") == "I love you."
    (by_beam,) = translate(translator, ["汤姆追逐杰瑞"], target_language="en")
    assert say("汤姆追逐杰瑞", "en") == by_beam == "Tom chased Jerry."  # the data have neither name nor verb


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("汤姆追逐杰瑞", {"Tom": "汤姆", " ch": "追逐", " J": "杰瑞"}),
        ("我爱你", {"I": "我", " love": "爱", " you": "你"}),
    ],
)
def test_words_are_written_where_a_head_looks_at_what_they_translate(
    translator: LoadedModel, text: str, words: dict[str, str]
) -> None:
    """One head of cross-attention looks most at the right characters for every word."""
    recording = record(translator, text, target_language="en")

    def looks_right(weights: np.ndarray, rows: Sequence[str], keys: Sequence[str]) -> bool:
        seen = {row: keys[at] for row, at in zip(rows, weights.argmax(-1), strict=True)}
        return all(seen[word] in characters for word, characters in words.items())

    heads = [
        looks_right(weights, name_rows(recording, cross).texts, cross.key.texts)
        for cross in recording.maps
        if cross.kind == "cross"
        for weights in cross.weights()
    ]
    assert any(heads)
    assert not all(heads)


def test_the_recurrent_one_translates_too() -> None:
    model = open_model("zoo/recurrent")
    assert isinstance(model.network, RecurrentTranslator)
    assert next(iter(translate(model, ["I love you."]))) == "Je t'aime."


def test_opinions_are_told_apart() -> None:
    texts = ["a moving , funny and beautifully acted film .", "a dull , lifeless and utterly boring mess ."]
    assert [found.label for found in classify("zoo/sentiment", texts)] == ["positive", "negative"]


def test_a_negation_turns_an_opinion() -> None:
    """None of these adjectives is in the phrases that it was trained with (recipes/negated_phrases.py)."""
    praise = ["not bad", "not boring at all", "never boring .", "far from perfect , but never dull ."]
    blame = ["it is not good .", "not a good film .", "not funny ."]
    found = [each.label for each in classify("zoo/sentiment", praise + blame)]
    assert found == ["positive"] * len(praise) + ["negative"] * len(blame)


def test_whole_reviews_are_told_apart() -> None:
    good = "a wonderful film , moving and beautifully acted . it is one of the best of the year . " * 9
    bad = "a boring mess . the script is stupid and the acting is awful . it is a waste of time . " * 9
    assert [found.label for found in classify("zoo/reviews", [good, bad])] == ["positive", "negative"]


SHARED = Path(__file__).parents[3] / "shared"


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="the training data is not here")
def test_every_chinese_character_and_mark_of_the_data_is_one_token(translator: LoadedModel) -> None:
    files = [*(SHARED / "data/translation/en-zh").glob("*.tsv.gz"), *(SHARED / "seeds").glob("*.txt")]
    assert len(files) > 3
    found: set[str] = set()
    for file in files:
        raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        found |= set(HAN.findall(raw.decode("utf-8", errors="ignore")))
    assert {*"，？！、。：；（）…"} <= found
    tokenizer = translator.require_tokenizer()
    assert {each for each in found if len(tokenizer.encode(each, special=False).ids) != 1} == set()


@pytest.mark.parametrize("name", ["bert", "albert"])
def test_gaps_are_filled(name: str) -> None:
    (filled,) = fill(f"zoo/{name}", ["He shook his head and closed his [MASK]."], best=20)
    assert "eyes" in [guess.text for guess in filled.gaps[0]]


@pytest.mark.parametrize("name", ["gpt2", "rotary"])
def test_language_models_go_on(name: str) -> None:
    start = "The old man"
    greedy = GenerationSettings(max_new_tokens=5)
    (text,) = generate(f"zoo/{name}", [start], decode=greedy)
    assert text.startswith(start)
    assert len(text) > len(start)


def test_gpt2_has_induction_heads() -> None:
    network = open_model("zoo/gpt2").network
    assert isinstance(network, Transformer)
    probe = _repeat_random(network, 4)
    looks = Monitor(network, probe, MonitorSettings(texts=4, tokens=64)).look()
    assert max(score for heads in looks.values() for score in heads["induction"]) >= 0.5
