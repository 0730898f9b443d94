"""WAV of every width and FLAC give the same samples; what is damaged, silent or endless is refused."""

import struct
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.media.sounds import MOST_SECONDS, Waveform, read_sound, resample
from tolerances import assert_near

RATE = 8000
TONE = 0.5 * np.sin(2 * np.pi * 440 / RATE * np.arange(2000))


def wav(
    data: bytes,
    *,
    kind: int = 1,
    channels: int = 1,
    rate: int = RATE,
    bits: int = 16,
    size: int | None = None,
) -> bytes:
    """A WAV file, with a chunk that means nothing in front of its samples."""
    frame = channels * bits // 8
    layout = struct.pack("<HHIIHH", kind, channels, rate, min(rate * frame, 2**32 - 1), frame % 2**16, bits)
    promised = len(data) if size is None else size
    return b"".join(
        (
            b"RIFF\0\0\0\0WAVEfmt ",
            struct.pack("<I", 16),
            layout,
            b"LIST\3\0\0\0abc\0",
            b"data",
            struct.pack("<I", promised),
            data,
        )
    )


def integers(samples: NDArray[np.float64], width: int) -> bytes:
    if width == 1:
        return np.round(samples * 127 + 128).astype(np.uint8).tobytes()
    wide = np.round(samples * (2**31 - 1)).astype("<i4")
    return wide.view(np.uint8).reshape(-1, 4)[:, 4 - width :].tobytes()


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_whole_numbers_of_every_width(width: int) -> None:
    sound = read_sound(wav(integers(TONE, width), bits=8 * width))
    assert (sound.rate, sound.seconds) == (RATE, 0.25)
    assert np.abs(sound.samples - TONE).max() <= 1.01 * 2.0 ** (1 - min(8 * width, 24))


def test_floating_point_and_extensible_files(tmp_path: Path) -> None:
    for kind in ("<f4", "<f8"):
        sound = read_sound(wav(TONE.astype(kind).tobytes(), kind=3, bits=8 * int(kind[-1])))
        assert (sound.samples == TONE.astype(np.float32)).all()
    soundfile.write(tmp_path / "a.wav", TONE, RATE, subtype="PCM_24", format="WAVEX")
    assert np.abs(read_sound(tmp_path / "a.wav").samples - TONE).max() < 2.0**-22


def test_flac_is_read_whatever_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tone.wav"
    soundfile.write(path, TONE, RATE, format="FLAC")
    assert np.abs(read_sound(path).samples - TONE).max() < 2.0**-14
    with pytest.raises(InputError, match=r"ends too early|is damaged"):
        read_sound(path.read_bytes()[:-300])
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(InputError, match=r"glassformer\[sound\]"):
        read_sound(path)


def test_eight_channels_are_averaged() -> None:
    both = np.stack([TONE, *[0 * TONE] * 7], axis=1)
    assert np.abs(read_sound(wav(integers(both.ravel(), 2), channels=8)).samples - TONE / 8).max() < 2.0**-15


@pytest.mark.parametrize(
    ("content", "sentence"),
    {
        "truncated": (wav(b"\1" * 100, size=5000), "ends too early: 100 of 5000"),
        "no data": (wav(b"")[:40], "is damaged"),
        "no samples": (wav(b""), "holds no sound"),
        "silent": (wav(b"\0\0\1\0" * 4000), "is silent for all its 1.0 seconds"),
        "a constant": (wav(integers(np.full(4000, 0.3), 2)), "is silent for all its 0.5 seconds"),
        "an hour": (wav(b"\1" * 100, size=3600 * RATE * 2), "takes 3600 seconds"),
        "a million hertz": (wav(b"\1" * 100, rate=1_000_000), "1000000 samples per second"),
        "no channels": (wav(b"\1" * 100, channels=0), "has 0 channels"),
        "compressed": (wav(b"\1" * 100, kind=17, bits=4), "kind 17 with 4 bits"),
        "not a number": (wav(np.full(9, np.nan, "<f4").tobytes(), kind=3, bits=32), "not finite"),
        "picture": (b"\x89PNG\r\n\x1a\n", "contains PNG"),
        "another kind": (b"ID3\3\0\0", "contains MP3"),
        "text": (b"hello", "no sound that is known"),
        "broken FLAC": (b"fLaC" + bytes(100), "is damaged"),
    }.values(),
)
def test_bad_sounds_get_a_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_sound(content)


def test_flac_of_an_hour_is_refused_by_its_header(tmp_path: Path) -> None:
    path = tmp_path / "long.flac"
    soundfile.write(path, np.zeros(int(MOST_SECONDS * 1000) + 1, np.int16), 1000)
    with pytest.raises(InputError, match="takes 60 seconds; at most 60"):
        read_sound(path)


def test_a_stream_of_unknown_length_is_read_to_its_end() -> None:
    data = integers(TONE, 2)
    assert read_sound(wav(data, size=2**32 - 1)).seconds == 0.25


def test_empty_chunks_do_not_take_for_ever() -> None:
    with pytest.raises(InputError, match="its parts cannot be told apart"):
        read_sound(b"RIFF\0\0\0\0WAVE" + b"junk\0\0\0\0" * 300 + wav(integers(TONE, 2))[12:])


def test_the_end_of_a_sound_does_not_come_round_to_its_beginning() -> None:
    click = np.zeros(1000, np.float32)
    click[-1] = 1
    faster = resample(click, 110, 100)  # small numbers: a change of speed
    assert np.abs(faster[:100]).max() < np.abs(faster).max() / 100


@pytest.mark.parametrize("rate", [8000, 16_000, 44_100, 192_000])
def test_resampling_keeps_a_tone_and_its_place(rate: int) -> None:
    def make_tone(rate: int) -> NDArray[np.float64]:
        seconds = np.arange(rate // 4) / rate
        return np.sin(4 * np.pi * seconds) ** 4 * np.sin(2 * np.pi * 440 * seconds)

    heard = Waveform(make_tone(rate).astype(np.float32), rate).at_rate(16_000)
    assert_near(heard.samples, make_tone(16_000), summands=rate // 4)


def test_what_the_lower_rate_cannot_hold_is_taken_away() -> None:
    high = np.sin(2 * np.pi * 7000 / 16_000 * np.arange(4000)) * np.hanning(4000)
    assert np.abs(resample(high.astype(np.float32), 16_000, 8_000)).max() < 1e-3


def test_waveforms_are_one_row_of_finite_numbers() -> None:
    assert Waveform(np.array([-32768, 16384], np.int16), 8000).samples.tolist() == [-1.0, 0.5]  # type: ignore[arg-type]
    for samples in (np.zeros((2, 2)), np.zeros(0), np.array(["a"]), np.array([np.inf])):
        with pytest.raises(InputError):
            Waveform(samples, 8000)
