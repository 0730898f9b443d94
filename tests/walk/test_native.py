"""The steps of our own Transformer follow its settings."""

from typing import Any

import pytest

from glassformer.walk import make_plan
from glassformer.walk.types import Step
from traces import record_trace


def list_steps(**settings: Any) -> dict[str, Step]:
    plan = make_plan(record_trace(**settings))
    return {step.id: step for chapter in plan.chapters for step in chapter.steps}


@pytest.mark.parametrize(
    ("settings", "there", "not_there"),
    [
        ({}, "encoder.0.self.norm", "encoder.0.self.normed"),
        ({"norm_position": "pre"}, "encoder.0.self.normed", "encoder.0.self.norm"),
        ({"norm_position": "pre"}, "encoder.final.norm", "encoder.embedding.norm"),
        ({"positions": "rotary"}, "decoder.1.self.keys_turned", "decoder.1.cross.keys_turned"),
        ({"positions": "relative"}, "encoder.0.self.biased", "decoder.0.cross.biased"),
        ({"positions": "learned"}, "encoder.embedding.positions", "encoder.0.self.biased"),
        ({"positions": "alibi"}, "encoder.0.self.biased", "decoder.0.cross.biased"),
        ({"query_key_norm": True}, "decoder.1.cross.keys_normed", "decoder.1.cross.values_normed"),
        ({"window": 2}, "encoder.0.self.scores", "decoder.0.cross.scores"),
        (
            {"score_scale": 0.3, "similarity": "cosine"},
            "encoder.0.self.similarities",
            "encoder.0.self.products",
        ),
        ({"score_scale": 0.3, "similarity": "dot"}, "encoder.0.self.scaled", "encoder.0.self.similarities"),
        ({"similarity": "dot"}, "encoder.0.self.products", "encoder.0.self.scaled"),
        ({"scale_embeddings": True}, "encoder.embedding.scaled", "encoder.embedding.widened"),
    ],
)
def test_a_setting_adds_its_steps(settings: dict[str, Any], there: str, not_there: str) -> None:
    steps = list_steps(**settings)
    assert there in steps
    assert not_there not in steps
    assert all(step.missing is None and step.arithmetic for step in steps.values())


def test_queries_keys_and_values_share_a_fused_projection() -> None:
    steps = list_steps()
    columns = [steps[f"encoder.0.self.{name}"].parameters.columns for name in ("queries", "keys", "values")]
    assert columns == [(0, 16), (16, 32), (32, 48)]
    assert steps["decoder.0.cross.queries"].parameters.weight == "parameters/decoder.layers.0.cross.q.weight"
    assert steps["decoder.0.cross.keys"].inputs == ("encoder/1/feed_forward/norm",)  # the encoder's memory


def test_heads_that_share_their_keys_read_narrower_parts() -> None:
    steps = list_steps(heads=4, key_heads=2, window=3)
    names = ("queries", "keys", "values")
    assert [steps[f"encoder.0.self.{name}"].parameters.columns for name in names] == [
        (0, 16),
        (16, 24),
        (24, 32),
    ]
    assert [steps[f"decoder.0.cross.{name}"].parameters.columns for name in names] == [
        (0, 16),
        (0, 8),
        (8, 16),
    ]
    assert steps["decoder.0.self.keys"].shape.output == (2, 3, 4)
    assert steps["decoder.0.self.keys"].numbers == {"heads": 2.0}
    assert steps["decoder.0.self.scores"].numbers == {"window": 3.0, "causal": 1.0}
    assert steps["encoder.0.self.scores"].numbers == {"window": 3.0, "causal": 0.0}
