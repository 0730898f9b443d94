"""Colours of figures are those of the page."""

import colorsys
import re
from pathlib import Path

import numpy as np

from glassformer.render.figures import parts, style

WEB = Path(__file__).parents[3] / "web" / "src" / "marks" / "colours.ts"


def test_colours_are_those_of_the_page():
    light = re.search(r"SEQUENTIAL.*?light: \[(.*?)\n  \]", WEB.read_text(), re.DOTALL)[1]
    stops = [tuple(map(float, each.split(","))) for each in re.findall(r"\[([^\[\]]+)\]", light)]
    assert tuple(stops) == style._STOPS
    lightness = style.weight_colours() @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(lightness) < 0).all()


def test_signed_colours_have_the_hues_of_the_page():
    stops = re.search(r"DIVERGING.*?light: \[(.*?)\n  \]", WEB.read_text(), re.DOTALL)[1]
    low, _, high = [tuple(map(float, each.split(","))) for each in re.findall(r"\[([^\[\]]+)\]", stops)]
    figures = parts.choose_scale(1.0, signed=True).options["cmap"]
    for page, figure in ((low, figures(0.0)), (high, figures(1.0))):
        here, there = colorsys.rgb_to_hsv(*style.to_rgb(page))[0], colorsys.rgb_to_hsv(*figure[:3])[0]
        assert abs((here - there + 0.5) % 1 - 0.5) < 30 / 360, "one colour below zero, one above, everywhere"
