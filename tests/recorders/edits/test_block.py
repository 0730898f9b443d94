"""A blocked head or key changes rows from `first` on, and no row before."""

import numpy as np
import pytest

from edited_models import CROSSING, KINDS, make_subject
from glassformer.errors import InputError
from glassformer.recorders.edits import BlockHead
from tolerances import assert_near

EVERYTHING = ("weights", "values", "output")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", [None, 1])
def test_rows_before_stay_and_rows_after_are_blocked(kind: str, key: int | None) -> None:
    subject, reads = make_subject(kind)
    attention = "cross" if kind in CROSSING else "self"
    plain = subject.record(*reads, want=EVERYTHING).map("decoder", attention, 0)
    edit = BlockHead("decoder", attention, 0, 1, key, first=2)
    edited = subject.record(*reads, want=EVERYTHING, edits=[edit])
    changed = edited.map("decoder", attention, 0)
    assert_near(changed.dense[:, :2], plain.dense[:, :2])
    assert_near(changed.dense[0], plain.dense[0])
    expected = plain.dense[1, 2:].astype(np.float64)
    expected[:, slice(None) if key is None else key] = 0
    if key is not None:
        expected /= expected.sum(-1, keepdims=True)
    assert_near(changed.dense[1, 2:], expected, layers=1)
    assert (changed.relaxed is not None) == (key is None)
    assert "from query 2 on" in str(edited.evidence.edits[0])


def test_every_head_and_layer() -> None:
    subject, reads = make_subject(KINDS[0])
    edited = subject.record(*reads, edits=[BlockHead("decoder", "self", None, None, first=3)])
    for each in edited.maps:
        if each.stack == "decoder" and each.kind == "self":
            assert np.all(each.dense[:, 3:] == 0)
            assert np.all(each.dense[:, :3].sum(-1) > 0.9)


@pytest.mark.parametrize(
    "changes", [{"stack": "encoder"}, {"head": -1}, {"first": None}, {"key": 1.5}, {"kind": "x"}]
)
def test_what_cannot_be_is_refused(changes: dict[str, object]) -> None:
    given = {"stack": "decoder", "kind": "self", "layer": 0, "head": 1} | changes
    with pytest.raises(InputError):
        BlockHead(**given)
