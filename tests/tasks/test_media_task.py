"""What tasks of pictures and sounds share: distortions, padding of sounds, targets with tags."""

import numpy as np
import torch

from glassformer.config import ModelConfig
from glassformer.loaded.perceiving import play_sound
from glassformer.media import Waveform
from glassformer.model.loss import IGNORED
from glassformer.tasks.media_files import PictureSettings
from glassformer.tasks.media_task import collate_words, distort, play
from tolerances import assert_near


def test_distortions_move_turn_and_resize() -> None:
    pictures = torch.full((1, 1, 9, 9), -1.0)
    pictures[..., 4, 6] = 1.0  # right of the middle
    settings = PictureSettings(path="a", shift=2, turn=0.99, zoom=0.5)

    def place(*drawn: float) -> tuple[int, int]:
        found = distort(pictures, torch.tensor([drawn]), settings)[0, 0].argmax()
        return int(found) // 9, int(found) % 9

    assert_near(distort(pictures, torch.zeros(1, 4), settings), pictures)
    assert place(1.0, 0.0, 0.0, 0.0) == (4, 4)
    assert place(0.0, 0.5, 0.0, 0.0) == (3, 6)
    assert place(0.0, 0.0, 1 / 0.99, 0.0) == (2, 4)


def test_sounds_are_padded_to_whole_frames() -> None:
    config = ModelConfig(9, reads="sound", hop=10, frame_stride=2)
    inputs, real = play([np.ones(50, np.float32), np.ones(20, np.float32)], config)
    assert inputs.shape == (2, 60)
    assert real is not None
    assert real.tolist() == [[True] * 3, [True, False, False]]
    assert play([np.ones(20, np.float32)] * 2, config)[1] is None
    longer, real = play([np.ones(50, np.float32), np.ones(20, np.float32)], config, multiple=4)
    assert torch.equal(longer[:, :60], inputs)
    assert not longer[:, 60:].any()
    assert real is not None
    assert real.tolist() == [[True] * 3 + [False], [True] + [False] * 3]


def test_padding_leaves_room_for_no_more_frames_than_there_are_positions() -> None:
    config = ModelConfig(9, reads="sound", hop=10, frame_stride=2, max_length=5)
    inputs, real = play([np.ones(90, np.float32), np.ones(20, np.float32)], config, multiple=4)
    assert inputs.shape == (2, 100)
    assert real is not None
    assert real.sum(1).tolist() == [5, 1]
    assert play([np.ones(130, np.float32)], config, multiple=4)[0].shape == (1, 140)  # the network refuses it


def test_a_relative_spectrogram_is_taught_what_it_hears_later() -> None:
    config = ModelConfig(
        9, reads="sound", sample_rate=8000, hop=80, spectrogram="relative", sound_length=12, max_length=4
    )
    samples = np.sin(np.arange(400, dtype=np.float32))
    inputs, real = play([samples, samples[:160]], config, multiple=5)
    assert real is None  # silence is part of every sound
    heard = play_sound(config, Waveform(samples, 8000)).inputs
    assert heard is not None
    assert inputs.shape == (2, len(heard))
    assert np.abs(inputs[0].numpy() - heard).max() < 2**-15  # of 16 bits


def test_a_tag_is_given_and_not_guessed() -> None:
    rows = [np.array([7, 8], np.int32), np.array([9], np.int32)]
    target, labels, count = collate_words(rows, [5, None], (1, 2, 0))
    assert target.tolist() == [[1, 5, 7, 8], [1, 9, 0, 0]]
    assert labels.tolist() == [[IGNORED, 7, 8, 2], [9, 2, IGNORED, IGNORED]]
    assert count == 5
