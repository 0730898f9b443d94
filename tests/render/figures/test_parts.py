"""Texts of figures: tokens are never mathematics, captions speak the language that was asked for."""

import pytest
from matplotlib.text import Text

from drawings import make_recording, read_text
from glassformer.errors import InputError
from glassformer.render.figures import figure


def test_dollar_signs_are_text():
    assert "$y_1$" in read_text(figure(make_recording(queries=("$y_1$",))))


@pytest.mark.usefixtures("chinese_font")
@pytest.mark.parametrize("view", ["heatmap", "heads", "lines", "bars"])
def test_figures_speak_chinese(view):
    drawn = figure(make_recording(), view, language="zh")
    texts = " ".join(text.get_text() for text in drawn.canvas.findobj(Text))
    assert "依据：" in texts
    assert "Evidence" not in texts
    with pytest.raises(InputError, match="language is 'tlh'"):
        figure(make_recording(), view, language="tlh")
