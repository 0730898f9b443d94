"""Proving a walk: every number of every step against arithmetic.py, in two ways.

Step by step, from the recorded inputs; and in one go, from token ids (or pixels, or samples) and parameters
alone. Tolerances are multiples of the size of what was summed for a number, as rounding is.
"""

from unittest import mock

import numpy as np

from arithmetic import compute
from glassformer.recording import Recording
from glassformer.rounding import rounding
from glassformer.walk import Arrays, explain, follow, make_plan
from glassformer.walk.types import Step, WalkPlan
from tolerances import assert_near, largest

NEAR = rounding()  # of the size: one step in single precision
SAME = 1e-9  # two computations in double precision
GIVEN = ("/ids", "/segments", "/pixels", "/samples", "/pixel_mean", "/pixel_deviation")  # to the network


def prove(recording: Recording) -> WalkPlan:
    """All three: each step, the whole, the arithmetic of cells."""
    plan = make_plan(recording)
    steps = [step for chapter in plan.chapters for step in chapter.steps]
    assert steps
    assert plan.notes == ()
    assert all(step.missing is None and step.arithmetic for step in steps)
    prove_steps(recording, steps)
    if not plan.recurrent:  # there a row reads the row before of a later step: its states are the network's
        prove_whole(recording, steps)
    prove_cells(recording, steps)
    prove_ends(recording, plan)
    return plan


def prove_steps(recording: Recording, steps: list[Step]) -> dict[str, float]:
    """Each step from its recorded inputs; gives the largest error of each operation, as a share of size."""
    arrays = Arrays(recording)
    worst: dict[str, float] = {}
    for step in steps:
        seen = arrays.find(step.output)
        assert seen is not None
        assert seen.shape == step.shape.output
        assert len(seen.shape) == len(step.axes)
        expected, size = compute(step, lambda name: _require(arrays, name))
        assert expected.shape == seen.shape, step.id
        if step.operation == "choose":
            _prove_choice(recording, step, seen)
            continue
        finite = np.isfinite(expected)
        assert (np.isfinite(seen) == finite).all(), step.id
        error = np.abs(seen.astype(np.float64)[finite] - expected[finite]) / (size[finite] + 1e-3)
        assert error.max(initial=0) <= NEAR, (step.id, error.max())
        worst[step.operation] = max(worst.get(step.operation, 0.0), float(error.max(initial=0)))
    return worst


def prove_whole(recording: Recording, steps: list[Step]) -> None:
    """The whole network from ids and parameters, each step from what the one before it gave here."""
    arrays, made, widest, sharpest = Arrays(recording), {}, 1, 1.0

    def read(name: str) -> np.ndarray:
        own = name == step.output  # asked only for which of equal keys the network took
        if own or name.endswith(GIVEN) or name.startswith("parameters/"):
            return _require(arrays, name)
        return made[name]  # a name that no earlier step wrote is a KeyError: the plan would not be whole

    for count, step in enumerate(steps, 1):
        if step.operation == "choose":
            continue
        made[step.output] = compute(step, read)[0]
        if step.operation == "softmax":
            sharpest = max(sharpest, largest(made[step.inputs[0]]))
        seen, wanted = _require(arrays, step.output), made[step.output]
        widest = max(widest, wanted.shape[-1])
        assert_near(seen, wanted, operations=count, summands=widest, scores=sharpest, where=step.id)


def prove_cells(recording: Recording, steps: list[Step], count: int = 2) -> None:
    """What a page shows on hovering: the same number, and terms that add up to it."""
    followed, chance = follow(recording), np.random.default_rng(0)
    arrays = followed[1]
    for step in steps:
        expected, _ = compute(step, lambda name: _require(arrays, name))
        shape = step.shape.output or ()
        for _ in range(count):
            place = tuple(int(chance.integers(length)) for length in shape)
            head = place[0] if len(place) == 3 else None
            row = place[-2] if len(place) > 1 else 0
            with mock.patch("glassformer.walk.cells.follow", return_value=followed):  # planned once
                cell = explain(recording, step.id, row, place[-1], head)
            wanted = float(expected[place])
            if step.operation == "choose":
                assert cell.shown == cell.value
                continue
            if not np.isfinite(wanted):
                assert cell.shown is None
                assert cell.value is None
                continue
            assert cell.shown is not None
            assert abs(cell.shown - wanted) <= SAME * max(1.0, abs(wanted)), (step.id, place)
            assert cell.value == float(_require(arrays, step.output)[place])
            if cell.terms and step.operation != "softmax":
                total = sum(term.product or 0.0 for term in cell.terms) + cell.rest
                assert abs(total - (cell.sum or 0.0)) <= SAME * max(1.0, abs(total)) * 10
            if cell.terms and step.operation == "softmax":
                shares = sum(term.product or 0.0 for term in cell.terms) + cell.rest
                assert abs(shares - 1) <= SAME


def prove_ends(recording: Recording, plan: WalkPlan) -> None:
    """The trace meets the rest of the recording: hidden states, the output, who stands where."""
    arrays = Arrays(recording)
    for stack, states in ({} if plan.recurrent else recording.hidden).items():
        chapters = [each for each in plan.chapters if each.stack == stack and each.kind != "output"]
        assert (_require(arrays, chapters[0].steps[-1].output) == states[0]).all()
        assert (_require(arrays, chapters[-1].steps[-1].output) == states[-1]).all()
    blocks = [block.id for block in plan.diagram.blocks]
    assert len(set(blocks)) == len(blocks)
    ids = {step.id for chapter in plan.chapters for step in chapter.steps}
    assert {block.step for block in plan.diagram.blocks} <= ids
    assert {end for arrow in plan.diagram.arrows for end in (arrow.start, arrow.end)} == set(blocks)


def _prove_choice(recording: Recording, step: Step, seen: np.ndarray) -> None:
    """The likeliest words are those of the logits, whichever of two equal ones comes first."""
    assert recording.output is not None
    arrays = Arrays(recording)
    scores = _require(arrays, "output/classes" if "output/classes" in recording.trace else "output/logits")
    wide = np.atleast_2d(scores.astype(np.float64))
    logarithms = wide - np.log(np.exp(wide - wide.max(-1, keepdims=True)).sum(-1, keepdims=True))
    logarithms -= wide.max(-1, keepdims=True)
    chosen = np.take_along_axis(logarithms, np.atleast_2d(seen), axis=-1)
    best = -np.sort(-logarithms, axis=-1)[:, : seen.shape[-1]]
    assert_near(chosen, best, where=step.id)
    assert_near(chosen, recording.output.log_probabilities, where=step.id)


def _require(arrays: Arrays, name: str) -> np.ndarray:
    found = arrays.find(name)
    assert found is not None, name
    return found
