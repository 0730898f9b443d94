"""Text in the columns of a terminal; Chinese, Japanese and Korean characters take two.

In:   text, and how many columns there are.
Out:  its width; the same cut and filled; the same in several lines.
"""

import re

NARROWEST = 16  # columns that anything can be drawn in

_WIDE = "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
_OPENING, _CLOSING = "（《「『【", "，。；：！？、）》」』】…"  # at no end, at no start of a line
_PIECE = re.compile(rf"\s*[{_OPENING}]*(?:[^\s{_WIDE}]+|[{_WIDE}]|$)[{_CLOSING}]*")


def measure(text: str) -> int:
    """How many columns a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def fit(text: str, width: int) -> str:
    """Exactly `width` columns: cut, then filled with spaces."""
    if text.isascii():
        return text[:width].ljust(width)
    from rich.cells import set_cell_size

    return set_cell_size(text, width)


def wrap(text: str, columns: int, *, hanging: int = 0, indent: int = 0, separator: str = "") -> str:
    """A long line as several, the later ones indented by `hanging`.

    Lines end at blanks and between Chinese characters; with a separator, only there; or where they must.
    """
    columns = max(columns, NARROWEST)
    margin = " " * min(indent, columns // 4)
    if measure(margin + text) <= columns:
        return margin + text
    later = margin + " " * min(hanging, columns // 4)
    pieces = [separator + part for part in text.split(separator)] if separator else _PIECE.findall(text)
    lines: list[str] = []
    line = margin
    for piece in pieces:
        if line == margin and not lines:
            piece = piece.removeprefix(separator) if separator else piece
        elif measure(line + piece) > columns:
            lines.append(line)
            line, piece = later, piece.lstrip()
        *full, rest = _chop(piece, columns - measure(line), columns - len(later))
        for part in full:
            lines.append(line + part)
            line = later
        line += rest
    return "\n".join([*lines, line])


def _chop(text: str, first: int, others: int) -> list[str]:
    """Pieces no wider than this: for what has no place to be cut at."""
    pieces, width = [text], first
    while measure(pieces[-1]) > max(width, 2):
        count = len(fit(pieces[-1], max(width, 2)).rstrip())
        pieces[-1:] = [pieces[-1][:count], pieces[-1][count:]]
        width = others
    return pieces
