"""Attention on a picture as a figure: the colour of a patch is its number."""

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.render.figures import figure
from inventions import invent_captioner, invent_decoder


def meshes(drawn):
    return [each.collections[0] for each in drawn.canvas.axes if each.collections and each.images]


@pytest.mark.slow
def test_each_word_has_its_patches():
    recording = invent_captioner()
    drawn = figure(recording, "picture", place="decoder.cross.0", head=1, language="en")
    shown = np.stack([mesh.get_array() for mesh in meshes(drawn)])
    np.testing.assert_array_equal(shown, recording.maps[3].weights(1)[:, 1:].reshape(4, 3, 5))
    names = [each.get_title(loc="center") for each in drawn.canvas.axes if each.images]
    assert names[:3] == ["a", "red", "car"]
    assert "when it writes each word" in drawn.caption
    corners = meshes(drawn)[0].get_coordinates()  # in pixels of the picture
    assert corners[1, 2].tolist() == [40, 20]


def test_each_head_shows_where_the_class_token_looks():
    recording = invent_captioner()
    drawn = figure(recording, "picture", place="encoder.self.1", language="en")
    shown = [mesh.get_array() for mesh in meshes(drawn)]
    for head, grid in enumerate(shown):
        np.testing.assert_array_equal(grid, recording.maps[1].weights(head)[0, 1:].reshape(3, 5))
    assert len(shown) == 3
    assert "Where [CLS] looks" in drawn.caption


def test_without_patches_it_is_refused():
    with pytest.raises(InputError, match="are not patches of a picture"):
        figure(invent_captioner(), "picture", place="decoder.self.0")
    with pytest.raises(InputError, match="are not patches of a picture"):
        figure(invent_decoder(), "picture")
    with pytest.raises(InputError, match="This view shows one head"):
        figure(invent_captioner(), "picture", place="decoder.cross.0", head=[0, 1])
