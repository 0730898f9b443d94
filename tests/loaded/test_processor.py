"""Processors of transformers beside a model: found, told from tokenizers, and used."""

import numpy as np
import pytest
import transformers as hf

from glassformer.errors import InputError
from glassformer.loaded.processor import Processor, open_processor, split_processor
from glassformer.media import Waveform
from glassformer.recording import Picture, Sound, Tokens

PIXELS = np.full((6, 4, 3), 200, np.uint8)


def make_images() -> hf.ViTImageProcessorPil:
    return hf.ViTImageProcessorPil(size={"height": 8, "width": 8}, image_mean=[0.1] * 3, image_std=[0.2] * 3)


def test_a_processor_is_told_from_a_tokenizer() -> None:
    images, sounds = make_images(), hf.Wav2Vec2FeatureExtractor()
    for given, expected in ((images, (images, None)), (sounds, (None, sounds))):
        tokenizer, found = split_processor(given)
        assert (tokenizer, found.images, found.sounds) == (None, *expected)
    words = object()
    tokenizer, found = split_processor(words)
    assert (tokenizer, found.images, found.sounds) == (words, None, None)
    both = type("Both", (), {"image_processor": images, "tokenizer": words})()
    tokenizer, found = split_processor(both)
    assert (tokenizer, found.images, found.sounds) == (words, images, None)


def test_each_is_found_in_its_folder(tmp_path) -> None:
    assert open_processor(tmp_path).images is None
    make_images().save_pretrained(tmp_path / "sees")
    hf.WhisperFeatureExtractor(hop_length=80).save_pretrained(tmp_path / "hears")
    sees, hears = open_processor(tmp_path / "sees"), open_processor(tmp_path / "hears")
    assert [list(each) for each in sees.colours] == [[0.1] * 3, [0.2] * 3]
    assert sees.sounds is None
    assert (hears.images, hears.rate, hears.hop) == (None, 16_000, 80)


def test_a_damaged_folder_has_none(tmp_path) -> None:
    (tmp_path / "preprocessor_config.json").write_text("{")
    found = open_processor(tmp_path)
    assert (found.images, found.sounds, found.colours) == (None, None, None)


def test_pictures_and_sounds_become_inputs() -> None:
    seen = Processor(images=make_images()).read("sees", PIXELS)
    assert seen["pixel_values"].shape == (1, 3, 8, 8)
    assert float(seen["pixel_values"].max()) == pytest.approx((200 / 255 - 0.1) / 0.2)
    heard = Processor(sounds=hf.Wav2Vec2FeatureExtractor(do_normalize=False)).read(
        "hears", Waveform(np.ones(800), 8000)
    )
    assert heard["input_values"].shape == (1, 1600)  # twice as many samples per second


def test_colours_that_were_not_changed() -> None:
    assert Processor(images=hf.ViTImageProcessorPil(do_normalize=False)).colours == ((0.0,), (1.0,))


@pytest.mark.parametrize("media", [PIXELS, Waveform(np.ones(9), 8000)])
def test_what_a_model_has_no_sense_for_is_refused(media) -> None:
    with pytest.raises(InputError, match=r"use load\(model, processor\)"):
        Processor().read("blind", media)


def test_what_a_recording_kept_is_taken_again() -> None:
    heard = Processor(sounds=hf.Wav2Vec2FeatureExtractor(do_normalize=False))
    sound = Sound(np.full(160, 16384, np.int16), 16_000, [[0, 0.01]])
    assert heard.takes(sound)
    assert float(heard.read("hears", sound)["input_values"].mean()) == 0.5
    assert not heard.takes("a text")
    assert not heard.takes(np.arange(3))
    assert heard.takes(PIXELS)


def test_a_picture_that_was_kept_is_not_cropped_again() -> None:
    crops = hf.CLIPImageProcessorPil(size={"shortest_edge": 16}, crop_size={"height": 8, "width": 8})
    pixels = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    kept = Picture(pixels, 1, 1, [0])
    tokens = Tokens("source", ["0,0"], [0], picture=kept)
    for given in (kept, tokens):
        assert Processor.takes(given)
        values = Processor(images=crops).read("sees", given)["pixel_values"][0].numpy()
        mean, deviation = (np.array(each)[:, None, None] for each in Processor(images=crops).colours)
        again = np.round((values * deviation + mean) * 255).transpose(1, 2, 0)
        assert np.array_equal(again, pixels)


def test_a_sound_that_would_be_cut_off_is_refused() -> None:
    hears = Processor(sounds=hf.WhisperFeatureExtractor(chunk_length=1))
    hears.read("hears", Waveform(np.ones(16_000), 16_000))
    with pytest.raises(InputError, match=r"hears hears 1 seconds at once, and the sound takes 1\.1"):
        hears.read("hears", Waveform(np.ones(17_600), 16_000))
