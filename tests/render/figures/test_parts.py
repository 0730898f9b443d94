"""Texts of figures: tokens are never mathematics, captions speak the language that was asked for."""

from dataclasses import replace

import pytest
from matplotlib.text import Text

from drawings import make_recording, read_text
from glassformer.errors import InputError
from glassformer.render.figures import figure


@pytest.mark.slow
def test_dollar_signs_are_text():
    assert "$y_1$" in read_text(figure(make_recording(queries=("$y_1$",))))


@pytest.mark.parametrize("view", ["heatmap", "heads", "lines", "bars"])
@pytest.mark.parametrize("title", [None, "My title"])
@pytest.mark.slow
def test_figures_of_an_edited_model_say_so_above(view, title):
    plain = make_recording()
    assert not figure(plain, view, title=title).canvas.findobj(lambda each: each.get_gid() == "edited")
    edited = replace(plain, evidence=replace(plain.evidence, edits=("head 1 silenced",)))
    drawn = figure(edited, view, title=title).canvas
    (mark,) = drawn.findobj(lambda each: each.get_gid() == "edited")
    assert mark.get_text() == "Edited model: head 1 silenced"
    assert drawn.get_figheight() > figure(plain, view, title=title).canvas.get_figheight()


@pytest.mark.usefixtures("chinese_font")
@pytest.mark.parametrize("view", ["heatmap", "heads", "lines", "bars"])
@pytest.mark.slow
def test_figures_speak_chinese(view):
    drawn = figure(make_recording(), view, language="zh")
    texts = " ".join(text.get_text() for text in drawn.canvas.findobj(Text))
    assert "依据：" in texts
    assert "Evidence" not in texts
    with pytest.raises(InputError, match="language is 'tlh'"):
        figure(make_recording(), view, language="tlh")
