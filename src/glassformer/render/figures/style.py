"""How figures look: the page's colours, small sans-serif type, thin lines, no ornaments.

In:   nothing.
Out:  matplotlib settings, the colour table of weights and the colours of heads.

The colours are those of the page (web/src/marks/colours.ts), light theme; a test holds both equal.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

COLUMN, PAGE = 3.4, 7.0  # inches: one column, a whole page
TEXT = 7.0  # points
CAPTION = 0.79  # of the text's size
WARNING = "#b3261e"

# Sizes of type are relative to font.size, so that a reader's own font.size changes all of them.
SETTINGS: Mapping[str, Any] = {
    "font.size": TEXT,
    "axes.titlesize": "medium",
    "axes.labelsize": "medium",
    "xtick.labelsize": "small",
    "ytick.labelsize": "small",
    "legend.fontsize": "small",
    "figure.titlesize": "medium",
    "legend.frameon": False,
    "axes.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.size": 2.0,
    "ytick.major.size": 2.0,
    "lines.linewidth": 0.9,
    "svg.fonttype": "path",  # right on machines without the fonts
    "pdf.fonttype": 42,  # real fonts, as publishers ask for
    "svg.hashsalt": "glassformer",  # the same figure is the same file
    "axes.unicode_minus": False,
    "text.parse_math": False,  # a token may hold dollar signs
}

REQUIRED = ("svg.hashsalt", "axes.unicode_minus", "text.parse_math")  # not a matter of taste


def choose_settings(current: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Our settings, but what a person has changed in matplotlib's (`rcParams`) stays as it is."""
    return {
        name: value for name, value in SETTINGS.items() if name in REQUIRED or current[name] == usual[name]
    }


Lch = tuple[float, float, float]  # OKLCh: lightness, chroma, hue in degrees
_STOPS: tuple[Lch, ...] = (
    (0.985, 0.006, 220),
    (0.9, 0.045, 222),
    (0.74, 0.11, 238),
    (0.58, 0.16, 262),
    (0.42, 0.19, 281),
    (0.25, 0.13, 290),
)
_HEADS = 12
_TURN = 150


def weight_colours(count: int = 256) -> NDArray[np.float64]:
    """(colour, 3) from nothing to everything; lightness falls evenly, chroma and hue follow the stops."""
    lightness, chroma, hue = np.array(_STOPS).T
    places, stops = np.linspace(0, 1, count), np.linspace(0, 1, len(_STOPS))
    evenly = np.linspace(lightness[0], lightness[-1], count)
    colours = zip(evenly, np.interp(places, stops, chroma), np.interp(places, stops, hue), strict=True)
    return np.array([to_rgb(colour) for colour in colours])


def head_colour(head: int) -> tuple[float, float, float]:
    """The colour of a head, the same in every picture."""
    turn, place = divmod(head, _HEADS)
    hue = (255 + place * _TURN + turn * 13) % 360
    lightness = 0.55 + (0.0, 0.09, -0.06)[place % 3]
    return to_rgb((lightness, max(0.05, 0.15 - 0.03 * (turn % 4)), hue))


def to_rgb(colour: Lch) -> tuple[float, float, float]:
    """OKLCh to sRGB (B. Ottosson 2020); chroma that cannot be shown is taken back, lightness and hue stay."""
    lightness, chroma, hue = colour
    low, high = 0.0, chroma
    if _shows(_linear(lightness, chroma, hue)):
        low = chroma
    else:
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (middle, high) if _shows(_linear(lightness, middle, hue)) else (low, middle)
    red, green, blue = (_companded(part) for part in _linear(lightness, low, hue))
    return red, green, blue


def _linear(lightness: float, chroma: float, hue: float) -> tuple[float, float, float]:
    angle = math.radians(hue)
    a, b = chroma * math.cos(angle), chroma * math.sin(angle)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )


def _shows(parts: tuple[float, float, float]) -> bool:
    return all(-1e-6 <= part <= 1 + 1e-6 for part in parts)


def _companded(part: float) -> float:
    part = min(max(part, 0.0), 1.0)
    return 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
