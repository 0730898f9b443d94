"""Pictures and sounds reach a network as a recording keeps them, from whatever form they come in."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.loaded.perceiving import perceive
from glassformer.media import Waveform
from glassformer.recording import SpokenWord
from glassformer.recording.tokens import Tokens

LOOKS = ModelConfig(
    reads="picture",
    shape="encoder",
    head="none",
    picture_size=8,
    patch_size=4,
    width=16,
    heads=2,
    color=False,
)
HEARS = ModelConfig(
    reads="sound", shape="encoder", head="none", width=16, heads=2, sample_rate=8000, hop=80, frame_stride=4
)
PIXELS = np.random.default_rng(0).integers(0, 256, (8, 8)).astype(np.uint8)


def test_every_form_of_a_picture_gives_the_same_numbers(tmp_path: Path) -> None:
    Image.fromarray(PIXELS).save(tmp_path / "a.png")
    rgb = np.repeat(PIXELS[..., None], 3, axis=-1)
    first = perceive(LOOKS, PIXELS, "m")
    assert first.inputs is not None
    assert first.inputs.shape == (1, 8, 8)
    assert first.inputs.min() >= -1
    assert np.array_equal(np.round((first.inputs[0] + 1) * 127.5), PIXELS)
    assert first.texts == ("[CLS]", "0,0", "0,1", "1,0", "1,1")
    assert first.special == (True, False, False, False, False)
    assert first.picture is not None
    tokens = Tokens("source", first.texts, np.arange(5), picture=first.picture)
    for other in (rgb, tmp_path / "a.png", Image.fromarray(PIXELS), first.picture, tokens, first):
        again = perceive(LOOKS, other, "m")
        assert again.inputs is not None
        assert np.array_equal(again.inputs, first.inputs)


def test_a_large_transparent_picture_is_laid_on_white_cut_and_reduced() -> None:
    pixels = np.zeros((16, 40, 4), np.uint8)  # invisible
    found = perceive(LOOKS, pixels, "m")
    assert found.picture is not None
    assert (found.picture.pixels == 255).all()
    pixels[..., 3] = 255
    pixels[:, 12:28] = 255  # the middle
    assert perceive(LOOKS, pixels, "m").inputs.min() == 1.0  # type: ignore[union-attr]


def test_a_sound_is_heard_with_the_bits_that_are_kept() -> None:
    noise = np.random.default_rng(0).normal(size=2000) * 0.1
    heard = perceive(HEARS, Waveform(noise, 16_000), "m")
    assert heard.inputs is not None
    assert heard.sound is not None
    assert heard.inputs.shape == (1280,)  # 1000 samples, to the end of the fourth frame
    assert np.array_equal(heard.inputs[:1000] * 2**15, heard.sound.samples)
    assert heard.texts == ("0.02", "0.06", "0.10", "0.12")
    assert heard.sound.spans[-1].tolist() == [0.12, 0.125]
    words = (SpokenWord("one", 0.0, 0.1),)
    again = perceive(HEARS, type(heard.sound)(heard.sound.samples, 8000, heard.sound.spans, words), "m")
    assert np.array_equal(again.inputs, heard.inputs)  # type: ignore[arg-type]
    assert again.sound.words == words  # type: ignore[union-attr]


def test_the_first_frames_are_a_sound_of_their_own() -> None:
    noise = np.random.default_rng(0).normal(size=1000) * 0.1
    whole = perceive(HEARS, Waveform(noise, 8000), "m")
    short = whole.cut(2, HEARS.token_samples)
    alone = perceive(HEARS, Waveform(whole.sound.samples[:640], 8000), "m")  # type: ignore[union-attr]
    assert np.array_equal(short.inputs, alone.inputs)  # type: ignore[arg-type]
    assert (short.ids, short.texts, short.special) == (alone.ids, alone.texts, alone.special)
    assert np.array_equal(short.sound.spans, alone.sound.spans)  # type: ignore[union-attr]
    assert whole.cut(4, HEARS.token_samples) is whole
    seen = perceive(LOOKS, PIXELS, "m")
    assert seen.cut(1, HEARS.token_samples) is seen


@pytest.mark.parametrize(
    ("config", "inputs", "sentence"),
    [
        (LOOKS, "a text", "looks at pictures and cannot read a str"),
        (LOOKS, Waveform(np.ones(9), 8000), "cannot read a Waveform"),
        (LOOKS, np.zeros((8, 8)), "Pixels are float64"),
        (LOOKS, np.zeros((8, 8, 2), np.uint8), r"\(8, 8, 2\)"),
        (HEARS, "a text", "listens and cannot read a str"),
        (HEARS, PIXELS, "listens and cannot read a ndarray"),
    ],
)
def test_what_has_no_meaning_is_refused_by_name(config: ModelConfig, inputs: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        perceive(config, inputs, "model")
