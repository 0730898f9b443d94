"""Arrays that follow from kept ones are computed, and marked as such."""

from dataclasses import replace

import numpy as np

from glassformer.recording import Recording
from glassformer.walk import Arrays, follow, make_plan
from proof import prove_cells
from tolerances import assert_near
from traces import slim

FOLLOW = ("products", "scaled", "joined", "active", "mixed")  # and sums, where both parts are there


def test_what_follows_is_computed_and_said_to_be(full: Recording) -> None:
    small = slim(full)
    plan, arrays = follow(small)
    steps = [step for chapter in plan.chapters for step in chapter.steps]
    assert all(step.missing is None and step.arithmetic for step in steps)
    prove_cells(small, steps)
    for step in steps:
        seen, name = arrays.find(step.output), step.output.rsplit("/", 1)[1]
        own = Arrays(full).find(step.output)
        assert seen is not None
        assert own is not None
        finite = np.isfinite(own)
        assert (np.isfinite(seen) == finite).all()
        assert_near(seen[finite], own[finite], layers=2, where=step.id)
        computed = step.words.get("origin") == "computed"
        if not computed:
            assert (seen == own).all(), step.id  # what is not marked is the network's own
        if name in FOLLOW:
            unmasked = (
                name == "scaled" and "decoder.0.self" not in step.id and "decoder.1.self" not in step.id
            )
            assert computed != (unmasked and step.kind != "embedding"), step.id


def test_nothing_follows_from_a_network_that_was_changed(full: Recording) -> None:
    small = slim(full)
    edited = replace(small, evidence=replace(small.evidence, edits=("scale scores by 2",)))
    steps = {step.id: step for chapter in make_plan(edited).chapters for step in chapter.steps}
    assert steps["decoder.0.self.products"].missing is not None
    assert steps["decoder.0.self.scores"].missing is None
