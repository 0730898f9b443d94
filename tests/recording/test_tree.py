"""The tree of branches, and by what a branch knows its parent."""

from dataclasses import replace

import pytest

from bundles import make_recording
from glassformer.errors import RecordingError
from glassformer.messages import set_language
from glassformer.recorders.edits import AblateHead
from glassformer.recording import Branch, Generation, Recording, Step, identify, tree


def write(*texts: str, branch: Branch | None = None, forced: tuple[int, ...] = ()) -> Recording:
    steps = tuple(Step(place, place, text, -0.5) for place, text in enumerate(texts))
    return replace(make_recording(), generation=Generation(steps, forced=forced), branch=branch)


def test_branches_stand_below_their_parents() -> None:
    root = write("a", "b", "c")
    late = write("a", "b", "d", branch=Branch(identify(root), 2, 3, "late"), forced=(2,))
    early = write("x", "y", branch=Branch(identify(root), 0, 0))  # a hypothesis: nothing was forced
    leaf = write("a", "b", "d!", branch=Branch(identify(late), 2))
    lost = write("z", branch=Branch("unknown", 0, None, "lost"))
    lines = str(tree([leaf, late, lost, early, root])).split("\n")
    model = root.model
    assert lines == [
        "lost: after 0 words: 'z'",
        f"{model}: 'abc'",
        "├─ after 0 words: 'xy'",
        "└─ late: after 2 words, forced: 'd'",
        "   └─ after 2 words: 'd!'",
    ]


def test_the_identity_is_that_of_what_was_computed_not_of_the_name() -> None:
    one = write("a", branch=Branch("p", 0, None, "one"))
    assert identify(one) == identify(replace(one, branch=replace(one.branch, name="two")))
    assert identify(one) != identify(replace(one, branch=replace(one.branch, step=1)))
    assert identify(one) != identify(write("a", "b", branch=one.branch))


def test_the_identity_is_the_same_in_every_language() -> None:
    edits = (AblateHead("decoder", "self", 0, 1).as_message(),)
    root = write("a", "b")
    root = replace(root, evidence=replace(root.evidence, edits=edits))
    branch = write("a", "c", branch=Branch(identify(root), 1))
    try:
        set_language("zh")
        assert tree([root, branch]).parents == (None, 0)
    finally:
        set_language("en")
    other = (AblateHead("decoder", "self", 0, 2).as_message(),)
    assert identify(replace(root, evidence=replace(root.evidence, edits=other))) != identify(root)


def test_anything_but_recordings_is_refused() -> None:
    with pytest.raises(RecordingError):
        tree(["x"])
