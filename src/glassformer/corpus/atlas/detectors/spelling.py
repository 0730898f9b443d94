"""Marks and pieces: heads that join the pieces of a word, or find the partner of a bracket or a quote.

In:   a view of a text.
Out:  where such heads look.
"""

from typing import NamedTuple

import numpy as np

from glassformer.corpus.atlas.detector import Mask, View, Wanted, detector

BRACKETS = {")": "(", "]": "[", "}": "{", "）": "（", "」": "「", "》": "《"}
QUOTATIONS = {'"': '"', "”": "“", "’": "‘", "»": "«"}


@detector("subword", null="shuffled", threshold=0.2, rank=55)
def find_pieces(view: View) -> Wanted:
    """The other pieces of the same word."""
    words = view.query.words
    if words is None or view.query is not view.key:
        return None
    alike = (words[:, None] == words[None, :]) & (words >= 0)[:, None]
    np.fill_diagonal(alike, False)
    return alike


def _find_bracket_rivals(view: View) -> tuple[Mask, ...]:
    return (_rival(view, BRACKETS),)


def _find_quotation_rivals(view: View) -> tuple[Mask, ...]:
    """Any other mark; and, of a mark that opens and closes, where it opens: those alike before it."""
    alike = np.zeros(view.visible.shape, dtype=bool)
    marks = _read_marks(view)
    for each in marks:
        if each.partner is None and each.mark in QUOTATIONS:
            alike[each.place, [one.place for one in marks if one.mark == each.mark]] = True
    return _rival(view, QUOTATIONS), np.tril(alike, -1)


@detector("bracket", null="shuffled", threshold=0.2, rank=65, probe="marks", rivals=_find_bracket_rivals)
def find_brackets(view: View) -> Wanted:
    """The bracket that a closing bracket closes, where another mark is nearer."""
    return _pair(view, BRACKETS)


@detector("quotation", null="shuffled", threshold=0.2, rank=65, probe="marks", rivals=_find_quotation_rivals)
def find_quotations(view: View) -> Wanted:
    """The quotation mark that a closing one closes, where another mark is nearer."""
    return _pair(view, QUOTATIONS)


class _Mark(NamedTuple):
    mark: str
    place: int
    partner: int | None  # the place of what it closes; None: it opens


def _read_marks(view: View) -> list[_Mark]:
    """Brackets and quotation marks; one that opens and closes closes if it can. Others close nothing."""
    partners = BRACKETS | QUOTATIONS
    found: list[_Mark] = []
    opened: list[_Mark] = []
    for place, text in enumerate(view.query.texts):
        mark = text.strip(" ▁Ġ")
        if opened and partners.get(mark) == opened[-1].mark:
            found.append(_Mark(mark, place, opened.pop().place))
        elif mark in partners.values():
            opened.append(_Mark(mark, place, None))
            found.append(opened[-1])
    return found


def _pair(view: View, partners: dict[str, str]) -> Mask:
    """Closing marks and what opened them, without those that a head finds that knows nothing of pairs.

    Such a head looks at the nearest mark, or at marks like the partner: there has to be another one of these.
    """
    wanted = np.zeros(view.visible.shape, dtype=bool)
    marks = _read_marks(view)
    for number, each in enumerate(marks):
        if each.partner is None or each.mark not in partners or marks[number - 1].place == each.partner:
            continue
        opening = [one.place for one in marks[:number] if one.mark == partners[each.mark]]
        wanted[each.place, each.partner] = len(opening) > 1
    return wanted


def _rival(view: View, partners: dict[str, str]) -> Mask:
    """The other marks, from closing marks that count."""
    wanted = _pair(view, partners)
    found = np.zeros_like(wanted)
    places = np.array([each.place for each in _read_marks(view)], dtype=np.int64)
    found[np.ix_(np.flatnonzero(wanted.any(axis=1)), places)] = True
    np.fill_diagonal(found, False)
    return found & ~wanted
