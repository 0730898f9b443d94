"""A pass that can be differentiated computes what a plain pass does."""

import pytest
import torch

import glassformer as gf
from edited_models import KINDS, make_subject
from glassformer.recorders.causes.gradients import TrackedAttention, TrackedStates, differentiate, open_pass
from tolerances import assert_near

OUTCOME = gf.LogitDifference(7, 9)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_tracked_is_what_a_recording_keeps(kind: str) -> None:
    subject, reads = make_subject(kind)
    prepared = open_pass(subject, reads[0], reads[1] if len(reads) > 1 else None, OUTCOME)
    attention, states = TrackedAttention(), TrackedStates()
    value = prepared.run(attention, states)
    recording = subject.record(*reads, want=("weights", "hidden"))
    for each in recording.maps:
        (weights,) = attention.weights[each.place]
        assert_near(weights[0], each.dense, layers=3, scores=64)
    for stack, hidden in recording.hidden.items():
        for layer in range(len(hidden) - 1):
            assert_near(states.found[stack, "residual", layer][0], hidden[layer], layers=3, scores=64)
    tensors = [*states.found.values()]
    gradients = differentiate(value, tensors)
    assert [each.shape for each in gradients] == [each.shape for each in tensors]
    assert all(bool(each.any()) for each in gradients)


def test_what_an_outcome_does_not_depend_on_has_no_slope() -> None:
    one, other = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    found = differentiate((2 * one).sum(), [one, other])
    assert [each.tolist() for each in found] == [[2.0, 2.0], [0.0, 0.0, 0.0]]


@pytest.mark.slow
def test_without_a_target_the_model_writes_its_own() -> None:
    written = gf.record("zoo/translator", "The cat sleeps.", target_language="fr").target
    prepared = open_pass("zoo/translator", "The cat sleeps.", None, gf.TextScore(), target_language="fr")
    assert prepared.tokens.ids.tolist() == written.ids.tolist()
