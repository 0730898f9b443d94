"""The arithmetic of attention, for one number at a time."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.recording import Recording
from glassformer.walk import explain, make_plan
from traces import record_trace


def test_a_query_and_its_key_are_multiplied(full: Recording) -> None:
    cell = explain(full, "encoder.0.self.products", 1, 2, 0)
    queries, keys = (
        full.trace[f"encoder/0/self/{name}"][0].astype(np.float64) for name in ("queries", "keys")
    )
    assert [term.product for term in cell.terms] == pytest.approx((queries[1] * keys[2]).tolist())
    assert [(each.name, each.head, each.row) for each in cell.reads] == [
        ("encoder/0/self/queries", 0, 1),
        ("encoder/0/self/keys", 0, 2),
    ]


def test_weights_are_shares_of_all_keys(full: Recording) -> None:
    cell = explain(full, "encoder.0.self.weights", 1, 2, 0)
    assert sum(term.product or 0 for term in cell.terms) == pytest.approx(1)
    assert cell.shown == pytest.approx(cell.numbers["power"] / cell.sum)


def test_values_are_mixed_by_weight(full: Recording) -> None:
    cell = explain(full, "decoder.0.cross.mixed", 1, 3, 1)
    weights = full.map("decoder", "cross", 0).weights(1)[1]
    assert [term.left for term in cell.terms] == pytest.approx(weights.tolist())
    assert cell.sum == pytest.approx(cell.shown)


def test_joined_heads_stand_side_by_side(full: Recording) -> None:
    cell = explain(full, "encoder.0.self.joined", 2, 11)  # two heads of eight features
    assert cell.value == float(full.trace["encoder/0/self/mixed"][1, 2, 3])


def test_pairs_of_features_turn_with_the_position() -> None:
    turned = record_trace(positions="rotary")
    first = explain(turned, "encoder.0.self.queries_turned", 0, 3, 0)
    assert first.numbers["angle"] == 0
    assert first.shown == pytest.approx(float(turned.trace["encoder/0/self/queries"][0, 0, 3]))
    cell = explain(turned, "encoder.0.self.queries_turned", 2, 3, 0)
    assert [term.label for term in cell.terms] == ["3", "7"]  # a feature, and the one half a head further


@pytest.mark.parametrize("similarity", ["cosine", "bilinear", "additive"])
def test_other_similarities_are_sums_over_features(similarity: str) -> None:
    recording = record_trace(similarity=similarity)
    cell = explain(recording, "encoder.0.self.scaled", 1, 2, 1)
    assert cell.operation == similarity
    assert sum(term.product or 0 for term in cell.terms) == pytest.approx(cell.sum)


def test_only_the_best_keys_share_the_weight() -> None:
    recording = record_trace(best_keys=2)
    cell = explain(recording, "encoder.0.self.weights", 1, 0, 0)
    assert sum((term.product or 0) > 0 for term in cell.terms) == 2


def test_a_key_that_comes_later_is_masked(full: Recording) -> None:
    assert explain(full, "decoder.0.self.scores", 0, 1, 0).numbers["allowed"] == 0
    assert explain(full, "decoder.0.self.scores", 1, 1, 0).numbers["allowed"] == 1
    bare = replace(full, trace={})
    steps = {step.id: step for chapter in make_plan(bare).chapters for step in chapter.steps}
    assert steps["decoder.0.self.scores"].missing is None  # kept beside the trace, too
