"""Edits of one recording: they add up, act on generation, and are refused where they change nothing."""

from typing import Any

import numpy as np
import pytest

from edited_models import EVERYTHING, KINDS, make_subject, same_output
from glassformer.errors import InputError
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.edits import AblateHead, CutEdge, FirstLayers, ScaleScores
from tolerances import assert_near


def test_edits_add_up() -> None:
    for kind in ("GPT-2", "our decoder"):
        subject, reads = make_subject(kind)
        edits = [
            CutEdge("decoder", "self", 0, 1, 3, 2),
            ScaleScores(0.5, layer=0),
            AblateHead("decoder", "self", 0, 3),
        ]
        recording = subject.record(*reads, edits=edits)
        weights = recording.maps[0].dense
        plain = subject.record(*reads, want=("weights", "scores")).maps[0].scores()[1, 3] * 0.5
        plain[2] = -np.inf
        expected = np.exp(plain - plain.max()) / np.exp(plain - plain.max()).sum()
        assert_near(weights[1, 3], expected)
        assert not weights[3].any()
        assert len(recording.evidence.edits) == 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize(
    "edit",
    [
        CutEdge("decoder", "self", None, None, 5, 3),
        AblateHead("decoder", "self", 1, 2),
        ScaleScores(0.2),
        FirstLayers(1),
    ],
    ids=["cut", "ablate", "scale", "first"],
)
def test_what_is_written_under_an_edit_is_what_the_edited_network_says(
    kind: str, beams: int, edit: Any
) -> None:
    subject, reads = make_subject(kind)
    settings = GenerationSettings(max_new_tokens=6, min_new_tokens=6, beams=beams)
    written = subject.record(reads[0], decode=settings, edits=[edit], want=EVERYTHING)
    tokens = written.source if written.target is None else written.target
    given = [tokens.ids.tolist()] if written.target is None else [reads[0], tokens.ids.tolist()[1:]]
    again = subject.record(*given, edits=[edit], want=EVERYTHING)
    same_output(written, again)
    for one, other in zip(written.maps, again.maps, strict=True):
        assert_near(one.dense, other.dense, layers=2)
    if beams == 1:  # each word is the likeliest after the ones before it
        steps = written.generation.steps
        best = again.output.ids[len(tokens) - len(steps) - 1 : -1, 0]
        ends = again.output.ids[len(tokens) - len(steps) - 1 : -1]
        chosen = [step.token for step in steps]
        allowed = [next(int(each) for each in row if each != 2) for row in ends]  # no end before six words
        assert chosen == allowed, best


@pytest.mark.parametrize("kind", ["GPT-2", "our decoder"])
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (AblateHead("decoder", "self", 3, 0), r"nothing to edit.*decoder\.self\.2"),
        (
            AblateHead("decoder", "self", 0, 4),
            "no head 4 in decoder layer 0, self. .* from 0 to 3",
        ),
        (AblateHead("encoder", "self", 0, 0), "nothing to edit"),
        (CutEdge("decoder", "cross", 0, 0, 1, 0), "nothing to edit"),
        (CutEdge("decoder", "self", 0, 0, 9, 0), "nothing to edit"),
        (CutEdge("decoder", "self", 0, 0, 0, 0), "No key is left for query 0"),
        (ScaleScores(2.0, layer=7), "nothing to edit"),
        (FirstLayers(4), "no such layers to run"),
        (FirstLayers(1, "encoder"), "no such layers to run"),
    ],
)
def test_an_edit_that_meets_nothing_is_refused(kind: str, edit: Any, message: str) -> None:
    subject, reads = make_subject(kind)
    with pytest.raises(InputError, match=message):
        subject.record(*reads, edits=[edit])
    assert subject.record(*reads).evidence.edits == ()
