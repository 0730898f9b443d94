"""A table of keys and values, and a question: hard attention, the k best keys, soft attention.

In:   a question, how many keys may answer.
Out:  scores, weights, and the mixture of values. A key is the bag of its characters: q·k counts shared ones.
"""

import torch
from torch import Tensor

from glassformer.lessons.outcome import Models, Outcome, Words, bilingual, percent, plain, say, series
from glassformer.lessons.schema import Bars, Table
from glassformer.model.similarity import dot, hard
from glassformer.schema import Phrase

TABLE = (  # key, value, and both in English
    ("段誉的招牌武功", "六脉神剑", "Duan Yu's signature art", "Six Meridians Divine Sword"),
    ("段誉的生父", "段延庆", "Duan Yu's father by birth", "Duan Yanqing"),
    ("段誉的结拜兄弟", "乔峰和虚竹", "Duan Yu's sworn brothers", "Qiao Feng and Xuzhu"),
    ("乔峰的招牌武功", "降龙十八掌", "Qiao Feng's signature art", "Eighteen Dragon-Subduing Palms"),
)
GIVEN = (7.0, 1.0, 9.0, 5.0)


def play(words: Words, models: Models) -> Outcome:  # noqa: ARG001
    """Ask the table."""
    given = words.text("scores") == "given"
    scores = torch.tensor(GIVEN) if given else score(words.text("question"))
    count = words.integer("keys")
    weights = hard((scores / words.number("temperature"))[None], count)[0]
    keys = [entry[0] for entry in TABLE]
    table = Table(
        id="table",
        title=say("lessons.lookup.table_how_much_each"),
        note=bilingual(f"Taken home: {_mix(weights, 3)}", f"带回的结果：{_mix(weights, 1)}"),
        columns=(
            say("lessons.lookup.key"),
            say("lessons.lookup.score"),
            say("lessons.lookup.weight_2"),
            say("lessons.lookup.value"),
        ),
        rows=tuple(
            (
                bilingual(f"{key} ({english})", key),
                plain(float(scores[i])),
                plain(float(weights[i])),
                bilingual(f"{value} ({meaning})", value),
            )
            for i, (key, value, english, meaning) in enumerate(TABLE)
        ),
        marked=tuple(i for i in range(len(TABLE)) if weights[i] > 0),
    )
    bars = Bars(
        id="weights",
        title=say("lessons.lookup.weights"),
        labels=tuple(keys),
        value_title=say("lessons.lookup.weight"),
        series=(series(say("lessons.lookup.weight"), weights),),
        high=1.0,
    )
    return Outcome(_find(scores, weights, count), (table, bars))


def score(question: str) -> Tensor:
    """q·k of the question with each key: how many characters they share. (key,)"""
    alphabet = sorted(set("".join(entry[0] for entry in TABLE)))
    keys = torch.tensor([[float(letter in entry[0]) for letter in alphabet] for entry in TABLE])
    query = torch.tensor([[float(letter in question) for letter in alphabet]])
    return dot(query, keys)[0]


def _mix(weights: Tensor, column: int) -> str:
    """The values, each with its weight."""
    return " + ".join(
        f"{share:.2f}·{TABLE[key][column]}" for key, share in enumerate(weights.tolist()) if share > 0
    )


def _find(scores: Tensor, weights: Tensor, count: int) -> Phrase:
    """What the weights say. Keys that fit equally well are named, and no more is said of them than that."""
    best, keys = int(weights.argmax()), [entry[0] for entry in TABLE]
    share, highest = percent(float(weights[best])), float(scores.max())
    tied = [place for place, score in enumerate(scores.tolist()) if score == highest]
    english = [f"“{TABLE[place][2]}”" for place in tied]
    named = "、".join(f"“{keys[place]}”" for place in tied)
    if len(tied) == len(keys):
        return say("lessons.lookup.no_key_fits_better", highest=highest)
    if count < len(tied):
        return bilingual(
            f"{len(tied)} keys fit equally well ({', '.join(english)}), and {count} of them may answer: "
            "which, is arbitrary, and the rest is not heard.",
            f"有 {len(tied)} 个键同样合适（{named}），却只有 {count} 个可以回答：选中哪个都没有道理，"
            "其余的都听不到。",
        )
    if count == 1:
        return bilingual(
            f"Hard attention: only “{TABLE[best][2]}” answers, with {TABLE[best][1]} ({TABLE[best][3]}); the "
            "rest is not heard.",
            f"硬注意力：只有“{keys[best]}”回答，得到“{TABLE[best][1]}”，其余的都听不到。",
        )
    if len(tied) > 1:
        return bilingual(
            f"{' and '.join(english)} fit equally well ({share} each): a mixture has them all.",
            f"{named}同样合适（各占 {share}）：加权混合里全都有。",
        )
    name = "Soft attention" if count == len(TABLE) else f"The {count} best keys"
    chinese = "软注意力" if count == len(TABLE) else f"最好的 {count} 个键"
    return bilingual(
        f"{name}: “{TABLE[best][2]}” has the largest weight ({share}); the answer is a mixture of {count} "
        "values.",
        f"{chinese}：“{keys[best]}”权重最大（{share}），答案是 {count} 个值的加权混合。",
    )
