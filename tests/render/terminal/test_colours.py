"""Painted cells: the palette in order, and digits that can be read."""

import re

import numpy as np
import pytest

from glassformer.render.terminal.colours import PALETTE, paint, paint_legend
from glassformer.render.terminal.heatmap import draw_weights

CODE = re.compile(r"\033\[48;5;(\d+);38;5;(\d+)m(.*?)\033\[0m")


def lightness(colour: int) -> float:
    """Relative luminance of a colour of the 6 × 6 × 6 cube (WCAG's formula), from 0 to 1."""
    levels = (0, 95, 135, 175, 215, 255)
    parts = [levels[(colour - 16) // step % 6] / 255 for step in (36, 6, 1)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_lightness_of_black_white_and_between() -> None:
    assert lightness(16) == 0
    assert lightness(231) == pytest.approx(1)
    assert lightness(196) == pytest.approx(0.2126)  # pure red


def test_more_weight_is_lighter_from_end_to_end() -> None:
    shades = [lightness(colour) for colour in PALETTE]
    assert shades == sorted(set(shades))


def test_a_cell_says_its_share_on_its_colour() -> None:
    assert paint(0.0) == "   "
    cells = [CODE.fullmatch(paint(weight)) for weight in (0.001, 0.049, 0.5, 0.999, 1.0)]
    assert [cell.group(3) for cell in cells if cell] == ["   ", "  5", " 50", "100", "100"]
    assert [int(cell.group(1)) for cell in cells if cell] == [
        *(PALETTE[0], PALETTE[0], PALETTE[5]),
        *(PALETTE[-1], PALETTE[-1]),
    ]


def test_digits_can_be_read_on_every_colour() -> None:
    for weight in np.linspace(0.01, 1, 100):
        cell = CODE.fullmatch(paint(float(weight)))
        assert cell is not None
        ground, digits = (lightness(int(cell.group(part))) for part in (1, 2))
        contrast = (max(ground, digits) + 0.05) / (min(ground, digits) + 0.05)
        assert contrast >= 4.5  # WCAG, normal text


def test_a_painted_heat_map_lines_up_with_its_keys() -> None:
    weights = np.array([[0.9, 0.1], [0.0, 1.0]])
    first, *rows = draw_weights(["I", "love"], ["我", "爱"], weights, colour=True).splitlines()
    assert first == "     我 爱"
    assert [CODE.sub(r"\3", row) for row in rows] == ["I     90 10", "love    100"]
    legend = CODE.sub(r"\3", paint_legend())
    assert legend.startswith("0 %" + " " * 32 + "100 %")
    assert len(legend) <= 80
