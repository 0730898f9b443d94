"""Networks whose architecture is not known: steps that their recordings back."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from arithmetic import compute
from glassformer.errors import ApiError
from glassformer.walk import Arrays, explain, make_plan
from inventions import invent_decoder, invent_translation
from proof import prove_cells
from texts import text_of
from tolerances import assert_near

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("make", [invent_decoder, invent_translation])
def test_a_model_of_transformers_shows_what_its_recording_backs(make: Any) -> None:
    recording = make()
    plan = make_plan(recording)
    steps = {step.id: step for chapter in plan.chapters for step in chapter.steps}
    assert not plan.ours
    assert plan.architecture is None
    assert steps["decoder.0.self.weights"].operation == "softmax"
    assert steps["decoder.0.self.mixed"].words == {"origin": "computed"}
    assert steps["decoder.0.self.output"].missing is not None
    assert text_of(plan.notes[0]).startswith("This model comes from transformers")
    assert "feed-forward" in text_of(plan.notes[0])  # what is missing is named
    assert len(plan.notes) == 1
    told = [step for step in steps.values() if step.arithmetic and step.operation != "choose"]
    prove_cells(recording, told)
    arrays = Arrays(recording)
    for step in told:
        expected, _ = compute(step, lambda name: arrays.find(name))  # type: ignore[arg-type, return-value]
        seen = arrays.find(step.output)
        assert seen is not None
        assert (np.isfinite(seen) == np.isfinite(expected)).all()
        allowed = np.isfinite(seen)
        assert_near(seen[allowed], expected[allowed], layers=2)


def test_what_could_have_been_kept_is_not_said_to_be_out_of_reach() -> None:
    recording = invent_decoder()
    bare = [replace(each, queries=None, keys=None, values=None, dense_scores=None) for each in recording.maps]
    plan = make_plan(replace(recording, maps=tuple(bare), hidden={}))
    steps = {step.id: step for chapter in plan.chapters for step in chapter.steps}
    for name in ("0.self.queries", "0.self.scores", "0.self.mixed", "embedding.states", "0.states.states"):
        missing = steps[f"decoder.{name}"].missing
        assert missing is not None
        assert "Record again with queries" in text_of(missing), name
    outside = steps["decoder.0.self.output"].missing
    assert outside is not None
    assert "outside of attention" in text_of(outside)
    assert [text_of(note).split()[0] for note in plan.notes] == ["This", "This"]
    assert plan.more
    assert not make_plan(recording).more  # everything is there that such a recording can hold


def test_scores_with_something_added_are_no_plain_products() -> None:
    recording = invent_decoder()
    first = recording.maps[0]
    assert first.dense_scores is not None
    changed = replace(first, dense_scores=first.dense_scores + np.float32(0.5))
    plan = make_plan(replace(recording, maps=(changed, *recording.maps[1:])))
    steps = {step.id: step for chapter in plan.chapters for step in chapter.steps}
    assert steps["decoder.0.self.scores"].operation == "states"
    assert steps["decoder.1.self.scores"].operation == "dot"
    with pytest.raises(ApiError, match="does not hold how"):
        explain(recording, "decoder.0.self.queries")


@pytest.mark.parametrize("cap", [2.0, 50.0, 3.217])
def test_a_soft_cap_is_part_of_the_arithmetic(cap: float) -> None:
    recording = invent_decoder()
    first = recording.maps[0]
    assert first.dense_scores is not None
    capped = (cap * np.tanh(first.dense_scores.astype(np.float64) / cap)).astype(np.float32)
    capped[np.isneginf(first.dense_scores)] = -np.inf
    changed = replace(recording, maps=(replace(first, dense_scores=capped), *recording.maps[1:]))
    steps = {step.id: step for chapter in make_plan(changed).chapters for step in chapter.steps}
    assert steps["decoder.0.self.scores"].numbers["cap"] == pytest.approx(cap, rel=1e-3)
    assert "cap" not in steps["decoder.1.self.scores"].numbers
    cell = explain(changed, "decoder.0.self.scores", 7, 3, 1)
    assert cell.numbers["cap"] == steps["decoder.0.self.scores"].numbers["cap"]
    assert_near(cell.shown, float(capped[1, 7, 3]))
    hidden = explain(changed, "decoder.0.self.scores", 3, 7, 1)
    assert hidden.shown is None


def test_one_score_that_is_off_is_no_cap() -> None:
    recording = invent_decoder(tokens=1, layers=1, heads=1)
    (first,) = recording.maps
    assert first.dense_scores is not None
    nearer = first.dense_scores * np.float32(0.9)  # as by a bias: there is a cap that would do the same
    changed = replace(recording, maps=(replace(first, dense_scores=nearer),))
    for each, operation in ((recording, "dot"), (changed, "states")):
        steps = {step.id: step for chapter in make_plan(each).chapters for step in chapter.steps}
        assert steps["decoder.0.self.scores"].operation == operation
