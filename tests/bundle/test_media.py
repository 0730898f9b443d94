"""Bundles with a picture or a sound come back whole; programs that cannot show them refuse them."""

from dataclasses import replace

import numpy as np
import pytest

from bundles import assert_same
from glassformer import bundle, from_arrays
from glassformer.bundle import layout
from glassformer.errors import BundleError
from glassformer.recording import Picture, Recording, Sound, SpokenWord, Tokens


def make_recording(**media) -> Recording:
    plain = from_arrays(np.eye(3)[None], ["a", "b", "c"])
    tokens = Tokens("source", ["[CLS]", "0,0", "0,1"], [0, 1, 2], **media)
    maps = tuple(replace(each, query=tokens, key=tokens) for each in plain.maps)
    return replace(plain, source=tokens, maps=maps)


def make_picture() -> Picture:
    return Picture(np.arange(24, dtype=np.uint8).reshape(2, 4, 3), 1, 2, [-1, 0, 1])


def make_sound() -> Sound:
    words = (SpokenWord("one", 0, 0.004), SpokenWord("two", 0.004, 0.01))
    return Sound(np.arange(-40, 40, dtype=np.int16), 8000, [[-1, -1], [0, 0.005], [0.005, 0.01]], words)


@pytest.mark.parametrize("media", [{"picture": make_picture()}, {"sound": make_sound()}])
def test_media_come_back(tmp_path, media):
    recording, path = make_recording(**media), tmp_path / "x.bundle"
    recording.save(path)
    again = Recording.open(path)
    assert_same(recording, again)
    assert again.maps[0].key.picture is again.source.picture


def test_older_programs_refuse_media_by_their_version(tmp_path, monkeypatch):
    plain, shown = tmp_path / "plain.bundle", tmp_path / "shown.bundle"
    make_recording().save(plain)
    make_recording(picture=make_picture()).save(shown)
    monkeypatch.setattr(layout, "READABLE", ("1", "2"))  # as they had it
    assert bundle.open(plain).source.picture is None
    with pytest.raises(BundleError, match="version"):
        bundle.open(shown)
