"""Resting places: heads that look at one key from everywhere, at delimiters, or at a language tag.

In:   a view of a text.
Out:  where such heads look. Chance is a query that looks everywhere alike.
"""

import numpy as np

from glassformer.corpus.atlas.detector import View, Wanted, detector
from glassformer.metrics.sinks import find_delimiters
from glassformer.text.languages import names_language


@detector("sink", kinds=("self", "cross"), null="uniform", threshold=0.5, rank=20, unit="column")
def find_sink(view: View) -> Wanted:
    """One key of the text, whichever it is, from every place."""
    return view.visible


@detector("delimiter", kinds=("self", "cross"), null="uniform", threshold=0.3, rank=40)
def find_stops(view: View) -> Wanted:
    """Punctuation and special tokens but the first."""
    stops = find_delimiters(view.key) & ~_find_tags(view)
    stops[:1] = False
    return np.broadcast_to(stops, view.visible.shape)


@detector("language_tag", kinds=("self", "cross"), null="uniform", threshold=0.3, rank=45)
def find_language_tag(view: View) -> Wanted:
    """The token that names the language to translate into."""
    return np.broadcast_to(_find_tags(view), view.visible.shape)


def _find_tags(view: View) -> np.ndarray:
    return view.key.special & np.array([names_language(text) for text in view.key.texts], dtype=bool)
