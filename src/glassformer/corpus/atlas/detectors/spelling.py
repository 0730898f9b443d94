"""Marks and pieces: heads that join the pieces of a word, or find the partner of a bracket or a quote.

In:   a view of a text.
Out:  where such heads look.
"""

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


@detector("bracket", null="shuffled", threshold=0.2, rank=65, probe="marks")
def find_brackets(view: View) -> Wanted:
    """The bracket that a closing bracket closes."""
    return _pair(view, BRACKETS)


@detector("quotation", null="shuffled", threshold=0.2, rank=65, probe="marks")
def find_quotations(view: View) -> Wanted:
    """The quotation mark that a closing one closes."""
    return _pair(view, QUOTATIONS)


def _pair(view: View, partners: dict[str, str]) -> Mask:
    """Closing marks and what opened them, nested ones too; a mark that opens and closes closes if it can."""
    wanted = np.zeros(view.visible.shape, dtype=bool)
    opened: list[tuple[str, int]] = []
    for place, text in enumerate(view.query.texts):
        mark = text.strip(" ▁Ġ")
        partner = partners.get(mark)
        if partner is not None and opened and opened[-1][0] == partner:
            wanted[place, opened.pop()[1]] = True
        elif mark in partners.values():
            opened.append((mark, place))
    return wanted
