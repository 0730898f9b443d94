"""The walk of a recurrent network is its own: cells, additive attention, a context that enters the cell."""

import pytest

from glassformer.walk import make_plan
from traces import record_recurrent


def test_chapters_follow_the_computation() -> None:
    plan = make_plan(record_recurrent())
    assert (plan.recurrent, plan.ours, plan.more, plan.notes) == (True, True, False, ())
    assert [(chapter.id, chapter.kind) for chapter in plan.chapters] == [
        ("encoder.embedding", "embedding"),
        ("encoder.0.forward", "cells"),
        ("encoder.0.backward", "cells"),
        ("encoder.0.both", "states"),
        ("encoder.0.bridge", "bridge"),
        ("decoder.embedding", "embedding"),
        ("decoder.0.cross", "cross"),
        ("decoder.0.forward", "cells"),
        ("output", "output"),
    ]
    steps = {step.id: step for chapter in plan.chapters for step in chapter.steps}
    assert [each.split(".")[-1] for each in steps if each.startswith("encoder.0.forward.")] == [
        "before",
        "reset",
        "update",
        "candidate",
        "state",
    ]
    scores = steps["decoder.0.cross.scores"]
    assert scores.operation == "additive"  # vᵀ tanh(W s + U h), not Q · Kᵀ
    assert scores.inputs == ("decoder/0/cross/queries", "encoder/0/both/states")
    assert steps["decoder.0.cross.queries"].inputs == ("encoder/0/bridge/start", "decoder/0/forward/state")
    assert "decoder/0/cross/mixed" in steps["decoder.0.forward.input"].inputs  # the context enters the cell


def test_a_fixed_context_is_one_vector_and_nothing_is_attended_to() -> None:
    plan = make_plan(record_recurrent(context="fixed", want=("weights", "hidden", "trace", "parameters")))
    kinds = [chapter.kind for chapter in plan.chapters]
    assert "context" in kinds
    assert "cross" not in kinds
    steps = {step.id: step for chapter in plan.chapters for step in chapter.steps}
    assert steps["decoder.context.context"].operation == "repeat"
    assert steps["decoder.context.context"].inputs == ("encoder/0/bridge/last",)
    assert not {step.operation for step in steps.values()} & {"additive", "dot", "mix", "mask"}


def test_an_lstm_has_a_memory() -> None:
    plan = make_plan(record_recurrent(cell="lstm"))
    operations = {step.operation for chapter in plan.chapters for step in chapter.steps}
    assert {"remember", "release"} <= operations
    assert "blend" not in operations


@pytest.mark.parametrize("context", ["attention", "fixed"])
def test_without_a_trace_steps_are_there_and_say_why(context: str) -> None:
    want = ("weights", "hidden", "output")
    plan = make_plan(record_recurrent(want=want, context=context))
    steps = {step.id: step for chapter in plan.chapters for step in chapter.steps}
    assert plan.more
    assert steps["encoder.0.both.states"].missing is None  # a hidden state
    assert steps["encoder.0.forward.reset"].missing is not None
    assert [step.id for step in steps.values()] == [
        step.id for chapter in make_plan(record_recurrent(context=context)).chapters for step in chapter.steps
    ]


def test_the_diagram_shows_what_the_cells_read() -> None:
    for context, between in (("attention", "decoder.0.cross.block"), ("fixed", "decoder.context.block")):
        diagram = make_plan(record_recurrent(context=context)).diagram
        arrows = {(arrow.start, arrow.end, arrow.kind) for arrow in diagram.arrows}
        order = [block.id for block in diagram.blocks]
        cell = "decoder.0.forward.block"
        assert order.index(between) < order.index(cell)  # the context is below the cell
        assert (between, cell, "stream") in arrows
        assert ("decoder.embedding.block", cell, "stream") in arrows
        assert ("decoder.embedding.block", between, "stream") not in arrows
        assert (cell, cell, "state") in arrows
        assert ("encoder.0.bridge.block", cell, "memory") in arrows
        assert ((cell, between, "state") in arrows) == (context == "attention")
        assert ("encoder.embedding.block", "encoder.0.backward.block", "stream") in arrows
        assert ("encoder.0.forward.block", "encoder.0.backward.block", "stream") not in arrows
