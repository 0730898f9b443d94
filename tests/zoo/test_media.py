"""The models of the zoo that look and listen: what they do with drawings of ours, and data never seen."""

from pathlib import Path

import numpy as np
import pytest

import glassformer as gf
from glassformer.errors import InputError
from glassformer.loaded.perceiving import play_sound
from glassformer.media import Waveform
from glassformer.model.transformer import Transformer
from glassformer.tasks.answers import open_model
from glassformer.tasks.captioning import Captioning
from glassformer.tasks.scores import compute_accuracy, compute_word_errors, score_chrf
from glassformer.tasks.speech_recognition import SpeechRecognition
from glassformer.tasks.task import Task, build_task
from glassformer.training.recipe import read_recipe
from own_pictures import draw_face, draw_seven

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
MARGIN = 0.08  # seconds around a spoken word
ALIGNING = (1, 1)  # layer and head of cross-attention, chosen on dev by benchmarks/listening.py


def open_task(name: str, folder: str, **changes: object) -> tuple[Task, Transformer]:
    """The task of a recipe, with the network of the zoo that it made."""
    if not (DATA / folder).is_dir():
        pytest.skip(f"needs {DATA / folder}, which does not come with this repository")
    model = open_model(f"zoo/{name}")
    overrides = {"task.folder": str(DATA / folder)} | {f"task.{key}": each for key, each in changes.items()}
    recipe = read_recipe(ROOT / "recipes" / f"{name}.toml", overrides)
    task = build_task(recipe.tables["task"], model.tokenizer)
    assert isinstance(model.network, Transformer)
    task.accept(model.network.config)
    return task, model.network


def test_a_drawn_seven_is_a_seven() -> None:
    found = next(iter(gf.classify("zoo/digits", [draw_seven()])))
    assert found.label == "7"
    assert found.probability > 0.9
    recording = gf.record("zoo/digits", draw_seven())
    assert recording.source.texts[0] == "[CLS]"
    assert recording.source.picture is not None
    assert len(recording.source) == 1 + 7 * 7


def test_a_drawn_face_is_named_in_the_language_that_is_asked_for() -> None:
    model = gf.load("zoo/captioner")
    names = {
        language: next(iter(gf.translate(model, [draw_face()], target_language=language)))
        for language in ("en", "zh", "de", "fr")
    }
    assert "face" in names["en"]
    assert "Gesicht" in names["de"]
    assert "visage" in names["fr"]
    assert all("一" <= letter <= "鿿" for letter in names["zh"])


def test_the_captioner_asks_which_language_to_write_in() -> None:
    model, white = gf.load("zoo/captioner"), np.full((72, 72, 3), 255, np.uint8)
    for ask in (lambda: gf.record(model, white), lambda: gf.translate(model, [white])):
        with pytest.raises(InputError, match=r"several languages.*: de, en, fr or zh"):
            ask()
    given = gf.record(model, white, ">>de<< Kreis")  # words that are given may begin as they like
    assert given.target.texts


@pytest.mark.slow
def test_digits_never_seen_are_told_apart() -> None:
    task, network = open_task("digits", "images")
    assert task.evaluate(network, "test", limit=1000)["accuracy"] >= 0.985


@pytest.mark.slow
def test_chinese_names_of_new_emoji_are_better_than_those_of_the_nearest_pictures() -> None:
    """And some are right to the letter. In English chrF is as high for the nearest pictures: see the card."""
    task, network = open_task("captioner", "images")
    assert isinstance(task, Captioning)
    seen, known = task.media("test").pixels, task.media("train").pixels
    assert seen is not None
    assert known is not None
    indices, written, wanted = task.describe(network, "test", 1, 60)
    languages = len(task.settings.languages)
    names = [text for text, _ in task._sampled["train", 0][1::languages]]
    flat, shown = (
        each.reshape(len(each), -1).astype(np.float32)
        for each in (known, seen[np.array(indices) // languages])
    )
    nearest = ((flat**2).sum(1) - 2 * shown @ flat.T).argmin(1)  # but for what is the same in a row
    assert compute_accuracy(written, wanted) > 0.05
    assert score_chrf(written, wanted).score > score_chrf([names[at] for at in nearest], wanted).score


@pytest.mark.slow
def test_spoken_digits_are_heard_where_they_are_spoken() -> None:
    task, network = open_task("listener", "speech", held_out_strings=42)
    assert isinstance(task, SpeechRecognition)
    _, written, wanted = task.transcribe(network, "test", 42)
    assert compute_word_errors(written, wanted) <= 0.08  # 4.1 % of 2,000 words
    model, inside, total = gf.load("zoo/listener"), 0, 0
    layer, head = ALIGNING
    for index in range(14):
        spoken = task.speak("test", index)
        sound = play_sound(task.network_config, Waveform(spoken.samples, 8000)).sound
        assert sound is not None
        recording = model.record(sound, " ".join(word.text for word in spoken.words), want=("weights",))
        weights = recording.map("decoder", "cross", layer).weights(head=head)
        middles = sound.spans.mean(axis=1)
        for row, word in enumerate(spoken.words):  # row n writes word n
            inside += word.start - MARGIN <= middles[weights[row].argmax()] <= word.end + MARGIN
            total += 1
    assert inside / total >= 0.85  # 90 % of many words
