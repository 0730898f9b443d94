"""Positions of a sound are named by when they listen: proved by a click at one moment."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.media import Waveform
from glassformer.recording import SpokenWord

RATE = 16_000


def make_wav2vec2() -> Any:
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    config = hf.Wav2Vec2Config(**sizes, conv_dim=(16,) * 7, feat_extract_norm="layer")
    return load(hf.Wav2Vec2Model(config).eval(), hf.Wav2Vec2FeatureExtractor(do_normalize=False))


def make_whisper() -> Any:
    torch.manual_seed(0)
    sides = ("encoder", "decoder")
    sizes = {f"{side}_{name}": size for side in sides for name, size in SIZES.items()}
    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    config = hf.WhisperConfig(d_model=32, vocab_size=20, max_source_positions=100, **sizes, **ids)
    return load(hf.WhisperForConditionalGeneration(config).eval(), hf.WhisperFeatureExtractor(chunk_length=2))


SIZES = {"layers": 1, "attention_heads": 2, "ffn_dim": 48}


def test_a_frame_of_samples_is_named_by_its_second() -> None:
    subject = make_wav2vec2()
    quiet = np.zeros(RATE, np.float32)
    click = quiet.copy()
    click[8_000:8_010] = 1  # half a second after the beginning
    recording = subject.record(Waveform(click, RATE))
    with torch.no_grad():
        before, after = (
            subject.network.feature_extractor(torch.from_numpy(each)[None]) for each in (quiet, click)
        )
    heard = np.flatnonzero((before - after).abs().amax(dim=(0, 1)).numpy() > 1e-6)
    middles = recording.source.sound.spans.mean(axis=1)[heard]  # none at the beginning, where they are cut
    assert abs(middles.mean() - 0.5) < 0.01  # half the step from one frame to the next
    assert [recording.source.texts[each] for each in heard] == [f"{middle:.2f}" for middle in middles]
    assert recording.maps[0].query is recording.source
    sound = recording.source.sound
    assert (sound.rate, sound.seconds, int(np.abs(sound.samples).argmax()) in range(8_000, 8_010)) == (
        RATE, 1.0, True,
    )  # fmt: skip


def test_a_frame_of_a_spectrogram_is_named_by_its_second() -> None:
    subject = make_whisper()
    click = np.random.default_rng(0).normal(size=2 * RATE).astype(np.float32) / 100
    quiet, click[12_000:12_400] = click.copy(), 1
    before, after = (
        subject.record(Waveform(each, RATE), want=("hidden",), decode={"max_new_tokens": 1})
        for each in (quiet, click)
    )
    apart = np.abs(before.hidden["encoder"][0] - after.hidden["encoder"][0]).max(axis=-1)
    loudest = int(apart.argmax())
    first, last = after.source.sound.spans[loudest]
    assert first < 12_400 / RATE
    assert last > 12_000 / RATE
    assert after.source.texts[loudest] == f"{(first + last) / 2:.2f}"
    assert after.source.sound.seconds == 2
    assert after.map("decoder", "cross", 0).key.sound is not None


def test_a_sound_is_brought_to_the_models_rate() -> None:
    recording = make_wav2vec2().record(Waveform(np.sin(np.arange(4_000) / 9), 8_000))
    assert (recording.source.sound.rate, recording.source.sound.seconds) == (RATE, 0.5)


@pytest.mark.parametrize("make", [make_wav2vec2, make_whisper])
def test_a_sound_is_kept_as_it_was_given(make: Any) -> None:
    """Not louder: it can be recorded again; with what is said in it when."""
    quiet = np.round(np.sin(np.arange(RATE) / 9) * 99 + 7).astype(np.int16)
    kept = make().record(Waveform(quiet, RATE, (("one", 0.2, 0.5),)), decode=None).source.sound
    assert np.array_equal(kept.samples, quiet)
    assert kept.words == (SpokenWord("one", 0.2, 0.5),)


def test_a_spectrogram_alone_names_seconds_without_a_sound() -> None:
    subject = make_whisper()
    spectrum = torch.zeros(1, 80, 200)
    recording = subject.record({"input_features": spectrum, "decoder_input_ids": [1, 3]})
    assert recording.source.texts[:3] == ("0.00", "0.02", "0.04")
    assert recording.source.sound is None


def test_who_hears_nothing_says_so() -> None:
    subject = load(hf.ViTModel(hf.ViTConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=2)))
    for given, words in (
        (Waveform(np.ones(99), RATE), "no feature extractor"),
        (PIXELS, "no image processor"),
    ):
        with pytest.raises(InputError, match=words):
            subject.record(given)


PIXELS = np.zeros((4, 4, 3), np.uint8)
