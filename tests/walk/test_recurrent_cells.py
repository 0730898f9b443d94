"""The arithmetic of recurrent cells by hand; every cell of whole networks is proven with their traces."""

import math

import numpy as np
import pytest

from glassformer.walk import explain
from traces import record_recurrent


def test_the_first_word_has_no_state_before() -> None:
    recording = record_recurrent()
    assert explain(recording, "encoder.0.forward.before", 0, 1).shown == 0.0
    last = recording.trace["encoder/0/backward/before"].shape[0] - 1
    assert explain(recording, "encoder.0.backward.before", last, 1).shown == 0.0
    after = explain(recording, "encoder.0.backward.before", 0, 1)
    assert (after.reads[0].name, after.reads[0].row) == ("encoder/0/backward/state", 1)
    start = explain(recording, "decoder.0.forward.before", 0, 2)
    assert start.value == recording.trace["encoder/0/bridge/start"][2]


def test_a_candidate_hears_the_state_through_the_reset_gate() -> None:
    recording = record_recurrent()
    cell = explain(recording, "encoder.0.forward.candidate", 2, 1)
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    w, u, b, c = (recording.trace[f"parameters/encoder.cells.{name}"].astype(float) for name in names)
    x = recording.trace["encoder/embedding/tokens"][2].astype(float)
    h = recording.trace["encoder/0/forward/state"][1].astype(float)
    reset = float(recording.trace["encoder/0/forward/reset"][2, 1])
    row = 2 * 4 + 1  # the third gate of a direction of width 4
    wanted = math.tanh(x @ w[row] + b[row] + reset * (h @ u[row] + c[row]))
    assert cell.shown == pytest.approx(wanted, abs=1e-12)
    assert cell.numbers["reset"] == pytest.approx(reset)
    assert len(cell.terms) == 6 + 4


def test_a_state_is_a_blend() -> None:
    recording = record_recurrent()
    cell = explain(recording, "decoder.0.forward.state", 1, 3)
    place = "decoder/0/forward"
    z, n = (float(recording.trace[f"{place}/{name}"][1, 3]) for name in ("update", "candidate"))
    h = float(recording.trace[f"{place}/state"][0, 3])
    assert cell.shown == pytest.approx((1 - z) * n + z * h, abs=1e-12)
    assert cell.value == float(recording.trace[f"{place}/state"][1, 3])


def test_c_is_the_end_of_both_directions() -> None:
    recording = record_recurrent(context="fixed")
    last = np.concatenate(
        [recording.trace["encoder/0/forward/state"][-1], recording.trace["encoder/0/backward/state"][0]]
    )
    found = [explain(recording, "encoder.0.bridge.last", 0, column) for column in range(8)]
    assert [cell.shown for cell in found] == last.tolist()
    assert [cell.reads[0].row for cell in found] == [3] * 4 + [0] * 4
    again = explain(recording, "decoder.context.context", 1, 5)
    assert again.shown == last[5]
