"""Speech recognition: an encoder hears a string of words, a decoder writes them.

In:   recordings of single words, as sound classification has them. Strings are made by joining recordings,
      each at its own speed and loudness, with gaps and noise: those of one speaker where an npz file names
      speakers, else those of anybody.
Out:  loss, perplexity and word error rate; for every string the moments at which its words are spoken.

What is drawn depends on seed, epoch and number alone; strings of dev and test are always the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from glassformer.errors import ConfigurationError
from glassformer.loaded.native import NativeModel
from glassformer.loaded.perceiving import play_sound
from glassformer.media import Waveform, resample
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recording import SpokenWord
from glassformer.runlog.samples import Sample
from glassformer.settings import AtLeastZero, Count, CountOrZero, Share
from glassformer.tasks.answers import write_answer
from glassformer.tasks.media_files import Recordings, SoundSettings, read_recordings
from glassformer.tasks.media_task import (
    MediaExamples,
    MediaTask,
    collate_words,
    make_batch,
    play,
    sum_word_loss,
    writing_ids,
    writing_settings,
)
from glassformer.tasks.scores import compute_perplexity, compute_word_errors
from glassformer.tasks.task import TASKS, Network, Split
from glassformer.text.batches import Batch, Indices
from glassformer.text.encoder import Encoder
from glassformer.text.random_numbers import draw_uniform

EACH = 4  # numbers that are drawn for a word: which recording, gap, speed, loudness
SPLIT_KEYS = {"train": 10, "dev": 11, "test": 12}  # what numbers are drawn for


@dataclass(frozen=True, slots=True)
class SpeechRecognitionSettings(SoundSettings):
    """The table `[task]` with name = "speech_recognition"."""

    shortest: Count = 1  # words of a string
    longest: Count = 7
    strings: Count = 10_000  # in an epoch of training
    held_out_strings: Count = 500  # in dev and in test
    gap: AtLeastZero = 0.3  # seconds of silence around words, at most
    speed: Share = 0.1  # share by which words are faster or slower, at most
    noise: Share = 0.01  # of white noise, at most, where 1 is full loudness
    label_smoothing: Share = 0.0
    scored: CountOrZero = 200  # strings that are written down at every evaluation; 0: none

    def check(self) -> None:
        SoundSettings.check(self)
        if self.shortest > self.longest:
            raise ConfigurationError("tasks.media.lengths", shortest=self.shortest, longest=self.longest)


@dataclass(frozen=True, slots=True)
class SpokenString:
    """Words that are spoken one after another."""

    samples: NDArray[np.float32]
    words: tuple[SpokenWord, ...]


@TASKS.register("speech_recognition")
class SpeechRecognition(MediaTask):
    """An encoder-decoder learns to write down what it hears."""

    settings_kind = SpeechRecognitionSettings
    style = "sequence"
    reads = "sound"
    settings: SpeechRecognitionSettings

    def __init__(self, settings: Any, tokenizer: Any, *, seed: int = 0) -> None:
        super().__init__(settings, tokenizer, seed=seed)
        self._heard: dict[Split, Recordings] = {}

    @classmethod
    def texts(cls, settings: SpeechRecognitionSettings) -> Iterator[str]:
        words = sorted(set(read_recordings(settings, "train", settings.rate).labels))
        yield from words
        yield " ".join(words)  # as strings have them, behind a space

    def network_settings(self) -> dict[str, Any]:
        return {"reads": "sound", "sample_rate": self.settings.rate, **writing_settings(self)}

    def read(self, split: Split) -> MediaExamples:
        """Which words a string has is drawn when it is asked for; how many, by its number."""
        heard = self._heard[split] = read_recordings(self.settings, split, self.network_config.sample_rate)
        settings, train = self.settings, split == "train"
        count = settings.strings if train else settings.held_out_strings
        words = settings.shortest + np.arange(count) % (settings.longest - settings.shortest + 1)
        usual = float(np.diff(heard.starts).mean()) + settings.gap / 2 * self.network_config.sample_rate
        lengths = np.ceil(words * usual / self.network_config.token_samples).astype(np.int64)
        return MediaExamples(words.tolist(), np.maximum(lengths, 1))

    def speak(self, split: Split, index: int, epoch: int = 0) -> SpokenString:
        """One string: its samples, and when each word is spoken."""
        self.media(split)  # reads the recordings
        heard, settings, rate = self._heard[split], self.settings, self.network_config.sample_rate
        count = int(self.media(split).answers[index])
        key = (
            self.seed if split == "train" else 0,
            epoch if split == "train" else 0,
            SPLIT_KEYS.get(split, 13),
        )
        drawn = draw_uniform(key, [index], 3 + EACH * count)[0]
        speakers = sorted(set(heard.speakers))
        speaker = speakers[int(drawn[0] * len(speakers))]
        own = np.flatnonzero(np.array(heard.speakers) == speaker)
        pieces: list[NDArray[np.float32]] = []
        words: list[SpokenWord] = []
        place = 0
        for which, gap, speed, loudness in drawn[3:].reshape(count, EACH).tolist():
            number = int(own[int(which * len(own))])
            silence = np.zeros(int(gap * settings.gap * rate), np.float32)
            faster = 1 + (2 * speed - 1) * settings.speed
            spoken = (
                resample(heard.take(number), max(1, round(100 * faster)), 100)
                if settings.speed
                else heard.take(number)
            )
            pieces += [silence, spoken * np.float32(0.6 + 0.4 * loudness)]
            start = place + len(silence)
            place = start + len(spoken)
            words.append(SpokenWord(heard.labels[number], start / rate, place / rate))
        pieces.append(np.zeros(int(drawn[1] * settings.gap * rate), np.float32))
        samples = np.concatenate(pieces)
        if settings.noise:
            chance = np.random.default_rng(int(drawn[2] * 2**53))
            samples = samples + chance.standard_normal(len(samples), np.float32) * np.float32(
                settings.noise * drawn[2]
            )
        return SpokenString(samples.astype(np.float32), tuple(words))

    def collate(self, split: Split, indices: Sequence[int] | Indices, epoch: int = 0) -> Batch:
        strings = [self.speak(split, int(index), epoch) for index in indices]
        inputs, real = play([each.samples for each in strings], self.network_config)
        rows = Encoder(self.tokenizer)([_write(each) for each in strings], target=True)
        words = collate_words(rows, [None] * len(rows), writing_ids(self))
        frames = (
            inputs.shape[1] // self.network_config.token_samples * len(rows)
            if real is None
            else int(real.sum())
        )
        return make_batch(inputs, real, words, frames)

    def loss(self, network: Network, batch: Batch) -> Tensor:
        return sum_word_loss(network, batch, self.settings.label_smoothing)

    def score_names(self) -> tuple[str, ...]:
        return ("loss", "perplexity", *(("word_error_rate",) if self.settings.scored else ()))

    def evaluate(self, network: Network, split: Split, *, limit: int | None = None) -> dict[str, float]:
        """The word error rate of greedy transcripts comes along where `scored` asks for it."""
        loss = self.mean_loss(network, split, limit, partial(sum_word_loss, smoothing=0.0))
        scores = {"loss": loss, "perplexity": compute_perplexity(loss)}
        if self.settings.scored:
            _, written, wanted = self.transcribe(network, split, self.settings.scored)
            scores["word_error_rate"] = compute_word_errors(written, wanted)
        return scores

    def transcribe(
        self, network: Network, split: Split, count: int
    ) -> tuple[list[int], list[str], list[str]]:
        """Strings all over a split, by number, what is written about them and what they are."""
        model = NativeModel(network, self.tokenizer, generation=GenerationSettings())
        total = len(self.media(split).lengths)
        chosen = np.unique(np.linspace(0, total - 1, count).astype(np.int64)).tolist()
        strings = [self.speak(split, index) for index in chosen]
        rate = self.network_config.sample_rate
        percepts = [
            play_sound(self.network_config, Waveform(each.samples, rate), each.words) for each in strings
        ]
        written = [write_answer(model, (), found[0]) for found in model.write_words(percepts)]
        return chosen, written, [_write(each) for each in strings]

    def samples(self, network: Network, split: Split, count: int) -> list[Sample]:
        """Transcripts of strings all over the split, which are named by number."""
        found = zip(*self.transcribe(network, split, count), strict=True)
        return [Sample(f"{split} {index}", written, wanted) for index, written, wanted in found]


def _write(spoken: SpokenString) -> str:
    return " ".join(word.text for word in spoken.words)
