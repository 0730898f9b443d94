"""A table of keys and values, and a question: hard attention, the k best keys, soft attention.

In:   a question, how many keys may answer.
Out:  scores, weights, and the mixture of values. A key is the set of its characters and, for questions in
      English, of its English words: q·k counts shared ones.
"""

import re

import torch
from torch import Tensor

from glassformer.lessons.figures import chain, percent, round_number, series
from glassformer.lessons.run import Inputs, Result
from glassformer.lessons.schema import Bars, Table
from glassformer.messages import Message, message
from glassformer.model.similarity import dot, hard

KEYS = {  # by their names in the catalogues, which have the values, too: in Chinese, in English
    "own_art": ("段誉的招牌武功", "Duan Yu's signature art"),
    "father": ("段誉的生父", "Duan Yu's father by birth"),
    "brothers": ("段誉的结拜兄弟", "Duan Yu's sworn brothers"),
    "brothers_art": ("乔峰的招牌武功", "Qiao Feng's signature art"),
}
GIVEN = (7.0, 1.0, 9.0, 5.0)


def compute(inputs: Inputs) -> Result:
    """Ask the table."""
    given, question = inputs.text("scores") == "given", inputs.text("question")
    scores = torch.tensor(GIVEN) if given else score(question)
    chinese, english = zip(*KEYS.values(), strict=True)
    count = inputs.integer("keys")
    weights = hard((scores / inputs.number("temperature"))[None], count)[0]
    terms = [
        message("lessons.lookup.term", share=share, value=message(f"lessons.lookup.value.{name}"))
        for name, share in zip(KEYS, weights.tolist(), strict=True)
        if share > 0
    ]
    table = Table(
        id="table",
        title=message("lessons.lookup.table"),
        note=message("lessons.lookup.taken", mixture=chain("lessons.lookup.sum", terms)),
        columns=(
            message("lessons.lookup.key_column"),
            message("lessons.lookup.score_column"),
            message("lessons.lookup.weight_column"),
            message("lessons.lookup.value_column"),
        ),
        rows=tuple(
            (
                message(f"lessons.lookup.key_cell.{name}"),
                round_number(float(scores[i])),
                round_number(float(weights[i])),
                message(f"lessons.lookup.value_cell.{name}"),
            )
            for i, name in enumerate(KEYS)
        ),
        marked=tuple(i for i in range(len(KEYS)) if weights[i] > 0),
    )
    bars = Bars(
        id="weights",
        title=message("lessons.lookup.weights"),
        labels=english if question.isascii() else chinese,
        value_title=message("lessons.lookup.weight"),
        series=(series("lessons.lookup.weight", weights),),
        high=1.0,
    )
    return Result(_find(scores, weights, count), (table, bars))


def read_features(text: str) -> set[str]:
    """Single Chinese characters, and English words of at least two letters."""
    return set(re.findall(r"[一-鿿]|[a-z]{2,}", text.lower()))


def score(question: str) -> Tensor:
    """q·k of the question with each key: how many characters or words they share. (key,)"""
    keys = [read_features(" ".join(key)) for key in KEYS.values()]
    alphabet, asked = sorted(set().union(*keys)), read_features(question)
    table = torch.tensor([[float(feature in key) for feature in alphabet] for key in keys])
    return dot(torch.tensor([[float(feature in asked) for feature in alphabet]]), table)[0]


def _find(scores: Tensor, weights: Tensor, count: int) -> Message:
    """What the weights say. Keys that fit equally well are named, and no more is said of them than that."""
    share, highest = percent(float(weights.max())), float(scores.max())
    best = list(KEYS)[int(weights.argmax())]
    key = message(f"lessons.lookup.key.{best}")
    tied = [
        message("lessons.lookup.quoted", key=message(f"lessons.lookup.key.{name}"))
        for name, score in zip(KEYS, scores.tolist(), strict=True)
        if score == highest
    ]
    if len(tied) == len(KEYS):
        return message("lessons.lookup.all_tied", highest=highest)
    if count < len(tied):
        return message("lessons.lookup.more_tied_than_asked", tied=len(tied), keys=tied, count=count)
    if count == 1:
        return message("lessons.lookup.hard", key=key, value=message(f"lessons.lookup.value_cell.{best}"))
    if len(tied) > 1:
        return message("lessons.lookup.tied", keys=tied, share=share)
    kind = message("lessons.lookup.soft" if count == len(KEYS) else "lessons.lookup.best_keys", count=count)
    return message("lessons.lookup.mixture", kind=kind, key=key, share=share, count=count)
