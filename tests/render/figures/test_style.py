"""Colours of figures are those of the page."""

import re
from pathlib import Path

import numpy as np

from glassformer.render.figures import style

WEB = Path(__file__).parents[3] / "web" / "src" / "marks" / "colours.ts"


def test_colours_are_those_of_the_page():
    light = re.search(r"SEQUENTIAL.*?light: \[(.*?)\n  \]", WEB.read_text(), re.DOTALL)[1]
    stops = [tuple(map(float, each.split(","))) for each in re.findall(r"\[([^\[\]]+)\]", light)]
    assert tuple(stops) == style._STOPS
    lightness = style.weight_colours() @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(lightness) < 0).all()
