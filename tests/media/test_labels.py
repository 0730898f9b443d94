"""Labelled regions of a WAV file are words with their times; what is not understood of them is left out."""

import struct
import wave
from io import BytesIO
from typing import Any

import numpy as np
import pytest

import glassformer as gf
from glassformer.errors import InputError
from glassformer.loaded.perceiving import play_sound
from glassformer.media import Waveform, read_sound
from glassformer.media.labels import LONGEST, MOST_WORDS

RATE = 8000
TONE = (9000 * np.sin(np.arange(RATE) / 3)).astype("<i2")  # a second


def chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def marks(*samples: int) -> bytes:
    each = [struct.pack("<II4sIII", at + 1, s, b"data", 0, 0, s) for at, s in enumerate(samples)]
    return chunk(b"cue ", struct.pack("<I", len(each)) + b"".join(each))


def label(number: int, text: bytes) -> bytes:
    return chunk(b"labl", struct.pack("<I", number) + text + b"\0")


def region(number: int, length: int) -> bytes:
    return chunk(b"ltxt", struct.pack("<II4s8x", number, length, b"rgn "))


def associated(*parts: bytes) -> bytes:
    return chunk(b"LIST", b"adtl" + b"".join(parts))


def read(*after: bytes, before: bytes = b"") -> Waveform:
    """A file whose samples have other chunks in front of them and behind them."""
    file = BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((1, 2, RATE, 0, "NONE", ""))
        writer.writeframes(TONE.tobytes())
    made = file.getvalue()
    return read_sound(made[:12] + before + made[12:] + b"".join(after))


TWO = (
    marks(4000, 800),
    associated(region(1, 1600), label(1, b"two"), label(2, "eins ä".encode()), region(2, 400)),
)


def test_regions_with_a_label_are_words_in_the_order_of_time() -> None:
    expected = (("eins ä", 0.1, 0.15), ("two", 0.5, 0.7))
    assert read(*TWO).words == expected
    assert read(before=b"".join(TWO)).words == expected
    assert read(*reversed(TWO)).words == expected
    assert read().words == ()


def test_they_stay_with_the_sound_at_another_rate_and_in_a_recording() -> None:
    heard = read(*TWO).at_rate(4000)
    assert heard.words == read(*TWO).words
    config = gf.ModelConfig(
        shape="encoder", head="classes", classes=2, reads="sound", sample_rate=4000, hop=40, mel_bins=8
    )
    sound = play_sound(config, heard).sound
    assert sound is not None
    assert sound.words == (gf.SpokenWord("eins ä", 0.1, 0.15), gf.SpokenWord("two", 0.5, 0.7))


@pytest.mark.parametrize(
    ("parts", "expected"),
    {
        "a mark that lasts no time": ((marks(800), associated(label(1, b"one"))), ()),
        "a region without a label": ((marks(800), associated(region(1, 400))), ()),
        "a label without a mark": ((associated(region(1, 400), label(1, b"one")),), ()),
        "an empty label": ((marks(800), associated(region(1, 400), label(1, b"  "))), ()),
        "behind the end": ((marks(9000), associated(region(1, 400), label(1, b"one"))), ()),
        "longer than the sound": (
            (marks(7200), associated(region(1, 2**32 - 1), label(1, b"one"))),
            (("one", 0.9, 1.0),),
        ),
        "no text at all": (
            (marks(800), associated(region(1, 400), label(1, b"\xff\xfe"))),
            (("��", 0.1, 0.15),),
        ),
        "a long label": (
            (marks(800), associated(region(1, 400), label(1, b"a" * 999))),
            (("a" * LONGEST, 0.1, 0.15),),
        ),
        "half a mark": ((marks(800)[:-9], associated(region(1, 400), label(1, b"one"))), ()),
        "another list": ((marks(800), chunk(b"LIST", b"INFO" + region(1, 400) + label(1, b"one"))), ()),
    }.values(),
)
def test_what_is_no_word_is_left_out(parts: tuple[bytes, ...], expected: tuple[Any, ...]) -> None:
    assert read(*parts).words == expected


def test_there_is_a_limit() -> None:
    count = 3 * MOST_WORDS
    labels = [part for at in range(count) for part in (region(at + 1, 1), label(at + 1, b"a"))]
    assert 0 < len(read(marks(*range(count)), associated(*labels)).words) <= MOST_WORDS


@pytest.mark.parametrize("word", [("one", 0.5), ("one", 0.5, 0.4), (1, 0.1, 0.2), ("one", 0, np.inf), None])
def test_words_that_are_none_are_refused(word: Any) -> None:
    with pytest.raises(InputError, match="expected its text, and the seconds"):
        Waveform(TONE, RATE, (word,))
