"""Arrays of a walk: of the trace, of the rest of a recording, or of a file that cannot be trusted."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glassformer import bundle
from glassformer.errors import ApiError, ConfigurationError, GlassformerError
from glassformer.recording import Recording
from glassformer.walk import explain, make_plan
from inventions import invent_decoder


def test_an_old_bundle_opens_as_before(tmp_path: Path) -> None:
    recording = invent_decoder()
    path = tmp_path / "old.bundle"
    bundle.save(recording, path)
    assert b"architecture" not in path.read_bytes()
    again = bundle.open(path)
    assert again.architecture is None
    assert again.trace == {}


def test_a_file_may_lie(traced: Recording) -> None:
    words = dict(traced.architecture or {})
    with pytest.raises(ConfigurationError):
        make_plan(replace(traced, architecture={"norm_position": "pre"}))
    with pytest.raises(ConfigurationError):
        make_plan(replace(traced, architecture={**words, "heads": 0}))
    with pytest.raises(GlassformerError, match="Expected a text, a number, a boolean or None"):
        replace(traced, architecture={"width": [1]})  # type: ignore[dict-item]
    with pytest.raises(GlassformerError, match="Expected float32"):
        replace(traced, trace={"encoder/0/self/queries": np.array(["a"])})  # type: ignore[dict-item]
    short = {**traced.trace, "parameters/encoder.layers.0.attention.qkv.weight": np.zeros((3, 2))}
    with pytest.raises(ApiError, match="do not fit together"):
        explain(replace(traced, trace=short), "encoder.0.self.keys", 0, 0, 1)
    flat = {**traced.trace, "encoder/0/self/queries": np.zeros(4, dtype=np.float32)}
    steps = {
        step.id: step for chapter in make_plan(replace(traced, trace=flat)).chapters for step in chapter.steps
    }
    assert steps["encoder.0.self.queries"].missing is not None
