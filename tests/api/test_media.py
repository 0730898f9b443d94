"""Pictures and sound over HTTP: the very pixels and samples of the recording."""

import wave
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image

from glassformer.api.media import write_png
from glassformer.recording import Picture, Recording
from glassformer.render.html.export import list_paths
from inventions import invent_captioner, invent_listener, invent_tower


def add(site: Any, recording: Recording) -> str:
    return f"/api/recordings/{site.library.add(recording)}"


@pytest.mark.parametrize("shape", [(1, 1), (3, 257), (61, 40)])
def test_a_png_is_the_picture(shape: tuple[int, int]) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (*shape, 3), dtype=np.uint8)
    written = Image.open(BytesIO(write_png(Picture(pixels, 1, 1, np.array([0])))))
    assert (written.format, written.mode) == ("PNG", "RGB")
    np.testing.assert_array_equal(np.asarray(written), pixels)


def test_a_picture_and_where_its_tokens_lie(site: Any) -> None:
    recording = invent_captioner()
    here = add(site, recording)
    said = site.json(here)
    assert said["source"]["sound"] is None
    assert said["target"]["picture"] is None
    assert said["source"]["picture"] == {
        "rows": 3, "columns": 5, "width": 100, "height": 60, "cells": [-1, *range(15)],
    }  # fmt: skip
    answer = site.client.get(f"{here}/picture?side=source", headers={"accept-encoding": "zstd, gzip"})
    assert answer.headers["content-type"] == "image/png"
    assert "content-encoding" not in answer.headers  # it is compressed
    assert answer.headers["cache-control"].endswith("immutable")
    assert recording.source.picture is not None
    np.testing.assert_array_equal(
        np.asarray(Image.open(BytesIO(answer.content))), recording.source.picture.pixels
    )
    known = {"if-none-match": answer.headers["etag"], "accept-encoding": "zstd, gzip"}
    assert site.client.get(f"{here}/picture?side=source", headers=known).status_code == 304
    for path in ("/picture?side=target", "/sound"):
        assert site.refusal(here + path, 404)["code"] == ("no_sound" if "sound" in path else "no_picture")
    assert site.refusal(site.of("decoder") + "/picture", 404)["code"] == "no_picture"


def test_a_vision_tower_has_its_patches_and_its_picture(site: Any) -> None:
    recording = invent_tower()
    here = add(site, recording)
    said = site.json(here)
    assert said["source"]["picture"] is None
    assert said["part"]["side"] == "part"
    assert said["part"]["picture"]["cells"] == [-1, *range(15)]
    assert said["part2"] is None
    assert [each["key_side"] for each in said["maps"]] == ["part", "part", "source"]
    assert site.json(f"{here}/tokens/part")["texts"][:2] == ["[CLS]", "0,0"]
    answer = site.client.get(f"{here}/picture?side=part")
    assert answer.content == write_png(recording.maps[0].key.picture)
    assert site.client.get(f"{here}/tokens/part2").status_code == 404
    inside = {
        path.partition("/")[2]
        for path in list_paths(recording, "a", hidden=False, vectors=False, exact=False)
    }
    assert {"a/tokens/part", "a/picture?side=part"} <= inside


def test_a_sound_and_what_is_spoken_in_it(site: Any) -> None:
    recording = invent_listener()
    here = add(site, recording)
    said = site.json(here)["source"]["sound"]
    assert (said["rate"], said["seconds"], len(said["spans"])) == (8000, 1.0, 20)
    assert said["words"][1] == {"text": "six", "start": 0.6, "end": 0.9}
    with wave.open(BytesIO(site.client.get(f"{here}/sound").content)) as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) == (8000, 1, 2)
        samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
    assert recording.source.sound is not None
    np.testing.assert_array_equal(samples, recording.source.sound.samples)
