"""Translation: heads of cross-attention that look at the word they translate, or copy.

In:   a view of a text and its translation.
Out:  which source words each written word should look at.
"""

import numpy as np

from glassformer.corpus.atlas.detector import View, Wanted, detector
from glassformer.metrics.sinks import is_punctuation


@detector(
    "alignment", kinds=("cross",), null="shuffled", threshold=0.1, rank=70, unit="word", baseline="diagonal"
)
def find_links(view: View) -> Wanted:
    """The source words that people linked with the word that is written."""
    if view.text.links is None:
        return None
    wanted = np.zeros(view.word_count, dtype=bool)
    for source, target in view.text.links.possible:
        wanted[target, source] = True
    return wanted


@detector(
    "alignment_entered",
    kinds=("cross",),
    null="shuffled",
    threshold=0.1,
    rank=70,
    unit="word",
    baseline="diagonal",
    entered=True,
)
def find_links_of_entered(view: View) -> Wanted:
    """The source words of the word that was read last: many translators look there one step late."""
    return find_links(view)


@detector("copying", kinds=("cross",), null="shuffled", threshold=0.2, rank=60)
def find_copies(view: View) -> Wanted:
    """The same piece of text in the source: names and numbers that are copied."""
    words = np.array([_read(text) for text in view.query.texts])
    sources = np.array([_read(text) for text in view.key.texts])
    special = view.query.special[:, None] | view.key.special[None, :]
    return (words[:, None] == sources[None, :]) & (words != "")[:, None] & ~special


def _read(text: str) -> str:
    """A piece that could be copied; nothing for punctuation."""
    seen = text.strip(" ▁Ġ")
    return "" if is_punctuation(seen) else seen
