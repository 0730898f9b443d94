"""Relations of a tree in both directions, and mentions of the same thing."""

import numpy as np

from glassformer.corpus.atlas.detector import DETECTORS
from glassformer.corpus.atlas.texts import MarkedText
from glassformer.metrics.gold import Sentence, Word
from text_views import view_text

WORDS = (Word("cats", "NOUN", 1, "nsubj"), Word("eat", "VERB", -1, "root"), Word("fish", "NOUN", 1, "obj"))
TREE = MarkedText("cats eat fish", tree=Sentence("one", "cats eat fish", WORDS))


def pairs(mask) -> list[list[int]]:
    return np.argwhere(mask).tolist()


def test_relations_in_both_directions() -> None:
    view = view_text("cats eat fish", TREE)
    governors, dependents = (DETECTORS[family].find(view) for family in ("governor", "dependent"))
    assert pairs(governors["nsubj"]) == [[0, 1]]
    assert pairs(dependents["obj"]) == [[1, 2]]  # the verb looks at its object
    assert set(governors) == {"nsubj", "obj", "all"}


def test_a_text_without_a_tree_has_no_relations() -> None:
    assert DETECTORS["governor"].find(view_text("cats eat fish")) is None


def test_a_mention_looks_at_earlier_ones() -> None:
    text = MarkedText("Anna Lee said she won", mentions=(((0, 8), (14, 17)),))
    wanted = DETECTORS["coreference"].find(view_text(text.text, text))
    assert pairs(wanted) == [[3, 0], [3, 1]]
