"""Whisper: its spectrogram, keys without a bias, its extractor, and the maps of a whole folder."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from glassformer.errors import GlassformerError
from glassformer.loaded.opening import load
from glassformer.media import Waveform
from glassformer.messages import Message
from glassformer.weights.checkpoint import adopt, open_checkpoint, save_checkpoint
from glassformer.weights.family import FAMILIES
from tolerances import assert_near, largest

Make = Callable[..., Any]
KIND = "WhisperForConditionalGeneration"
SOUND = (np.sin(np.arange(9_000) / 7) * 0.3).astype(np.float32)  # shorter than the second that there is


def save(model: Any, folder: Path) -> transformers.WhisperFeatureExtractor:
    model.save_pretrained(folder)
    extractor = transformers.WhisperFeatureExtractor(feature_size=8, chunk_length=1)
    extractor.save_pretrained(folder)
    return extractor


def test_a_folder_gives_the_maps_that_transformers_gives(make: Make, tmp_path: Path) -> None:
    model = make(KIND)
    extractor = save(model, tmp_path / "theirs")
    save_checkpoint(open_checkpoint(tmp_path / "theirs").network, tmp_path / "ours")
    again = transformers.AutoFeatureExtractor.from_pretrained(tmp_path / "ours")
    kept = np.round(SOUND * 2**15).astype(np.int16) / np.float32(2**15)  # as a recording keeps it
    for each in (extractor, again):
        features = each(kept, sampling_rate=16_000, return_tensors="pt")["input_features"]
    target = [60, 7, 8, 9]
    model.set_attn_implementation("eager")
    with torch.no_grad():
        wanted = model(features, decoder_input_ids=torch.tensor([target]), output_attentions=True)
    scores = largest(wanted.logits)
    for folder in ("theirs", "ours"):
        loaded = load(tmp_path / folder)
        assert loaded.library == "native"
        recording = loaded.record(Waveform(SOUND, 16_000), target=target[1:])
        assert recording.source.texts[:3] == ("0.00", "0.02", "0.04")
        assert len(recording.source) == 50
        assert recording.source.sound.seconds == 9_000 / 16_000
        for stack, kind, maps in (
            ("encoder", "self", wanted.encoder_attentions),
            ("decoder", "self", wanted.decoder_attentions),
            ("decoder", "cross", wanted.cross_attentions),
        ):
            for layer, weights in enumerate(maps):
                found = recording.map(stack, kind, layer)
                assert_near(found.weights(), weights[0], layers=3, scores=scores, where=(stack, kind, layer))


def test_a_bias_of_keys_keeps_the_network_ours(make: Make, tmp_path: Path) -> None:
    for name, part in (("decoder.layers.0.attention.qkv.bias", 12), ("decoder.layers.0.cross.kv.bias", 0)):
        network = adopt(make(KIND))
        assert save_checkpoint(network, tmp_path / "before") == "whisper"
        with torch.no_grad():
            network.get_parameter(name)[part] = 0.5
        assert save_checkpoint(network, tmp_path / "after") == "glassformer"


def test_a_sound_that_is_too_long_is_refused(make: Make) -> None:
    loaded = load(adopt(make(KIND)))
    with pytest.raises(
        GlassformerError, match=r"takes 1\.5 seconds, but this network has positions for 1\.0"
    ):
        loaded.record(Waveform(np.ones(24_000, np.float32), 16_000), target=[7])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sampling_rate": 8_000}, "sampling_rate is 8000; only 16000"),
        ({"feature_size": 80}, "feature_size is 80; only 8"),
        ({"chunk_length": 30}, "chunk_length is 30; only 1"),
        ({"n_fft": 512}, "n_fft is 512; only 400"),
        ({"dither": 0.1}, "dither is 0.1"),
        ({"do_normalize": True}, "do_normalize is True"),
    ],
    ids=str,
)
def test_who_hears_otherwise_opens_in_transformers(
    changes: dict[str, Any], words: str, make: Make, tmp_path: Path
) -> None:
    save(make(KIND), tmp_path)
    path = tmp_path / "preprocessor_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(GlassformerError, match=words):
        open_checkpoint(tmp_path)
    assert load(tmp_path).library == "transformers"


def test_sounds_of_whole_seconds_only_are_written(make: Make) -> None:
    config = adopt(make(KIND)).config
    reason = FAMILIES["whisper"].write_config(replace(config, sound_length=51))
    assert isinstance(reason, Message)
    assert "sound_length = 51" in str(reason)
    # Without one, sounds are as long as texts.
    settings = FAMILIES["whisper"].write_config(replace(config, sound_length=None, max_length=100))
    assert isinstance(settings, dict)
    assert settings["max_source_positions"] == 100
