"""Pictures and sounds as a network reads them, and the same as a recording keeps them.

In:   a path, an array of pixels, a picture of Pillow, a `Waveform`; or what a recording kept: `Picture`,
      `Sound`, `Tokens`.
Out:  `Percept`: numbers for the network, and tokens (patches or frames) with their names.

A network is given what a recording keeps (bytes for pixels, 16 bits for samples), so that a recording can be
made again from an older one.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.media import LabelledWord, Waveform, convert_image, fit_picture, read_picture, read_sound
from glassformer.recording import Picture, Sound, SpokenWord, Tokens
from glassformer.text.tokenizer import Encoding

CLASS_TOKEN = "[CLS]"
FULL = 2**15  # of a sample of 16 bits


@dataclass(frozen=True, slots=True)
class Percept(Encoding):
    """Patches or frames as tokens, numbered from 0."""

    inputs: NDArray[np.float32] | None = None  # (channel, row, column), or (sample,) to the end of a frame
    picture: Picture | None = None
    sound: Sound | None = None

    def cut(self, count: int, token_samples: int) -> "Percept":
        """The first frames of a sound; a picture stays whole."""
        if self.sound is None or self.inputs is None or count >= len(self.ids):
            return self
        end, part = count * token_samples, slice(count)
        samples, spans = self.sound.samples[:end], self.sound.spans[part]
        return replace(
            self,
            ids=self.ids[part],
            texts=self.texts[part],
            special=self.special[part],
            segments=self.segments[part],
            inputs=self.inputs[:end],
            sound=Sound(samples, self.sound.rate, spans),
        )


def is_percept(inputs: object) -> bool:
    """Whether something can only be looked at or listened to; an array may also be token ids."""
    return isinstance(inputs, (os.PathLike, Waveform, Picture, Sound)) or _is_image(inputs)


def perceive(config: ModelConfig, inputs: Any, name: str) -> Percept:
    """What the encoder of a network is given; refuses text, and what this network cannot look at or hear."""
    if isinstance(inputs, Percept):
        return inputs
    if isinstance(inputs, Tokens):
        inputs = inputs.picture or inputs.sound
    if config.reads == "picture":
        return show_picture(config, read_pixels(inputs, name))
    return play_sound(config, read_waveform(inputs, name))


def show_picture(config: ModelConfig, pixels: NDArray[np.uint8]) -> Percept:
    """A picture, made to fit, as patches."""
    fitted = fit(config, pixels)
    channels = fitted if config.color else fitted[..., :1]
    places = [f"{row},{column}" for row in range(config.grid) for column in range(config.grid)]
    first = [CLASS_TOKEN] if config.class_token else []
    cells = np.array([-1] * len(first) + list(range(len(places))))
    return _number(
        (*first, *places),
        special=len(first),
        inputs=scale_pixels(config, channels.transpose(2, 0, 1)),
        picture=Picture(fitted, config.grid, config.grid, cells),
    )


def fit(config: ModelConfig, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A picture of any size as this network sees it, (size, size, 3)."""
    return fit_picture(
        pixels, config.picture_size, color=config.color, fit=config.picture_fit, resampling=config.resampling
    )


def scale_pixels(config: ModelConfig, pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Bytes (…, channel, row, column) as the numbers that this network reads: by default from -1 to 1."""
    mean, deviation = (
        np.array(each, np.float32)[:, None, None] for each in (config.pixel_mean, config.pixel_deviation)
    )
    return (pixels.astype(np.float32) / np.float32(255) - mean) / deviation


def play_sound(config: ModelConfig, waveform: Waveform) -> Percept:
    """A sound, at the rate of the network, as frames."""
    heard = waveform.at_rate(config.sample_rate)
    samples = np.clip(np.round(heard.samples * FULL), -FULL, FULL - 1).astype(np.int16)
    count = -(-len(samples) // config.token_samples)
    step = config.token_samples / config.sample_rate
    starts = np.arange(count) * step
    ends = np.minimum(starts + step, heard.seconds)
    if config.spectrogram == "relative":  # silence follows; frames are centred on their first sample
        if count > config.longest_sound:
            limit = config.longest_sound * step
            raise InputError("model.sound_too_long", seconds=heard.seconds, limit=limit)
        count = config.longest_sound
        starts = np.maximum(np.arange(count) - 0.5, 0) * step
        ends = (np.arange(count) + 0.5) * step
    spans = np.stack((starts, ends), axis=1)
    middles = np.arange(count) * step if config.spectrogram == "relative" else spans.mean(axis=1)
    padded = np.zeros(count * config.token_samples, np.float32)  # equally many frames, equally many samples
    padded[: len(samples)] = samples / np.float32(FULL)
    return _number(
        tuple(f"{middle:.2f}" for middle in middles),
        special=0,
        inputs=padded,
        sound=Sound(samples, config.sample_rate, spans, name_words(heard)),
    )


def _number(texts: tuple[str, ...], *, special: int, **parts: Any) -> Percept:
    count = len(texts)
    marks = (True,) * special + (False,) * (count - special)
    return Percept(tuple(range(count)), texts, marks, (0,) * count, "", **parts)


def read_pixels(inputs: Any, name: str) -> NDArray[np.uint8]:
    """The pixels in whatever form a person gives them to the model `name`."""
    if isinstance(inputs, Picture):
        return inputs.pixels
    if _is_image(inputs):
        return convert_image(inputs)
    if isinstance(inputs, (os.PathLike, bytes)):
        return read_picture(inputs)
    if isinstance(inputs, np.ndarray):
        return inputs
    raise InputError("loaded.cannot.other_than_pictures", name=name, kind=type(inputs).__name__)


def read_waveform(inputs: Any, name: str) -> Waveform:
    """The sound in whatever form a person gives it to the model `name`."""
    if isinstance(inputs, Waveform):
        return inputs
    if isinstance(inputs, Sound):
        return Waveform(inputs.samples, inputs.rate, list_words(inputs.words))  # type: ignore[arg-type]
    if isinstance(inputs, (os.PathLike, bytes)):
        return read_sound(inputs)
    raise InputError("loaded.cannot.other_than_sounds", name=name, kind=type(inputs).__name__)


def name_words(heard: Waveform) -> tuple[SpokenWord, ...]:
    """What a sound says of its words, as a recording keeps it."""
    return tuple(SpokenWord(*word) for word in heard.words)


def list_words(words: Iterable[SpokenWord]) -> tuple[LabelledWord, ...]:
    """The same as a waveform has it."""
    return tuple((word.text, word.start, word.end) for word in words)


def _is_image(inputs: object) -> bool:
    return type(inputs).__module__.startswith("PIL.") and hasattr(inputs, "convert")
