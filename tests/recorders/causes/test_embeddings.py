"""Embeddings are scaled where tokens are looked up, and only there."""

import glassformer as gf
from edited_models import make_subject
from glassformer.recorders.causes.embeddings import ScaledEmbeddings, integrate_gradients
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


def test_an_integral_reports_the_outcome_without_embeddings() -> None:
    subject, reads = make_subject("our decoder")
    prepared = open_pass(subject, reads[0], None, gf.LogitDifference(7, 9))
    value, scores, missing, base = integrate_gradients(prepared, 4)
    assert_near(value, prepared.run(), magnitude=1)
    assert_near(sum(each.sum() for each in scores.values()) - missing, value - base, magnitude=10)
