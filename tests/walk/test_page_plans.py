"""The page's tests use plans of real networks: web/src/testing/plans.test.json is what `make_plan` gives.

To write the file again: GLASSFORMER_WRITE_PLANS=1 pytest tests/walk/test_page_plans.py
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from glassformer.walk import make_plan
from traces import record_recurrent, record_trace

FILE = Path(__file__).parents[2] / "web" / "src" / "testing" / "plans.test.json"
TRANSFORMERS: dict[str, dict[str, Any]] = {
    "paper": {"shape": "decoder", "positions": "sinusoidal"},
    "marian": {"positions": "sinusoidal-halves", "activation": "silu", "tie_embeddings": False},
    "gpt": {
        "shape": "decoder",
        "positions": "learned",
        "norm_position": "pre",
        "activation": "gelu-tanh",
        "scale_embeddings": False,
    },
    "rotary": {
        "layers": 2,
        "shape": "decoder",
        "positions": "rotary",
        "share_layers": True,
        "activation": "gelu",
    },
    "classes": {"shape": "encoder", "head": "classes", "classes": 2, "pooling": "mean", "pooler": True},
    "tags": {"shape": "encoder", "head": "tags", "classes": 2},
    "numbers": {"shape": "encoder", "head": "numbers", "classes": 1, "pooling": "mean"},
    "additive": {
        "shape": "encoder",
        "head": "masked",
        "similarity": "additive",
        "residual_scale": True,
        "best_keys": 2,
    },
    "local": {
        "shape": "decoder",
        "positions": "alibi",
        "heads": 4,
        "key_heads": 2,
        "query_key_norm": True,
        "window": 2,
        "score_scale": 0.5,
    },
    "near": {"shape": "encoder", "head": "masked", "similarity": "cosine", "score_scale": 4.0, "window": 2},
}


@pytest.mark.slow
def test_the_page_is_tested_with_plans_as_they_are() -> None:
    plans = {
        name: make_plan(record_trace(**{"layers": 1, **settings})) for name, settings in TRANSFORMERS.items()
    }
    plans |= {name: make_plan(record_recurrent(context=name)) for name in ("attention", "fixed")}
    plans["lstm"] = make_plan(record_recurrent(cell="lstm", tie_embeddings=False))
    found = {name: plan.model_dump(mode="json", exclude_none=True) for name, plan in plans.items()}
    if os.environ.get("GLASSFORMER_WRITE_PLANS"):
        lines = [f'"{name}": {json.dumps(plan, ensure_ascii=False)}' for name, plan in found.items()]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    assert json.loads(FILE.read_text(encoding="utf-8")) == json.loads(json.dumps(found))
