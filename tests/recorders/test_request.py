"""What can be asked of `record`, and what is refused."""

from typing import Any

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.recorders.edits import AblateHead
from glassformer.recorders.request import WANTS
from our_networks import TEXT, WORDS, build


def test_only_what_is_wanted_is_kept() -> None:
    subject = load(build(), WORDS)
    bare = subject.record(TEXT, "le chat", want=())
    assert bare.output is None
    assert not bare.hidden
    assert all(not each.has_weights and not each.has_scores and each.queries is None for each in bare.maps)
    assert bare.maps[0].statistics.entropy.shape == (2, 7)
    full = subject.record(TEXT, "le chat", want=WANTS)
    np.testing.assert_array_equal(full.maps[3].statistics.entropy, bare.maps[3].statistics.entropy)
    assert subject.record(TEXT, "le chat", want="keys").maps[0].keys is not None
    with pytest.raises(InputError, match="Did you mean 'weights'"):
        subject.record(TEXT, want=("weight",))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"want": None}, "`want` is None"),
        ({"want": 3}, "`want` is 3"),
        ({"edits": None}, "`edits` is None"),
        ({"edits": "zero"}, "`edits` is 'zero'"),
        ({"edits": AblateHead("decoder", "self", 0, 0)}, "give a list of edits, also for a single one"),
        ({"edits": [None]}, "None is not an edit"),
        ({"kernel": "quick"}, "kernel = 'quick' is not known; use 'exact', 'fast'"),
        ({"keep": "x.glass"}, "`keep` is of type str"),
    ],
)
def test_requests_that_are_no_lists_are_said(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(build(shape="decoder"), WORDS).record(TEXT, **words)
