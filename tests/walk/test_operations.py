"""The arithmetic of each operation, for one number at a time."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.errors import ApiError
from glassformer.recording import Recording
from glassformer.walk import explain


def test_numbers_beyond_all_measure_are_refused_and_break_nothing(full: Recording) -> None:
    words = {**(full.architecture or {}), "norm": "batch", "norm_epsilon": 2**-17}
    norm = "parameters/encoder.layers.0.attention_residual.norm"
    none = {
        f"{norm}.running_mean": np.zeros(16, dtype=np.float32),
        f"{norm}.running_var": np.full(16, -(2**-17), dtype=np.float32),
    }
    spoilt = replace(full, architecture=words, trace={**full.trace, **none})
    with pytest.raises(ApiError, match="do not fit together"):  # nothing divided by nothing
        explain(spoilt, "encoder.0.self.norm")
    inner = np.full_like(full.trace["encoder/0/feed_forward/inner"], 3e38)
    words = {**(full.architecture or {}), "activation": "gelu-tanh"}
    spoilt = replace(full, architecture=words, trace={**full.trace, "encoder/0/feed_forward/inner": inner})
    assert explain(spoilt, "encoder.0.feed_forward.active").shown == pytest.approx(3e38, rel=1e-6)
