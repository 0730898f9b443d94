"""Grammar: heads whose favourite word is the one that a relation or a pronoun points to (Clark et al. 2019).

In:   a view of a text whose tree, or whose mentions, somebody marked.
Out:  which words should look at which.
"""

import numpy as np

from glassformer.corpus.atlas.detector import Mask, View, Wanted, detector
from glassformer.metrics.dependencies import Direction, list_targets

EVERY = "all"


@detector("governor", null="shuffled", threshold=0.1, rank=70, unit="word", baseline="offset")
def find_governors(view: View) -> Wanted:
    """The word that a word depends on, relation by relation."""
    return _follow(view, "head")


@detector("dependent", null="shuffled", threshold=0.1, rank=70, unit="word", baseline="offset")
def find_dependents(view: View) -> Wanted:
    """A word that depends on a word, relation by relation."""
    return _follow(view, "dependent")


@detector(
    "coreference", null="shuffled", threshold=0.1, rank=75, unit="word", baseline="offset", probe="mentions"
)
def find_antecedents(view: View) -> Wanted:
    """An earlier mention of the same thing."""
    if view.query.side != "source":
        return None
    wanted = _make_mask(view)
    for chain in view.text.mentions:
        words = [_find_words(view, first, last) for first, last in sorted(chain)]
        for number, later in enumerate(words):
            for earlier in words[:number]:
                wanted[np.ix_(later, earlier)] = True
    return wanted


def _follow(view: View, direction: Direction) -> dict[str, Mask] | None:
    """One mask for each relation, without its subtypes."""
    if view.text.tree is None or view.query.side != "source":
        return None
    found = {}
    for relation, targets in list_targets(view.text.tree, direction).items():
        if ":" in relation or relation == "punct":
            continue
        found[relation] = mask = _make_mask(view)
        for word, keys in targets.items():
            mask[word, list(keys)] = True
    return found


def _find_words(view: View, first: int, last: int) -> list[int]:
    """The words that a part of the text touches."""
    if view.query.offsets is None:
        return []
    starts, ends = view.query.offsets.T
    return sorted({int(word) for word in view.query_words[(starts < last) & (ends > first)] if word >= 0})


def _make_mask(view: View) -> Mask:
    return np.zeros(view.word_count, dtype=bool)
