"""Links that people made, and pieces that are copied."""

import numpy as np

from glassformer.corpus.atlas.detector import DETECTORS, View
from glassformer.corpus.atlas.measuring import find_aims, measure
from glassformer.corpus.atlas.texts import MarkedText, from_pair
from glassformer.metrics.gold import AlignedPair
from text_views import make_tokens

PAIR = AlignedPair(("Tom", "sleeps", "."), ("Tom", "dort", "."), frozenset({(0, 0)}), frozenset({(1, 1)}))


def view_pair(text: MarkedText) -> View:
    query = make_tokens("Tom dort . </s>", "target", special=(3,))
    key = make_tokens(">>fr<< Tom sleeps .", special=(0,))
    words, sources = np.array([0, 1, 2, -1]), np.array([-1, 0, 1, 2])
    return View("cross", query, key, np.ones((4, 4), dtype=bool), words, sources, text)


def test_written_words_look_at_what_people_linked() -> None:
    assert np.argwhere(DETECTORS["alignment"].find(view_pair(from_pair(PAIR)))).tolist() == [[0, 0], [1, 1]]
    assert DETECTORS["alignment"].find(view_pair(MarkedText("Tom"))) is None


def test_a_head_may_look_at_the_source_of_the_word_that_was_read_last() -> None:
    view = view_pair(from_pair(PAIR))  # rows write "Tom", "dort", ".", the end
    aims = [aim for aim in find_aims(view) if aim.name.startswith("alignment")]
    written, entered = np.eye(4, k=1, dtype=np.float32), np.eye(4, dtype=np.float32)
    found = measure(np.stack([written, entered]), aims, view.query_words, view.key_words)
    assert {name: scores.tolist() for name, scores in found.items()} == {
        "alignment": [1.0, 0.0],
        "alignment_entered": [0.0, 1.0],
    }


def test_names_are_copied_and_full_stops_are_not() -> None:
    assert np.argwhere(DETECTORS["copying"].find(view_pair(MarkedText("Tom")))).tolist() == [[0, 1]]
