"""Strings are made of recordings, the same for the same seed, with the moments at which words are spoken."""

from dataclasses import replace
from itertools import groupby, product
from pathlib import Path

import numpy as np
import pytest
import torch

import glassformer as gf
from glassformer.errors import ConfigurationError
from glassformer.model.loss import IGNORED
from glassformer.tasks.speech_recognition import FRAME_MULTIPLE, SpeechRecognition, _sum_encoder_loss
from glassformer.tasks.task import build_task
from glassformer.text.batches import Batch
from glassformer.text.builders import build_words
from glassformer.training.checkpoints import save_model
from small_media import RATE, write_tones
from tolerances import assert_near

WORDS = build_words(["low", "high"])
TABLE = {"name": "speech_recognition", "path": "tones.npz", "words": ["low", "high"], "longest": 3}
TABLE |= {"dev_takes": [0, 1], "test_takes": [2], "strings": 60, "held_out_strings": 12, "noise": 0.0}


@pytest.fixture
def task(tmp_path: Path) -> SpeechRecognition:
    write_tones(tmp_path)
    found = build_task(TABLE | {"folder": str(tmp_path)}, WORDS, seed=3)
    assert isinstance(found, SpeechRecognition)
    settings = {"hop": 80, "mel_bins": 20, "frame_stride": 4, "width": 16, "heads": 2, "layers": 1}
    found.accept(gf.ModelConfig(**found.network_settings(), **settings, feed_forward=32, dropout=0.0))
    return found


def test_the_gold_moments_are_those_of_the_tones(task: SpeechRecognition) -> None:
    for index in range(6):
        spoken = task.speak("train", index, epoch=1)
        assert len(spoken.words) == 1 + index % 3
        loud = np.zeros(len(spoken.samples), bool)
        for word in spoken.words:
            part = spoken.samples[round(word.start * RATE) : round(word.end * RATE)]
            turns = np.count_nonzero(np.diff(np.signbit(part))) / 2 / (len(part) / RATE)  # hertz
            assert (turns < 900) == (word.text == "low")
            loud[round(word.start * RATE) : round(word.end * RATE)] = True
        assert np.abs(spoken.samples[~loud]).max(initial=0) == 0
    one, other, again = (task.speak("train", 4, epoch=epoch).samples for epoch in (0, 1, 0))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert np.array_equal(task.speak("dev", 4, epoch=0).samples, task.speak("dev", 4, epoch=1).samples)


def test_a_string_says_who_speaks(tmp_path: Path) -> None:
    write_tones(tmp_path)
    task = build_task(TABLE | {"folder": str(tmp_path), "speaker": "bob"}, WORDS, seed=3)
    assert isinstance(task, SpeechRecognition)
    task.accept(gf.ModelConfig(**task.network_settings(), width=16, heads=2, layers=1))
    for split, name in (("train", "ada"), ("test", "bob")):
        assert {task.speak(split, index).speaker for index in range(6)} == {name}


@pytest.mark.parametrize("gpu", [False, True])
def test_batches_are_no_longer_than_their_longest_string_but_for_a_gpu(
    task: SpeechRecognition, monkeypatch: pytest.MonkeyPatch, gpu: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    batch = task.collate("train", range(6))
    assert batch.sizes is not None
    longest = max(frames for frames, _ in batch.sizes)
    assert longest % FRAME_MULTIPLE  # rounding would be seen
    wanted = longest + -longest % FRAME_MULTIPLE if gpu else longest
    assert batch.ids.shape[1] == wanted * task.network_config.token_samples


def test_a_network_can_be_taught_and_its_errors_counted(task: SpeechRecognition) -> None:
    assert task.config is not None
    torch.manual_seed(0)
    network = gf.Transformer(task.network_config)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2)
    losses = []
    for epoch in range(8):
        batch = task.collate("train", range(30), epoch)
        optimiser.zero_grad()
        loss = task.loss(network, batch) / batch.count
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.7 * losses[0]
    scores = task.evaluate(network, "test")
    assert set(scores) == {"loss", "perplexity", "word_error_rate"}
    samples = task.samples(network, "test", 3)
    assert [sample.input for sample in samples] == ["test 0", "test 5", "test 11"]
    for sample, index in zip(samples, (0, 5, 11), strict=True):
        assert sample.wanted == " ".join(word.text for word in task.speak("test", index).words)
    spoken = task.speak("test", 2)
    model = gf.load(network, WORDS)
    sound = model.perceive(gf.Waveform(spoken.samples, RATE)).sound
    assert sound is not None
    recording = gf.record(model, gf.Sound(sound.samples, RATE, sound.spans, spoken.words), "low high")
    assert recording.source.sound.words == spoken.words


def test_what_the_encoder_tells_alone_is_read_and_scored_where_it_learns_by_ctc(
    task: SpeechRecognition, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = gf.Transformer(task.network_config)
    assert "encoder_word_error_rate" not in task.evaluate(network, "dev")
    task.settings = replace(task.settings, ctc=0.3)
    assert tuple(task.evaluate(network, "dev")) == task.score_names()
    _let_tell_low_low_high(network, monkeypatch)
    assert task.transcribe_by_encoder(network, "dev", 12) == ["low low high"] * 12


def test_what_is_written_heeds_the_encoder_as_much_as_a_recipe_says(
    task: SpeechRecognition, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    network = gf.Transformer(task.network_config)
    assert task.generation() == gf.GenerationSettings()
    task.settings = replace(task.settings, ctc_decoding=1.0, beams=2)
    save_model(network, tmp_path / "model", task)
    assert gf.load(tmp_path / "model").generation == gf.GenerationSettings(ctc=1.0, beams=2)
    _let_tell_low_low_high(network, monkeypatch)
    _, written, _ = task.transcribe(network, "dev", 12)
    assert written == ["low low high"] * 12


def _let_tell_low_low_high(network: gf.Transformer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The encoder is sure of one word as long as it lasts; a rest parts equal ones."""
    low, high = WORDS.encode("low high").ids[:2]
    none = network.config.padding_id
    told = [none, low, low, none, low, high, high, none, none]

    def tell(memory: torch.Tensor) -> torch.Tensor:
        path = torch.tensor(told[: memory.shape[1]] + [none] * (memory.shape[1] - len(told)))
        sure = 50.0 * torch.nn.functional.one_hot(path, network.config.vocabulary_size)
        return sure.expand(len(memory), -1, -1)

    monkeypatch.setattr(network, "logits", tell)


def test_strings_of_train_grow_and_their_voices_differ(task: SpeechRecognition, tmp_path: Path) -> None:
    task.settings = replace(task.settings, grow=4, voice=0.5, speed=0.0)
    lengths = [max(len(task.speak("train", index, epoch).words) for index in range(12)) for epoch in range(6)]
    assert lengths == [1, 1, 2, 2, 3, 3]
    assert len(task.speak("dev", 2).words) == 3
    heard = {
        round((word.end - word.start) * RATE)
        for index in range(40)
        for word in task.speak("train", index, 9).words
    }
    known = set(np.diff(task._heard["train"].starts).tolist())
    assert len(heard - known) > 10  # higher and lower voices are shorter and longer
    others = {
        round((word.end - word.start) * RATE)
        for index in range(12)
        for word in task.speak("dev", index).words
    }
    assert others <= set(np.diff(task._heard["dev"].starts).tolist())


def test_noise_is_softer_than_the_words_by_the_decibels_asked_for(task: SpeechRecognition) -> None:
    task.speak("dev", 0)
    usual = replace(task.settings, noise=0.9, snr=[10, 40])
    ratios = []
    for softer in (1.0, 0.01):  # whoever speaks softly has softer noise
        heard = task._heard["dev"]
        task._heard["dev"] = replace(heard, samples=(heard.samples * softer).astype(np.int16))
        task._spoken.clear()
        task.settings = replace(usual, snr=None, noise=0.0)
        clean = [task.speak("dev", index) for index in range(12)]
        task.settings = usual
        for index, quiet in enumerate(clean):
            noise = task.speak("dev", index).samples - quiet.samples
            parts = [quiet.samples[round(w.start * RATE) : round(w.end * RATE)] for w in quiet.words]
            power = np.square(np.concatenate(parts), dtype=np.float64).mean()
            ratios.append(10 * np.log10(power / np.square(noise, dtype=np.float64).mean()))
    loud, soft = np.array(ratios).reshape(2, 12)
    assert np.allclose(loud, soft, atol=0.5)
    assert 9 < loud.min() < 20 < 30 < loud.max() < 41


def test_an_equaliser_beyond_all_floats_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="equalise"):
        build_task(TABLE | {"folder": str(tmp_path), "equalise": 1e9}, WORDS)


@pytest.mark.parametrize(
    "given", [[10], [40, 10], [float("nan"), 1], [0, float("inf")], [-1e9, 40], [0, 1e9]]
)
def test_a_ratio_that_is_none_is_refused(given: list[float], tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="decibels"):
        build_task(TABLE | {"folder": str(tmp_path), "snr": given}, WORDS)


def test_only_training_warps_what_is_heard(task: SpeechRecognition) -> None:
    torch.manual_seed(0)
    network = gf.Transformer(task.network_config).eval()
    spectrogram = network.perception.spectrogram
    task.settings = replace(task.settings, warp=0.2)
    batch = task.collate("train", range(4), 0)
    seen: list[torch.Tensor] = []
    spectrogram.register_forward_pre_hook(lambda *_: seen.append(spectrogram.find_filters()))
    task.loss(network, batch)
    assert seen[0].shape == (4, *spectrogram.get_buffer("filters").shape)
    assert not torch.equal(seen[0][0], seen[0][1])
    task.evaluate(network, "dev")
    assert all(each is spectrogram.get_buffer("filters") for each in seen[1:])


def test_recordings_at_other_speeds_are_kept_while_there_is_room(
    task: SpeechRecognition, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [task.speak("train", index).samples for index in range(12)]
    assert task._spoken
    monkeypatch.setattr("glassformer.tasks.speech_recognition.MOST_KEPT", 0)
    task._spoken.clear()
    again = [task.speak("train", index).samples for index in range(12)]
    assert not task._spoken
    assert all(map(np.array_equal, kept, again))


def test_the_loss_of_the_encoder_is_that_of_all_ways_to_say_the_words(task: SpeechRecognition) -> None:
    """Every path of frames through words and blanks, one by one, in double precision."""
    torch.manual_seed(0)
    network = gf.Transformer(task.network_config).double()
    blank, end = task.network_config.padding_id, task.network_config.end_id
    assert end is not None
    first, second = WORDS.encode("low high").ids[:2]
    assert len({blank, end, first, second}) == 4
    rows = [[first, second], [first, first], [second]]
    labels = torch.tensor([[*row, end, *[IGNORED] * (2 - len(row))] for row in rows])
    real = torch.tensor([[True] * 4, [True] * 4, [True] * 3 + [False]])
    memory = torch.randn(3, 4, 16, dtype=torch.float64)
    batch = Batch(torch.zeros(3, 4), labels, 8, 8, real, sizes=((4, 2), (4, 2), (3, 1)))
    chances = network.logits(memory).detach().float().softmax(-1).double()
    wanted = 0.0
    for row, frames, known in zip(rows, chances, real, strict=True):
        total = 0.0
        for path in product({blank, *row}, repeat=int(known.sum())):
            if [word for word, _ in groupby(path) if word != blank] == row:
                total += float(np.prod([float(frames[at, word]) for at, word in enumerate(path)]))
        wanted -= np.log(total)
    found = _sum_encoder_loss(network, batch, memory).detach()
    assert_near(found, wanted, summands=16)
