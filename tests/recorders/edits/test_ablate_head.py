"""An ablated head is compared with one whose result is taken away by hand."""

from typing import Any

import pytest
from torch import Tensor

from edited_models import (
    CROSSING,
    EVERYTHING,
    KINDS,
    changing_heads,
    differs,
    find_projection,
    make_subject,
    same_output,
)
from glassformer.errors import InputError
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.edits import AblateHead
from tolerances import assert_near


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["zero", "mean"])
def test_an_ablated_head_is_one_whose_result_is_taken_away(kind: str, how: Any) -> None:
    subject, reads = make_subject(kind)
    attention = "cross" if kind in CROSSING else "self"
    edit = AblateHead("decoder", attention, 1, 2, how)

    def change(heads: Tensor) -> Tensor:
        heads[:, :, 2] = 0.0 if how == "zero" else heads[:, :, 2].mean(dim=1, keepdim=True)
        return heads

    plain = subject.record(*reads, want=EVERYTHING)
    edited = subject.record(*reads, want=EVERYTHING, edits=[edit])
    with changing_heads(find_projection(subject, "decoder", attention, 1), change):
        by_hand = subject.record(*reads, want=EVERYTHING)
    same_output(edited, by_hand)
    differs(edited, plain)
    found, before = edited.map("decoder", attention, 1), plain.map("decoder", attention, 1)
    expected = 0.0 if how == "zero" else before.dense[2].mean(axis=0)
    assert_near(found.dense[2], expected)
    others = [0, 1, 3]
    assert_near(found.dense[others], before.dense[others])
    assert tuple(map(str, edited.evidence.edits)) == (str(edit),)
    assert str(found.relaxed) == str(edit)
    assert all(each.relaxed is None for each in edited.maps if each is not found)
    assert plain.evidence.edits == ()


def test_a_mean_needs_the_whole_text() -> None:
    for kind in KINDS:
        subject, reads = make_subject(kind)
        with pytest.raises(InputError, match="one token at a time"):
            subject.record(
                reads[0],
                decode=GenerationSettings(max_new_tokens=3),
                edits=[AblateHead("decoder", "self", 0, 0, "mean")],
            )
