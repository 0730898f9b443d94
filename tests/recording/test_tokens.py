"""Tokens of one side: checked, read-only, sliced."""

import numpy as np
import pytest

from glassformer.errors import RecordingError
from glassformer.recording import Tokens


def test_what_is_left_out_has_a_plain_meaning():
    tokens = Tokens("source", ["a", "b"], [3, 4])
    assert tokens.texts == ("a", "b")
    assert tokens.ids.dtype == np.int64
    assert tokens.special.tolist() == [False, False]
    assert tokens.offsets is tokens.words is tokens.text is None
    assert len(tokens) == 2


def test_a_slice_keeps_offsets_into_the_whole_text():
    tokens = Tokens(
        "source", ["I", "love", "you"], [1, 2, 3], [[0, 1], [2, 6], [7, 10]], "I love you",
        special=[True, False, False], words=[-1, 0, 1],
    )  # fmt: skip
    part = tokens.take(slice(1, 3))
    assert part.texts == ("love", "you")
    assert [part.text[start:stop] for start, stop in part.offsets] == ["love", "you"]
    assert part.special.tolist() == [False, False]
    assert part.words.tolist() == [0, 1]


def test_positions_stand_for_what_is_not_text():
    tokens = Tokens.positional("source", 100_000)
    assert tokens.texts[99_999] == "99999"
    assert repr(tokens) == "Tokens(source, 100000: 0 1 2 3 4 5 …)"


def test_no_tokens_at_all():
    assert len(Tokens("target", [], [])) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"side": "left"}, "Tokens.side is 'left'. Expected source or target"),
        ({"texts": ["a", b"b"]}, "Tokens.texts is b'b'. Expected a string"),
        ({"ids": [1]}, r"Tokens.ids has shape \(1,\). Expected axes \(token 2\)"),
        ({"ids": [1.0, 2.0]}, "Tokens.ids holds float64 values. Expected int64"),
        ({"ids": [[1], [2, 3]]}, "Tokens.ids is not an array"),
        ({"special": [True]}, "Tokens.special has shape"),
        ({"special": [0, 1]}, "Tokens.special holds int64 values. Expected bool"),
        ({"words": [0, -2]}, "Tokens.words is -2"),
        ({"text": 3}, "Tokens.text is 3. Expected a string"),
        ({"offsets": [[0, 1], [1, 2]]}, "offsets but no text"),
        ({"offsets": [[0, 1], [1, 3]], "text": "ab"}, r"Token 1 spans characters 1 to 3 of a text of 2"),
        ({"offsets": [[0, 1], [2, 1]], "text": "ab"}, "Token 1 spans"),
        ({"offsets": [[-1, 1], [1, 2]], "text": "ab"}, "Token 0 spans"),
        ({"offsets": [0, 1], "text": "ab"}, "Tokens.offsets has shape"),
    ],
)
def test_what_cannot_be_is_refused(changes, message):
    with pytest.raises(RecordingError, match=message):
        Tokens(**({"side": "source", "texts": ["a", "b"], "ids": [1, 2]} | changes))
