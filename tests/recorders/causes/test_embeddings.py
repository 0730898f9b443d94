"""Embeddings are scaled where tokens are looked up, and only there."""

import pytest

import glassformer as gf
from edited_models import make_subject
from glassformer.recorders.causes.embeddings import ScaledEmbeddings, integrate_gradients, multiply_gradient
from glassformer.recorders.causes.gradients import open_pass
from tolerances import assert_near


def test_a_factor_of_one_changes_nothing() -> None:
    subject, reads = make_subject("our translator")
    prepared = open_pass(subject, *reads, gf.LogitDifference(7, 9))
    embeddings = ScaledEmbeddings(prepared)
    with embeddings.hooked():
        whole, given = embeddings.run(1.0)
        none, nothing = embeddings.run(0.0)
    assert_near(whole, prepared.run(), magnitude=1)
    assert [*given] == ["source", "target"]
    assert not any(bool(each.any()) for each in nothing.values())
    assert float(none.detach()) != float(whole.detach())


@pytest.mark.parametrize("kind", ["our translator", "BART"])
def test_sides_with_the_same_ids_are_told_apart(kind: str) -> None:
    subject, (source, _) = make_subject(kind)
    same = [3, *source]  # the model puts the start token 3 before its target itself
    prepared = open_pass(subject, same, source, gf.LogitDifference(7, 9))
    assert prepared.source.ids.tolist() == prepared.tokens.ids.tolist()
    _, scores = multiply_gradient(prepared)
    assert [*scores] == ["source", "target"]
    near_miss = open_pass(subject, same, [*source, 5], gf.LogitDifference(7, 9, position=len(source)))
    for side, wanted in multiply_gradient(near_miss)[1].items():  # a later token changes nothing before it
        assert_near(scores[side], wanted[: len(same)], magnitude=32)


def test_an_integral_reports_the_outcome_without_embeddings() -> None:
    subject, reads = make_subject("our decoder")
    prepared = open_pass(subject, reads[0], None, gf.LogitDifference(7, 9))
    value, scores, missing, base = integrate_gradients(prepared, 4)
    assert_near(value, prepared.run(), magnitude=1)
    assert_near(sum(each.sum() for each in scores.values()) - missing, value - base, magnitude=10)
