"""Sounds become frames; padding changes nothing, and the decoder reads them as it reads a text."""

from typing import Any

import pytest
import torch

from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.model.frames import count_frames, frame_mask
from glassformer.model.generate import generate
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.transformer import Transformer
from tolerances import assert_near

SETTINGS: dict[str, Any] = {
    **{"reads": "sound", "vocabulary_size": 12, "sample_rate": 8000, "hop": 80, "mel_bins": 20},
    **{
        "layers": 2,
        "width": 16,
        "heads": 2,
        "feed_forward": 24,
        "start_id": 1,
        "end_id": 2,
        "max_length": 30,
    },
}


def build(**settings: Any) -> Transformer:
    torch.manual_seed(1)
    return Transformer(ModelConfig(**{**SETTINGS, **settings})).eval()


def noise(*lengths: int) -> list[torch.Tensor]:
    chance = torch.Generator().manual_seed(2)
    return [torch.randn(length, generator=chance) * 0.1 for length in lengths]


@pytest.mark.parametrize("stride", [1, 2, 4])
@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary", "relative"])
def test_a_padded_sound_gives_what_it_gives_alone(stride: int, positions: str) -> None:
    _compare_padded_with_alone(build(frame_stride=stride, positions=positions, max_length=100))


def test_bands_are_standardised_over_what_is_heard_alone() -> None:
    _compare_padded_with_alone(build(frame_stride=2, max_length=100, spectrogram="standardised"))


def _compare_padded_with_alone(network: Transformer) -> None:
    sounds = noise(4000, 2345)
    lengths = torch.tensor([4000, 2345])
    real = frame_mask(network.config, lengths)
    assert real.sum(1).tolist() == [count_frames(network.config, length) for length in (4000, 2345)]
    with torch.no_grad():
        both = network.encode(torch.nn.utils.rnn.pad_sequence(sounds, batch_first=True), real)
        alone = network.encode(sounds[1][None])
        assert_near(both[1, : alone.shape[1]], alone[0], layers=2, summands=60, scores=4)


def test_it_generates_from_sounds_in_batches() -> None:
    network = build(frame_stride=4)
    sounds = noise(4000, 2345)
    real = frame_mask(network.config, torch.tensor([4000, 2345]))
    padded = torch.nn.utils.rnn.pad_sequence(sounds, batch_first=True)
    settings = GenerationSettings(max_new_tokens=5, beams=2)
    together = generate(network, padded, real, settings)
    for sound, found in zip(sounds, together, strict=True):
        assert generate(network, sound[None], None, settings)[0].words == found.words


def test_what_is_no_sound_or_too_long_is_refused() -> None:
    network = build()
    for wrong in (torch.zeros(1, 0), torch.zeros(800), torch.zeros(1, 800).long()):
        with pytest.raises(InputError, match="expected numbers from -1 to 1"):
            network.encode(wrong)
    with pytest.raises(InputError, match=r"takes 1\.0 seconds, but this network has positions for 0\.6"):
        network.encode(torch.zeros(1, 8000))
