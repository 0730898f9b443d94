"""Alignment: which words translate each other, read from cross-attention and compared with people's links.

In:   cross-attention maps of a translation (the gold target given to the decoder), and an AlignedPair.
Out:  links; alignment error rate, precision and recall (Och and Ney 2003); a diagonal to compare with.

    A links found, S sure, P possible:   precision |A & P| / |A|,   recall |A & S| / |S|,
    error 1 - (|A & S| + |A & P|) / (|A| + |S|)

Each target word is linked to the source word that the rows which write it look at most, sub-words rolled
up. Totals and counts add up, so `pool` gives the rates of a whole collection.
"""

from typing import Annotated, Literal

import numpy as np

from glassformer.errors import InputError
from glassformer.metrics.blocks import require_weights
from glassformer.metrics.gold import AlignedPair
from glassformer.metrics.metric import head_metric
from glassformer.metrics.parameters import About
from glassformer.metrics.scores import Rows, UndefinedError
from glassformer.metrics.words import match_words, roll_up_head
from glassformer.recording import AttentionMap
from glassformer.recording.axes import shift_tokens

Links = frozenset[tuple[int, int]]  # (source word, target word)

OLD_READINGS = {"predicted": "written", "entering": "entered"}  # names of version 0.1

Gold = Annotated[AlignedPair, About("metrics.parameters.gold")]
By = Annotated[Literal["attention", "diagonal"], About("metrics.parameters.by")]
Reading = Annotated[Literal["written", "entered"], About("metrics.parameters.reading", renamed=OLD_READINGS)]


@head_metric("alignment_error", unit="share", needs="weights")
def measure_error(
    attention_map: AttentionMap, *, gold: Gold, by: By = "attention", reading: Reading = "written"
) -> Rows:
    """The alignment error rate of links from cross-attention, against links that people made.

    AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), for links found A, sure S and possible P ⊇ S (Och and
    Ney 2003). Each target word is linked to the source word it looks at most.
    """
    found = _find_links(attention_map, gold, by, reading)
    counts = np.array([len(links) + len(gold.sure) for links in found])
    right = np.array([len(links & gold.sure) + len(links & gold.possible) for links in found])
    return Rows(counts - right, counts, "metrics.no_link")


@head_metric("alignment_precision", unit="share", needs="weights")
def measure_precision(
    attention_map: AttentionMap, *, gold: Gold, by: By = "attention", reading: Reading = "written"
) -> Rows:
    """The share of links from cross-attention that people found possible.

    |A ∩ P| / |A|.
    """
    found = _find_links(attention_map, gold, by, reading)
    right = np.array([len(links & gold.possible) for links in found])
    return Rows(right, np.array([len(links) for links in found]), "metrics.no_link_found")


@head_metric("alignment_recall", unit="share", needs="weights")
def measure_recall(
    attention_map: AttentionMap, *, gold: Gold, by: By = "attention", reading: Reading = "written"
) -> Rows:
    """The share of sure links, as people made them, that cross-attention finds.

    |A ∩ S| / |S|.
    """
    found = _find_links(attention_map, gold, by, reading)
    right = np.array([len(links & gold.sure) for links in found])
    return Rows(right, np.full(len(found), len(gold.sure)), "metrics.no_sure_link")


def align_head(attention_map: AttentionMap, head: int, gold: AlignedPair, reading: str = "written") -> Links:
    """Each target word with the source word that its rows (where it is written or entered) look at most."""
    keys = match_words(attention_map.key, gold.source)
    written = reading == "written" and bool(attention_map.query.special[0])  # behind a start token
    queries = match_words(shift_tokens(attention_map.query) if written else attention_map.query, gold.target)
    weights = roll_up_head(attention_map, head, queries, keys)  # (target word, source word)
    best = weights.argmax(axis=1)
    seen = weights.max(axis=1, initial=0.0) > 0
    return frozenset((int(best[word]), int(word)) for word in np.flatnonzero(seen))


def align_diagonally(source: int, target: int) -> Links:
    """Each of so many target words with the source word at the same part of its sentence."""
    return frozenset(((2 * word + 1) * source // (2 * target), word) for word in range(target) if source)


def _find_links(attention_map: AttentionMap, gold: AlignedPair, by: str, reading: str) -> list[Links]:
    """The links of every head."""
    if attention_map.kind != "cross":
        raise UndefinedError("metrics.no_links_in_self_attention")
    if attention_map.step is not None:
        raise UndefinedError("metrics.single_step")
    if not gold.source or not gold.target:
        raise InputError("metrics.empty_side")
    if by == "diagonal":
        return [align_diagonally(len(gold.source), len(gold.target))] * attention_map.heads
    require_weights(attention_map)
    return [align_head(attention_map, head, gold, reading) for head in range(attention_map.heads)]
