"""Tokens for the eye: blanks, line ends and control characters as marks that can be seen.

In:   the text of a token, of any script.
Out:  the same text with ␣ for a leading or trailing blank, ⏎ for a line end, ⇥ for a tab, ‹U+202E› for what
      has no shape or would turn the line around.
"""

import unicodedata

_MARKS = {" ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥", "\u00a0": "⍽", "\u3000": "␣"}
_JOINERS = "\u200c\u200d"  # they shape letters and join emoji: part of the word
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def make_visible(text: str) -> str:
    """The text with everything invisible marked; blanks inside stay blanks."""
    core = text.strip(" ")
    if not core:
        return _MARKS[" "] * len(text) if text else "∅"
    left = len(text) - len(text.lstrip(" "))
    right = len(text) - len(text.rstrip(" "))
    return _MARKS[" "] * left + "".join(_mark(letter, core) for letter in core) + _MARKS[" "] * right


def _mark(letter: str, text: str) -> str:
    if letter in _MARKS:
        return letter if letter == " " else _MARKS[letter]
    if letter in _JOINERS:
        return letter if len(text) > 1 else f"‹U+{ord(letter):04X}›"
    if unicodedata.category(letter) in _HIDDEN:
        return f"‹U+{ord(letter):04X}›"
    return letter


def make_excerpt(text: str, length: int) -> str:
    """The beginning of a text on one line, cut at a blank where there is one."""
    line = " ".join(text[: 4 * length].split())
    shown = "".join(_mark(letter, line) for letter in line)
    if len(shown) <= length:
        return shown
    cut = shown[:length]
    word = cut.rfind(" ")
    return (cut[:word] if word > length // 2 else cut).rstrip() + " …"
