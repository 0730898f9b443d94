"""A sound from a file: WAV by ourselves, FLAC through soundfile; always one channel.

In:   a path, or the bytes of a file.
Out:  `Waveform`: samples from -1 to 1, their rate, and words where the file has labels. Length, rate and
      channels are read and limited before anything is decoded, and channels are averaged block by block.
"""

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.media.contents import Content, Opened, open_content
from glassformer.media.labels import LabelledWord, list_chunks, read_labels

FORMATS = ("WAV", "FLAC")
MOST_SECONDS = 60.0
RATES = (1_000, 384_000)  # samples per second
MOST_CHANNELS = 64
SILENCE = 1e-4  # a peak below it (-80 dB) is noise of the converter
LOUDEST = 2.0**32  # floating-point samples beyond it are no sound, whatever they are counted in

_BLOCK = 1 << 16  # samples of each channel that are decoded at once
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE  # kinds of WAV
_TAPER = 0.05  # the share of the band that is faded out, so that nothing rings


@dataclass(frozen=True, slots=True, eq=False)
class Waveform:
    """One channel of sound.

    >>> tone = gf.Waveform(np.sin(np.arange(4000) / 5), rate=8000)
    >>> tone.samples.dtype, tone.seconds
    (dtype('float32'), 0.5)
    """

    samples: NDArray[np.float32]  # (sample,) from -1 to 1
    rate: int  # samples per second
    words: tuple[LabelledWord, ...] = ()  # text, start, end (seconds), where it is known what is said when

    def __post_init__(self) -> None:
        samples: NDArray[Any] = np.asarray(self.samples)
        if samples.ndim != 1 or samples.size == 0 or samples.dtype.kind not in "fi":
            raise InputError("media.not_samples", shape=str(samples.shape), type=str(samples.dtype))
        if samples.dtype.kind != "f":  # as files hold them
            samples = samples / -float(np.iinfo(samples.dtype).min)
        if not _is_sound(samples):
            raise InputError("media.not_finite_sound", name="Waveform")
        if not RATES[0] <= self.rate <= RATES[1]:
            raise InputError("media.rate", name="Waveform", rate=self.rate, least=RATES[0], most=RATES[1])
        object.__setattr__(self, "samples", np.ascontiguousarray(samples, dtype=np.float32))
        object.__setattr__(self, "rate", int(self.rate))
        object.__setattr__(self, "words", tuple(map(_check_word, self.words)))

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return len(self.samples) / self.rate

    def at_rate(self, rate: int) -> "Waveform":
        """The same sound with so many samples per second."""
        if rate == self.rate:
            return self
        return Waveform(resample(self.samples, self.rate, rate), rate, self.words)


def read_sound(content: Content) -> Waveform:
    """A WAV or FLAC file of at most a minute as one channel; FLAC needs the extra `sound`.

    >>> import wave
    >>> with wave.open("tone.wav", "wb") as file:
    ...     file.setparams((2, 2, 16000, 0, "NONE", ""))
    ...     file.writeframes((np.sin(np.arange(32000) / 9) * 9999).astype("<i2").tobytes())
    >>> gf.read_sound("tone.wav").seconds  # two channels, averaged
    1.0
    """
    with open_content(content) as opened:
        if opened.format not in FORMATS:
            code = "media.not_a_sound" if opened.format else "media.unknown_sound"
            raise InputError(code, name=opened.name, format=opened.format, known=FORMATS)
        read = _read_wav if opened.format == "WAV" else _read_flac
        rate, blocks = read(opened)
        samples = np.concatenate([np.zeros(0, np.float32), *_limit(opened, blocks, rate)])
        words = read_labels(opened, rate, len(samples)) if opened.format == "WAV" else ()
    if samples.size == 0:
        raise InputError("media.no_samples", name=opened.name)
    if not _is_sound(samples):
        raise InputError("media.not_finite_sound", name=opened.name)
    loud = float(np.ptp(samples)) / 2 if len(samples) > 1 else abs(float(samples[0]))
    if loud < SILENCE:  # also where a converter adds the same to every sample
        raise InputError("media.silent", name=opened.name, seconds=len(samples) / rate)
    return Waveform(samples, rate, words)


def resample(samples: NDArray[np.float32], before: int, after: int) -> NDArray[np.float32]:
    """The same sound at another rate; what the lower rate cannot hold is faded out."""
    count = -(-len(samples) * after // before)
    step = before // math.gcd(before, after)
    silence = max(before // 100, 64)  # against the wrap-around
    padded = -(-(len(samples) + silence) // step) * step
    wanted = padded // step * (after // math.gcd(before, after))
    spectrum = np.fft.rfft(samples, padded)[: wanted // 2 + 1]
    if after < before:
        fade = max(1, int(len(spectrum) * _TAPER))
        spectrum[-fade:] *= 0.5 + 0.5 * np.cos(np.pi * np.arange(1, fade + 1) / fade)
    return (np.fft.irfft(spectrum, wanted)[:count] * (wanted / padded)).astype(np.float32)


def _check_word(word: LabelledWord) -> LabelledWord:
    """A word whose time is one."""
    try:
        text, start, end = word
        if isinstance(text, str) and 0 <= float(start) <= float(end) < math.inf:
            return text, float(start), float(end)
    except (TypeError, ValueError):
        pass
    raise InputError("media.not_a_word", seen=repr(word)[:80])


def _is_sound(samples: NDArray[Any]) -> bool:
    """Whether all numbers are finite, and small enough to be computed with."""
    return bool((np.abs(samples) <= LOUDEST).all())


def _limit(opened: Opened, blocks: Iterator[NDArray[np.float32]], rate: int) -> Iterator[NDArray[np.float32]]:
    """Blocks (sample, channel) as one channel, whatever a header promised about their number."""
    count = 0
    for block in blocks:
        count += len(block)
        _check_length(opened, count, rate)
        with np.errstate(over="ignore", invalid="ignore"):
            yield block.mean(axis=1, dtype=np.float32)


def _check(opened: Opened, rate: int, channels: int, count: int) -> None:
    if not RATES[0] <= rate <= RATES[1]:
        raise InputError("media.rate", name=opened.name, rate=rate, least=RATES[0], most=RATES[1])
    if not 1 <= channels <= MOST_CHANNELS:
        raise InputError("media.channels", name=opened.name, channels=channels, limit=MOST_CHANNELS)
    _check_length(opened, count, rate)


def _check_length(opened: Opened, count: int, rate: int) -> None:
    if count > MOST_SECONDS * rate:
        raise InputError("media.long_sound", name=opened.name, seconds=count / rate, limit=MOST_SECONDS)


# WAV


def _read_wav(opened: Opened) -> tuple[int, Iterator[NDArray[np.float32]]]:
    layout = None
    for name, place, size in list_chunks(opened):
        opened.stream.seek(place)
        if name == b"fmt " and size >= 16:
            layout = opened.stream.read(min(size, 64))
        elif name == b"data" and layout is not None:
            return _read_data(opened, layout, size)
    raise InputError("media.broken_sound", name=opened.name)


def _read_data(opened: Opened, layout: bytes, size: int) -> tuple[int, Iterator[NDArray[np.float32]]]:
    kind, channels, rate, _, _, bits = struct.unpack("<HHIIHH", layout[:16])
    if kind == _EXTENSIBLE and len(layout) >= 26:
        kind = int.from_bytes(layout[24:26], "little")
    width = bits // 8
    if (kind, bits) not in {(_PCM, 8), (_PCM, 16), (_PCM, 24), (_PCM, 32), (_FLOAT, 32), (_FLOAT, 64)}:
        raise InputError("media.wav_kind", name=opened.name, kind=kind, bits=bits)
    _check(opened, rate, channels, size // (width * max(channels, 1)))
    there = opened.size - opened.stream.tell()
    if there < size:
        raise InputError("media.truncated_sound", name=opened.name, seen=there, promised=size)
    decode = _decode_floats if kind == _FLOAT else _decode_integers
    return rate, (
        decode(block, width).reshape(-1, channels)
        for block in _read_blocks(opened.stream, size, width * channels)
    )


def _read_blocks(stream: BinaryIO, size: int, frame: int) -> Iterator[bytes]:
    left = size - size % frame
    while left:
        block = stream.read(min(left, _BLOCK * frame))
        if len(block) % frame or not block:  # the file became shorter meanwhile
            return
        yield block
        left -= len(block)


def _decode_floats(block: bytes, width: int) -> NDArray[np.float32]:
    with np.errstate(over="ignore", invalid="ignore"):  # what becomes infinite is refused later
        return np.frombuffer(block, f"<f{width}").astype(np.float32)


def _decode_integers(block: bytes, width: int) -> NDArray[np.float32]:
    if width == 1:  # the only ones without a sign
        return np.frombuffer(block, np.uint8).astype(np.float32) / np.float32(128) - np.float32(1)
    wide = np.zeros((len(block) // width, 4), np.uint8)  # the highest bytes of 32-bit integers
    wide[:, 4 - width :] = np.frombuffer(block, np.uint8).reshape(-1, width)
    return wide.view("<i4")[:, 0].astype(np.float32) / np.float32(2**31)


# FLAC


def _read_flac(opened: Opened) -> tuple[int, Iterator[NDArray[np.float32]]]:
    try:
        import soundfile  # the extra `sound`
    except ImportError:
        raise InputError("media.no_soundfile", name=opened.name) from None
    try:
        file = soundfile.SoundFile(opened.stream)
    except soundfile.LibsndfileError as error:
        raise InputError("media.broken_sound", name=opened.name) from error
    _check(opened, file.samplerate, file.channels, file.frames)

    def decode() -> Iterator[NDArray[np.float32]]:
        count = 0
        try:
            for block in file.blocks(_BLOCK, dtype="float32", always_2d=True):
                count += len(block)
                yield block
        except soundfile.LibsndfileError as error:
            raise InputError("media.broken_sound", name=opened.name) from error
        if count < file.frames:
            raise InputError("media.truncated_sound", name=opened.name, seen=count, promised=file.frames)

    return file.samplerate, decode()
