"""Views of small texts, for tests of detectors."""

from typing import Any

import numpy as np

from glassformer.corpus.atlas.detector import DETECTORS, View
from glassformer.corpus.atlas.texts import MarkedText
from glassformer.recording import Tokens


def make_tokens(texts: str, side: str = "source", special: tuple[int, ...] = (), words: Any = None) -> Tokens:
    """Tokens with a blank between; equal ones have equal ids."""
    pieces = texts.split(" ")
    known: dict[str, int] = {}
    ends = np.cumsum([len(piece) + 1 for piece in pieces]) - 1
    return Tokens(
        side,  # type: ignore[arg-type]
        tuple(pieces),
        np.array([known.setdefault(piece, len(known)) for piece in pieces]),
        np.stack([ends - [len(piece) for piece in pieces], ends], axis=1),
        texts,
        np.isin(np.arange(len(pieces)), special),
        np.arange(len(pieces)) if words is None else np.array(words),
    )


def view_text(texts: str, text: MarkedText | None = None, *, causal: bool = True, **about: Any) -> View:
    """A text that looks at itself."""
    tokens = make_tokens(texts, **about)
    count = len(tokens)
    visible = np.tri(count, dtype=bool) if causal else np.ones((count, count), dtype=bool)
    words = np.where(tokens.special, -1, np.cumsum(~tokens.special) - 1)
    return View("self", tokens, tokens, visible, words, words, text or MarkedText(texts))


def find(family: str, view: View, detail: str | None = None) -> list[tuple[int, int]]:
    """The pairs (query, key) that a detector wants."""
    wanted = DETECTORS[family].find(view)
    if wanted is None:
        return []
    mask = wanted if detail is None else wanted[detail]
    return [tuple(pair) for pair in np.argwhere(mask & view.visible[: len(mask), : len(mask[0])]).tolist()]
