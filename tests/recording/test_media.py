"""Pictures and sounds beside tokens: checked, read-only, cut with their tokens."""

import pickle

import numpy as np
import pytest

from glassformer.errors import RecordingError
from glassformer.recording import Picture, Sound, SpokenWord, Tokens

PIXELS = np.arange(6 * 9 * 3, dtype=np.uint8).reshape(6, 9, 3)


def make_tokens(**media):
    return Tokens("source", ["[CLS]", "0,0", "0,1"], [0, 1, 2], **media)


def test_boxes_cover_the_picture_once():
    picture = Picture(PIXELS, rows=4, columns=2, cells=[-1, *range(8)])  # six pixels in four rows
    assert picture.find_box(0) is None
    covered = np.zeros(PIXELS.shape[:2], int)
    for token in range(1, 9):
        left, top, right, bottom = picture.find_box(token)
        covered[top:bottom, left:right] += 1
    assert (covered == 1).all()
    assert picture.find_box(4) == (4, 1, 9, 3)  # row 1, column 1


def test_a_slice_of_tokens_keeps_its_patches_and_frames():
    picture = Picture(PIXELS, 1, 2, [-1, 0, 1])
    sound = Sound(np.zeros(80, np.int16), 8000, [[-1, -1], [0, 0.005], [0.005, 0.01]])
    tokens = make_tokens(picture=picture, sound=sound).take(slice(1, 3))
    assert tokens.picture.cells.tolist() == [0, 1]
    assert np.shares_memory(tokens.picture.pixels, PIXELS)
    assert tokens.sound.spans.tolist() == [[0, 0.005], [0.005, 0.01]]
    again = pickle.loads(pickle.dumps(tokens))
    assert np.array_equal(again.picture.pixels, PIXELS)
    assert again.sound.seconds == 0.01


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pixels": PIXELS[..., :2]}, r"Expected axes \(height, width, colour 3\)"),
        ({"pixels": PIXELS / 255}, "Picture.pixels holds float64 values. Expected uint8"),
        ({"pixels": PIXELS.astype(np.int64)}, "Picture.pixels holds int64 values"),
        ({"pixels": PIXELS[:0]}, "A picture has 0 × 9 pixels"),
        ({"pixels": np.broadcast_to(np.uint8(0), (4097, 1024, 3))}, "A picture has 4097 × 1024 pixels"),
        ({"rows": 0}, "Picture.rows is 0. Expected a whole number from 1 to 6"),
        ({"rows": True}, "Picture.rows is True"),
        ({"columns": 10}, "Picture.columns is 10. Expected a whole number from 1 to 9"),
        ({"cells": [-2, 0]}, "Picture.cells is -2. Expected -1 for a token without a patch, or 0 to 1"),
        ({"cells": [0, 2]}, "Picture.cells is 2"),
        ({"cells": [0.5]}, "Picture.cells holds float64 values"),
    ],
)
def test_pictures_that_cannot_be(changes, message):
    with pytest.raises(RecordingError, match=message):
        Picture(**{"pixels": PIXELS, "rows": 1, "columns": 2, "cells": [0, 1]} | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"samples": np.zeros(0, np.int16)}, "A sound has 0 samples"),
        ({"samples": np.broadcast_to(np.int16(0), 1_440_001)}, "A sound has 1440001 samples"),
        ({"samples": np.zeros(8)}, "Sound.samples holds float64 values. Expected int16"),
        ({"rate": 0}, "Sound.rate is 0. Expected a whole number from 1 to 192000"),
        ({"rate": 1e4}, "Sound.rate is 10000.0"),
        ({"spans": [[0.2, 0.1]]}, r"Sound.spans is '\[0.2, 0.1\]'. Expected two seconds"),
        ({"spans": [[-1, 0.1]]}, "Sound.spans"),
        ({"spans": [[0, np.nan]]}, "Sound.spans"),
        ({"spans": [[0, np.inf]]}, "Sound.spans"),
        ({"spans": [0, 1]}, r"Expected axes \(token, end 2\)"),
        ({"words": ["one"]}, "Sound.words is 'one'. Expected SpokenWord"),
    ],
)
def test_sounds_that_cannot_be(changes, message):
    with pytest.raises(RecordingError, match=message):
        Sound(**{"samples": np.zeros(8, np.int16), "rate": 8000, "spans": [[0, 1]]} | changes)


@pytest.mark.parametrize("times", [(-1, 0), (1, 0.5), (0, np.nan), (0, "1"), (False, True)])
def test_words_are_spoken_at_some_time(times):
    with pytest.raises(RecordingError, match="Expected seconds from 0 up"):
        SpokenWord("one", *times)


def test_media_belong_to_as_many_tokens():
    with pytest.raises(RecordingError, match=r"Picture.cells has shape \(2,\). Expected axes \(token 3\)"):
        make_tokens(picture=Picture(PIXELS, 1, 2, [0, 1]))
    with pytest.raises(RecordingError, match=r"Sound.spans has shape \(1, 2\)"):
        make_tokens(sound=Sound(np.zeros(8, np.int16), 8000, [[0, 1]]))
    with pytest.raises(RecordingError, match=r"Tokens\.picture is 'x\.png'"):
        make_tokens(picture="x.png")
