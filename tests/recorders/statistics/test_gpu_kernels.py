"""The kernels on a GPU, on long texts."""

import numpy as np
import pytest
import torch

from glassformer.recorders.statistics.measure import attend_and_measure
from glassformer.recorders.statistics.raw import Wanted
from glassformer.recorders.statistics.scoring import Scoring
from tolerances import assert_near


@pytest.mark.gpu
@pytest.mark.parametrize("length", [4096, 4100, 9000])
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_gpu_equals_cpu_on_long_texts(length: int, kind: torch.dtype) -> None:
    chance = torch.Generator().manual_seed(length)
    queries, keys, values = (torch.randn(2, length, 64, generator=chance).to(kind) for _ in range(3))
    scoring = Scoring(0.2, causal=True)
    there = attend_and_measure(queries.cuda(), keys.cuda(), values.cuda(), scoring, Wanted(pyramids=(1,)))
    here = attend_and_measure(queries.float(), keys.float(), values.float(), scoring, Wanted(pyramids=(1,)))
    for name in ("entropy", "peak", "log_sum_exp", "thumbnail_mean", "thumbnail_max", "allowed"):
        seen, wanted = getattr(there.statistics, name), getattr(here.statistics, name)
        assert_near(seen, wanted, where=name)
    assert_near(there.statistics.mass, here.statistics.mass)
    assert np.allclose(there.statistics.distance, here.statistics.distance, rtol=1e-5, atol=1e-2)
    assert np.abs(there.statistics.above - here.statistics.above).max() <= 1
    assert_near(there.pyramids[1].mean, here.pyramids[1].mean)
