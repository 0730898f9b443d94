"""Speech recognition: an encoder hears a string of words, a decoder writes them.

In:   recordings of single words, as sound classification has them. Strings are made by joining recordings,
      each at its own speed and loudness, with gaps and noise: those of one speaker where an npz file names
      speakers, else those of anybody.
Out:  loss, perplexity and word error rate; for every string the moments at which its words are spoken.

Which recordings are joined depends on seed, epoch and number alone; strings of dev and test stay the same.
While the network learns, its strings are also augmented (`sound_distortions`), and strings may grow with the
epochs. With `ctc` a share of the loss is the CTC loss of the encoder (Graves et al. 2006): it then learns
early what is said where, and the decoder where to look. With `ctc_decoding` both choose the words that are
written.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Annotated, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from glassformer.errors import ConfigurationError
from glassformer.loaded.native import NativeModel
from glassformer.loaded.perceiving import Percept, list_words, play_sound
from glassformer.media import Waveform, resample
from glassformer.model.frames import FrameEmbeddings, count_frames
from glassformer.model.generate import at_inference
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.transformer import Transformer
from glassformer.recording import SpokenWord
from glassformer.runlog.samples import Sample
from glassformer.settings import AtLeastZero, Count, CountOrZero, Limits, Share, UpToOne
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
from glassformer.tasks.sound_distortions import augment
from glassformer.tasks.task import TASKS, Network, Split, find_device, require_transformer
from glassformer.text.batches import Batch, Indices
from glassformer.text.encoder import Encoder
from glassformer.text.random_numbers import draw_uniform

FOR_ALL = 4  # numbers that are drawn for a string: speaker, last gap, noise, voice
EACH = 4  # and for a word: which recording, gap, speed, loudness
SPEEDS = 20  # a word is heard at a multiple of 1 / SPEEDS of its speed: few, so that each is made once
MOST_KEPT = 1 << 30  # bytes of recordings at other speeds that are kept for the next time
FRAME_MULTIPLE = 25  # of a batch on a GPU, which prepares kernels for each new length
MOST_SNR = 100.0  # decibels, up or down: float32 says no more
Equaliser = Annotated[float, Limits(least=0, most=60)]  # decibels
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
    snr: list[float] | None = None  # signal-to-noise ratio in decibels, from and to; None: as `noise` says
    voice: Share = 0.0  # train: share by which the pitch of whole strings is higher or lower, at most
    warp: Share = 0.0  # train: share by which the speaker's vocal tract is longer or shorter, at most
    equalise: Equaliser = 0.0  # train: standard deviation of a random equaliser, in decibels
    masked: Share = 0.0  # train: share of frequencies and of time that is masked, at most
    grow: CountOrZero = 0  # train: epochs in which the most words grow from `shortest` to `longest`
    ctc: Share = 0.0  # train: weight of the encoder's CTC loss; the rest is the decoder's cross-entropy
    ctc_decoding: UpToOne = (
        0.0  # weight of what the encoder tells by CTC when words are written; the rest: decoder
    )
    beams: Count = 1  # hypotheses that are followed then
    label_smoothing: Share = 0.0
    scored: CountOrZero = 200  # strings that are written down at every evaluation; 0: none

    def check(self) -> None:
        SoundSettings.check(self)
        if self.shortest > self.longest:
            raise ConfigurationError("tasks.media.lengths", shortest=self.shortest, longest=self.longest)
        if self.snr is not None and (
            len(self.snr) != 2 or not -MOST_SNR <= self.snr[0] <= self.snr[1] <= MOST_SNR
        ):
            raise ConfigurationError("tasks.media.snr", seen=str(self.snr))


@dataclass(frozen=True, slots=True)
class SpokenString:
    """Words that are spoken one after another."""

    samples: NDArray[np.float32]
    words: tuple[SpokenWord, ...]
    speaker: str  # of the first word; "" where files do not say


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
        self._spoken: dict[tuple[Split, int, int], NDArray[np.float32]] = {}
        self._spoken_bytes = 0

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
        ((samples, places),) = self._join(split, [index], epoch)
        heard, rate = self._heard[split], self.network_config.sample_rate
        labels = heard.labels
        words = [SpokenWord(labels[number], start / rate, end / rate) for number, start, end in places]
        return SpokenString(samples, tuple(words), heard.speakers[places[0][0]])

    def _join(
        self, split: Split, indices: Sequence[int] | Indices, epoch: int
    ) -> Iterator[tuple[NDArray[np.float32], list[tuple[int, int, int]]]]:
        """The samples of each string; which recording is in it, from which sample to which."""
        counts = self.media(split).answers  # reads the recordings
        heard, settings, rate = self._heard[split], self.settings, self.network_config.sample_rate
        train = split == "train"
        longest = settings.longest
        if train and settings.grow:
            longest = min(longest, settings.shortest + epoch * (longest - settings.shortest) // settings.grow)
        key = (self.seed if train else 0, epoch if train else 0, SPLIT_KEYS.get(split, 13))
        drawn = draw_uniform(key, indices, FOR_ALL + EACH * longest)
        for index, (who, last, hiss, high, *rest) in zip(indices, drawn.tolist(), strict=True):
            own = heard.by_speaker[int(who * len(heard.by_speaker))]
            voice = 1 + (2 * high - 1) * settings.voice if train else 1.0
            pieces: list[NDArray[np.float32]] = []
            places: list[tuple[int, int, int]] = []
            end = 0
            for at in range(0, EACH * min(longest, counts[index]), EACH):
                which, gap, speed, loudness = rest[at : at + EACH]
                number = int(own[int(which * len(own))])
                silence = np.zeros(int(gap * settings.gap * rate), np.float32)
                spoken = self._speak_word(split, number, voice * (1 + (2 * speed - 1) * settings.speed))
                pieces += [silence, spoken * np.float32(0.6 + 0.4 * loudness)]
                start = end + len(silence)
                end = start + len(spoken)
                places.append((number, start, end))
            pieces.append(np.zeros(int(last * settings.gap * rate), np.float32))
            samples = np.concatenate(pieces)
            if not train:  # in train `augment` adds it
                chance = np.random.default_rng(int(hiss * 2**53))
                loudness = np.float32(self._find_noise(samples, places, hiss))
                samples += chance.standard_normal(len(samples), np.float32) * loudness
            yield samples, places

    def _find_noise(
        self, samples: NDArray[np.float32], places: list[tuple[int, int, int]], drawn: float
    ) -> float:
        """The standard deviation of the noise that is added to a string."""
        if self.settings.snr is None:
            return self.settings.noise * drawn
        lowest, highest = self.settings.snr
        heard = np.concatenate([samples[start:end] for _, start, end in places])
        power = float(np.square(heard, dtype=np.float64).mean())  # of the words, not of what is between them
        return power**0.5 * 10 ** (-(lowest + (highest - lowest) * drawn) / 20)

    def _speak_word(self, split: Split, number: int, faster: float) -> NDArray[np.float32]:
        """A recording at one of a few speeds; kept for the next time while there is room."""
        parts = max(1, round(SPEEDS * faster))
        known = self._spoken.get((split, number, parts))
        if known is None:
            taken = self._heard[split].take(number)
            known = taken if parts == SPEEDS else resample(taken, parts, SPEEDS)
            self._spoken_bytes += known.nbytes
            if self._spoken_bytes <= MOST_KEPT:
                self._spoken[split, number, parts] = known
        return known

    def collate(self, split: Split, indices: Sequence[int] | Indices, epoch: int = 0) -> Batch:
        strings = list(self._join(split, indices, epoch))
        multiple = FRAME_MULTIPLE if torch.cuda.is_available() else 1
        inputs, real = play([samples for samples, _ in strings], self.network_config, multiple)
        labels = self._heard[split].labels
        texts = [" ".join(labels[number] for number, _, _ in places) for _, places in strings]
        rows = Encoder(self.tokenizer)(texts, target=True)
        words = collate_words(rows, [None] * len(rows), writing_ids(self))
        frames = [count_frames(self.network_config, len(samples)) for samples, _ in strings]
        batch = make_batch(inputs, real, words, sum(frames))
        return replace(batch, sizes=tuple(zip(frames, map(len, rows), strict=True)))

    def loss(self, network: Network, batch: Batch) -> Tensor:
        settings = self.settings
        heard = augment(
            batch.ids,
            equalise=settings.equalise,
            masked=settings.masked,
            noise=settings.noise,
            snr=settings.snr,
        )
        listening = require_transformer(network)
        with _warp(listening, settings.warp, heard):
            memory = listening.encode(heard, batch.real)
        loss = sum_word_loss(network, batch, settings.label_smoothing, memory)
        if not settings.ctc:
            return loss
        return (1 - settings.ctc) * loss + settings.ctc * _sum_encoder_loss(listening, batch, memory)

    def generation(self) -> GenerationSettings:
        return GenerationSettings(beams=self.settings.beams, ctc=self.settings.ctc_decoding)

    def score_names(self) -> tuple[str, ...]:
        if not self.settings.scored:
            return ("loss", "perplexity")
        own = ("encoder_word_error_rate",) if self.settings.ctc else ()
        return ("loss", "perplexity", "word_error_rate", *own)

    def evaluate(self, network: Network, split: Split, *, limit: int | None = None) -> dict[str, float]:
        """The word error rate of greedy transcripts comes along where `scored` asks for it.

        With `ctc` also that of the encoder's own transcripts, without the decoder: which of them errs.
        """
        loss = self.mean_loss(network, split, limit, partial(sum_word_loss, smoothing=0.0))
        scores = {"loss": loss, "perplexity": compute_perplexity(loss)}
        if self.settings.scored:
            _, written, wanted = self.transcribe(network, split, self.settings.scored)
            scores["word_error_rate"] = compute_word_errors(written, wanted)
            if self.settings.ctc:
                written = self.transcribe_by_encoder(network, split, self.settings.scored)
                scores["encoder_word_error_rate"] = compute_word_errors(written, wanted)
        return scores

    def transcribe(
        self, network: Network, split: Split, count: int, first: int = 0
    ) -> tuple[list[int], list[str], list[str]]:
        """Strings all over a split, by number; what is written about them, and what they are."""
        model = NativeModel(network, self.tokenizer, generation=self.generation())
        chosen = self._choose(split, count, first)
        strings = [self.speak(split, index) for index in chosen]
        written = [write_answer(model, (), found[0]) for found in model.write_words(self._perceive(strings))]
        return chosen, written, [_write(each) for each in strings]

    def transcribe_by_encoder(self, network: Network, split: Split, count: int, first: int = 0) -> list[str]:
        """What the encoder alone tells of the same strings: CTC's best path (Graves et al. 2006)."""
        listening, device = require_transformer(network), find_device(network)
        strings = [self.speak(split, index) for index in self._choose(split, count, first)]
        written = []
        with at_inference(network):
            for percept in self._perceive(strings):
                assert percept.inputs is not None
                memory = listening.encode(torch.from_numpy(percept.inputs)[None].to(device))
                path = listening.logits(memory)[0].argmax(-1).tolist()  # the likeliest word of each frame
                words = [word for word, _ in groupby(path) if word != listening.config.padding_id]
                written.append(self.tokenizer.decode(words).strip())
        return written

    def _choose(self, split: Split, count: int, first: int) -> list[int]:
        """Numbers of strings all over a split, behind the first ones."""
        total = len(self.media(split).lengths)
        found: list[int] = np.unique(np.linspace(first, total - 1, count).astype(np.int64)).tolist()
        return found

    def _perceive(self, strings: Sequence[SpokenString]) -> list[Percept]:
        config = self.network_config
        return [
            play_sound(config, Waveform(each.samples, config.sample_rate, list_words(each.words)))
            for each in strings
        ]

    def samples(self, network: Network, split: Split, count: int) -> list[Sample]:
        """Transcripts of strings all over the split, which are named by number."""
        found = zip(*self.transcribe(network, split, count), strict=True)
        return [Sample(f"{split} {index}", written, wanted) for index, written, wanted in found]


def _warp(network: Transformer, most: float, heard: Tensor) -> AbstractContextManager[None]:
    """Vocal tract length perturbation, with a factor for each sound of a batch; nothing where `most` is 0."""
    if not most:
        return nullcontext()
    assert isinstance(network.perception, FrameEmbeddings)
    factors = 1 + most * (2 * torch.rand(len(heard), device=heard.device) - 1)
    return network.perception.spectrogram.warp(factors)


def _sum_encoder_loss(network: Transformer, batch: Batch, memory: Tensor) -> Tensor:
    """−log p(words | sound) of the encoder alone: each frame tells a word, or padding for none."""
    assert batch.sizes is not None
    frames = network.logits(memory).float().log_softmax(-1).transpose(0, 1)  # (frame, string, word)
    heard, counts = torch.tensor(batch.sizes).unbind(1)  # not on the device: the loss reads them here
    words = batch.labels.clamp(min=0)  # behind the counted ones nothing is read
    blank = network.config.padding_id
    return F.ctc_loss(frames, words, heard, counts, blank, reduction="sum", zero_infinity=True)


def _write(spoken: SpokenString) -> str:
    return " ".join(word.text for word in spoken.words)
