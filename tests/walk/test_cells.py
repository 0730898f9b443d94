"""The arithmetic of one number: its terms, and what they add up to."""

import numpy as np
import pytest

from glassformer.recording import Recording
from glassformer.walk import explain
from glassformer.walk.cells import _choose_terms
from glassformer.walk.working import Working


def test_a_masked_score_is_no_number(traced: Recording) -> None:
    cell = explain(traced, "decoder.0.self.scores", 0, 1, 0)
    assert (cell.value, cell.shown, cell.difference) == (None, None, 0.0)
    assert cell.numbers["allowed"] == 0


def test_many_terms_are_summed_up(traced: Recording) -> None:
    cell = explain(traced, "output.probabilities", 1, 4)
    logits = traced.trace["output/logits"][1].astype(np.float64)
    weights = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    assert len(cell.terms) + cell.left_out == 5000
    assert len(cell.terms) <= 256 + 8
    assert len(cell.model_dump_json()) < 60_000
    assert sum(term.product or 0 for term in cell.terms) + cell.rest == pytest.approx(1, abs=1e-9)
    found = {term.index for term in cell.terms}
    assert {term.index for term in cell.terms if term.large} == set(np.argsort(-weights)[:8].tolist())
    for start in range(0, 5000, 20):  # what a picture of all of them shows: the highest of each few
        assert start + int(weights[start : start + 20].argmax()) in found


def test_few_terms_are_all_sent() -> None:
    left = np.arange(256.0)
    terms, left_out, rest = _choose_terms(Working(0.0, left, left))
    assert ([term.index for term in terms], left_out, rest) == (list(range(256)), 0, 0.0)
