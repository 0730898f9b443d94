"""Alignment: which words translate each other, read from cross-attention and compared with people's links.

In:   cross-attention maps of a translation (the gold target given to the decoder), and an AlignedPair.
Out:  links; alignment error rate, precision and recall (Och and Ney 2003); a diagonal to compare with.

    A links found, S sure, P possible:   precision |A & P| / |A|,   recall |A & S| / |S|,
    error 1 - (|A & S| + |A & P|) / (|A| + |S|)

Each target word is linked to the source word it looks at most, sub-words rolled up. Totals and counts add up,
so `pool` gives the rates of a whole collection.
"""

from typing import Annotated, Literal

import numpy as np

from glassformer.errors import InputError
from glassformer.metrics.gold import AlignedPair
from glassformer.metrics.metric import head_metric
from glassformer.metrics.parameters import About
from glassformer.metrics.scores import Phrase, Rows, UndefinedError, Wording
from glassformer.metrics.words import match_words, roll_up_head
from glassformer.recording import AttentionMap

Links = frozenset[tuple[int, int]]  # (source word, target word)

Gold = Annotated[
    AlignedPair, About("the sentence pair with the links that people made", "句对及人工标注的对应关系")
]
By = Annotated[
    Literal["attention", "diagonal"],
    About("the head's links, or a diagonal to compare with", "用注意力头的对应关系，还是用作比较的对角线"),
]
Reading = Annotated[
    Literal["entering", "predicted"],
    About(
        "whether a word's row is where it enters the decoder, or where the decoder predicts it",
        "词所在的行：它进入解码器之处，还是解码器预测它之处",
    ),
]


@head_metric(
    "alignment_error",
    Wording(
        Phrase("Alignment error rate", "词对齐错误率"),
        "由交叉注意力得到的词对齐相对于人工对齐的错误率（AER）。",
        lower=Phrase("Lower means closer to the links that people made.", "越低的值代表越接近人工对齐。"),
        higher=Phrase("Near 1: hardly any link is right.", "接近 1：几乎没有正确的对齐。"),
    ),
    unit="share",
    needs="weights",
)
def measure_error(
    attention_map: AttentionMap, *, gold: Gold, by: By = "attention", reading: Reading = "entering"
) -> Rows:
    """The alignment error rate of links from cross-attention, against links that people made."""
    found = _find_links(attention_map, gold, by, reading)
    counts = np.array([len(links) + len(gold.sure) for links in found])
    right = np.array([len(links & gold.sure) + len(links & gold.possible) for links in found])
    return Rows(counts - right, counts, "There is no link to compare.")


@head_metric(
    "alignment_precision",
    Wording(
        Phrase("Alignment precision", "词对齐精确率"),
        "由交叉注意力得到的对齐中，人工认为可能的比例。",
        lower=Phrase("Near 0: hardly any link is possible.", "接近 0：几乎没有可能的对齐。"),
        higher=Phrase("Near 1: every link found is possible.", "接近 1：得到的对齐都是可能的。"),
    ),
    unit="share",
    needs="weights",
)
def measure_precision(
    attention_map: AttentionMap, *, gold: Gold, by: By = "attention", reading: Reading = "entering"
) -> Rows:
    """The share of links from cross-attention that people found possible."""
    found = _find_links(attention_map, gold, by, reading)
    right = np.array([len(links & gold.possible) for links in found])
    return Rows(right, np.array([len(links) for links in found]), "No link was found.")


@head_metric(
    "alignment_recall",
    Wording(
        Phrase("Alignment recall", "词对齐召回率"),
        "人工认为确定的对齐中，由交叉注意力找到的比例。",
        lower=Phrase("Near 0: sure links are missed.", "接近 0：漏掉了确定的对齐。"),
        higher=Phrase("Near 1: every sure link is found.", "接近 1：找到了所有确定的对齐。"),
    ),
    unit="share",
    needs="weights",
)
def measure_recall(
    attention_map: AttentionMap, *, gold: Gold, by: By = "attention", reading: Reading = "entering"
) -> Rows:
    """The share of sure links, as people made them, that cross-attention finds."""
    found = _find_links(attention_map, gold, by, reading)
    right = np.array([len(links & gold.sure) for links in found])
    return Rows(right, np.full(len(found), len(gold.sure)), "The pair has no sure link.")


def align_head(attention_map: AttentionMap, head: int, gold: AlignedPair, reading: str = "entering") -> Links:
    """Each target word with the source word that its row looks at most."""
    keys = match_words(attention_map.key, gold.source)
    queries = match_words(attention_map.query, gold.target)
    if reading == "predicted":  # the row before a token is where the decoder predicts it
        queries = np.append(queries[1:], -1)
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
        raise UndefinedError("Self-attention links no two texts.")
    if attention_map.step is not None:
        raise UndefinedError("A single generation step is no whole translation.")
    if not gold.source or not gold.target:
        raise InputError("A side of the pair has no words. Wanted some on both. Leave this pair out.")
    if by == "diagonal":
        return [align_diagonally(len(gold.source), len(gold.target))] * attention_map.heads
    if not attention_map.has_weights:
        raise UndefinedError("The map kept only statistics; record again with 'weights' in want=.")
    return [align_head(attention_map, head, gold, reading) for head in range(attention_map.heads)]
