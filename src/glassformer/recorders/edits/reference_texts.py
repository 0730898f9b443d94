"""Sentences that come with Glassformer, over which a mean ablation averages where no texts are given.

In:   the text that is recorded.
Out:  the sentences of its language, as far as its script tells: Chinese or English.
"""

import re
from typing import NamedTuple

from glassformer.messages import Message, message

_CHINESE = re.compile(r"[\u4e00-\u9fff]")

ENGLISH = (
    "The train to the coast leaves at half past seven.",
    "She put the letter on the table and went out without a word.",
    "Two children were playing with a ball in front of the house.",
    "I do not know why he never answered my question.",
    "The old bridge was closed because the river had risen.",
    "When the film was over, nobody wanted to go home.",
    "This shop sells bread, cheese and a few vegetables.",
    "Our teacher asked us to read the first chapter again.",
    "It was a cold morning, and the windows were white with frost.",
    "If you turn left at the church, you will see the station.",
    "The doctor said that the patient would soon be well.",
    "Few people have seen this painting, although it is famous.",
)
CHINESE = (
    "开往海边的火车七点半出发。",
    "她把信放在桌上，什么也没说就出去了。",
    "两个孩子在房子前面玩球。",
    "我不知道他为什么从来不回答我的问题。",
    "因为河水上涨，旧桥已经关闭。",
    "电影结束以后，谁也不想回家。",
    "这家商店卖面包、奶酪和一些蔬菜。",
    "老师让我们把第一章再读一遍。",
    "那是一个寒冷的早晨，窗户上结了白霜。",
    "你在教堂那里向左转，就能看到车站。",
    "医生说病人很快就会好起来。",
    "这幅画虽然有名，但是看过的人很少。",
)


class Sentences(NamedTuple):
    """A reference set with its name."""

    code: str  # of its name, for evidence
    texts: tuple[str, ...]

    def as_message(self) -> Message:
        """Its name."""
        return message(self.code, count=len(self.texts))


def choose_sentences(text: str) -> Sentences:
    """The sentences in the script of a text."""
    if _CHINESE.search(text):
        return Sentences("recorders.edits.sentences_zh", CHINESE)
    return Sentences("recorders.edits.sentences_en", ENGLISH)
