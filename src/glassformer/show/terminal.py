"""Attention in a terminal: heat maps made of shaded blocks, a first look that needs no browser.

In:   labels and numbers of a recording.
Out:  plain text, no colour codes; wide (Chinese, Japanese, Korean) characters are counted as two.
"""

import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

CELL = 3  # characters per column of a heat map
LEGEND = "weight:  · under 5 %   ░ under 20 %   ▒ under 40 %   ▓ under 70 %   █ 70 % and more"
_BOUNDS = (0.0, 0.05, 0.2, 0.4, 0.7)
_SHADES = " ·░▒▓█"  # one more than bounds: exactly nothing is blank


def measure(text: str) -> int:
    """How many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    marks = sum(unicodedata.combining(character) > 0 for character in text)
    return len(text) + wide - marks


def fit(text: str, width: int) -> str:
    """Exactly `width` columns: cut, then filled with spaces."""
    printable = "".join(character if character.isprintable() else "␣" for character in text)
    while measure(printable) > width:
        printable = printable[:-1]
    return printable + " " * (width - measure(printable))


def shade(weight: float) -> str:
    """The block for one weight; see LEGEND."""
    return _SHADES[int(np.searchsorted(_BOUNDS, weight, side="left" if weight <= 0 else "right"))]


def draw_weights(
    queries: Sequence[str], keys: Sequence[str], weights: NDArray[np.floating], *, columns: int = 80
) -> str:
    """One head's weights (query, key): a row for who looks, a column for who is looked at.

    What does not fit into `columns` is left out, and the last line says how much.
    """
    margin = min(max([measure(query) for query in queries], default=0) + 1, 18)
    shown = max((columns - margin) // CELL, 1)
    lines = [" " * margin + "".join(fit(fit(key.strip(), CELL - 1), CELL) for key in keys[:shown])]
    for query, row in zip(queries[:shown], weights[:shown], strict=True):
        lines.append(fit(query, margin) + "".join(shade(float(weight)) * CELL for weight in row[:shown]))
    if max(len(queries), len(keys)) > shown:
        lines.append(f"(the first {shown} tokens of {len(queries)} × {len(keys)})")
    return "\n".join(line.rstrip() for line in lines)


def draw_table(rows: Sequence[str], columns: Sequence[str], values: NDArray[np.floating]) -> str:
    """Numbers (row, column) to one decimal place, under and beside their names."""
    margin = max(measure(row) for row in rows) + 1
    lines = [" " * margin + "".join(f"{column:>7}" for column in columns)]
    lines += [
        fit(name, margin) + "".join(f"{value:7.1f}" for value in row)
        for name, row in zip(rows, values, strict=True)
    ]
    return "\n".join(lines)
