"""Colours of a terminal: the cells of a heat map, painted with 256-colour codes.

In:   a weight from 0 to 1.
Out:  three characters: the share in percent on a background that is lighter for larger weights. The palette
      differs in lightness, and numbers are printed: it can be read without telling hues apart.
"""

from glassformer.messages import message

PALETTE = (17, 54, 90, 126, 161, 203, 209, 215, 222, 229)  # xterm colours, from deep blue to pale yellow
_DARK, _LIGHT = 16, 231  # of the digits: black, white
_FIRST_PALE = 203  # the first colour of the palette on which black digits are easier to read
_RESET = "\033[0m"


def paint(weight: float) -> str:
    """The cell of one weight; exactly zero has no colour, and below half a percent there is no number."""
    if weight <= 0:
        return "   "
    step = min(int(weight * len(PALETTE)), len(PALETTE) - 1)
    percent = f"{100 * weight:3.0f}"
    return _colour("   " if percent == "  0" else percent, step)


def paint_legend() -> str:
    """One cell of each colour, and what its ends mean."""
    cells = "".join(_colour("   ", step) for step in range(len(PALETTE)))
    return f"0 % {cells} 100 %   {message('render.colour_legend')}"


def _colour(text: str, step: int) -> str:
    ground = PALETTE[step]
    digits = _DARK if step >= PALETTE.index(_FIRST_PALE) else _LIGHT
    return f"\033[48;5;{ground};38;5;{digits}m{text}{_RESET}"
