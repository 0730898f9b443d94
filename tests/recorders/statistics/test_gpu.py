"""Statistics on a GPU."""

from collections.abc import Collection

import numpy as np
import pytest
import torch

from glassformer.recorders.maps import SHORTEST_PYRAMID
from glassformer.recorders.statistics.measure import Measured, attend_and_measure
from glassformer.recorders.statistics.raw import Wanted
from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recording import pool_mean
from measured_examples import Example, check, make_example
from tolerances import assert_near


def on_gpu(example: Example, dtype: torch.dtype) -> Measured:
    states = [each.to("cuda", dtype) for each in (example.queries, example.keys, example.values)]
    return attend_and_measure(*states, example.scoring, Wanted(example.rows, True, (2,)))


@pytest.mark.gpu
@pytest.mark.parametrize("length", [100, 300])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_gpu_equals_float64(kind: str, length: int, dtype: torch.dtype) -> None:
    example = make_example(kind, length, dtype=dtype)
    measured = on_gpu(example, dtype)
    check(measured.statistics, example, relative=True)
    assert measured.weights is not None
    assert measured.output is not None
    assert np.abs(measured.weights - example.weights).max() <= 3 * example.rounding
    coarse = 3e-2 if dtype == torch.bfloat16 else 10 * example.rounding
    assert np.abs(measured.output.float().cpu().numpy() - example.output).max() <= coarse
    found = measured.pyramids[2]
    assert_near(found.mean, pool_mean(example.weights[2], found.level))


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore:Synchronization debug mode:UserWarning")  # torch calls it a prototype
@pytest.mark.parametrize("pyramids", [(), (0, 1), range(4)])
def test_measuring_waits_for_nothing(pyramids: Collection[int]) -> None:
    """Waiting would keep the next layers from being queued, and the copies from overlapping with them."""
    chance = torch.Generator().manual_seed(0)
    states = [
        torch.randn(4, SHORTEST_PYRAMID, 64, generator=chance).to("cuda", torch.bfloat16) for _ in "qkv"
    ]
    scoring = Scoring(0.125, causal=True)
    attend_and_measure(*states, scoring, Wanted(pyramids=pyramids))  # kernels are compiled
    try:
        torch.cuda.set_sync_debug_mode("error")
        measured = attend_and_measure(*states, scoring, Wanted(pyramids=pyramids))
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert measured.statistics.entropy.shape == (4, SHORTEST_PYRAMID)
    assert list(measured.pyramids) == list(pyramids)


@pytest.mark.gpu
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("tokens", [1024, 1500])
@pytest.mark.parametrize("kernel", ["_run_cudnn", "_run_flash"])
def test_kernels_of_torch_give_the_log_sum_exp(kernel: str, tokens: int, causal: bool) -> None:
    from glassformer.recorders.statistics import gpu as statistics_gpu

    chance = torch.Generator().manual_seed(tokens)
    whole = torch.randn(tokens, 3, 5, 64, generator=chance).to("cuda", torch.bfloat16)
    queries, keys, values = (each.transpose(0, 1) for each in whole.unbind(1))  # as a network has them: views
    scores = queries.double() @ keys.double().transpose(1, 2) * 0.2
    if causal:
        scores.masked_fill_(torch.ones(tokens, tokens, dtype=torch.bool, device="cuda").triu(1), -torch.inf)
    try:
        output, found = getattr(statistics_gpu, kernel)(queries, keys, values, Scoring(0.2, causal=causal))
    except RuntimeError as error:
        pytest.skip(f"torch has no such kernel here: {str(error).splitlines()[0]}")
    assert found.shape == (5, tokens)
    assert (found - scores.logsumexp(-1)).abs().max() <= 1e-4
    assert (output - scores.softmax(-1) @ values.double()).abs().max() <= 0.03
    assert output.transpose(0, 1).is_contiguous()


def test_torch_still_takes_what_its_kernels_are_given() -> None:
    """They are not for the public; a machine without a GPU sees, too, when a version changes them."""
    states, ours = ["query", "key", "value"], ["dropout_p", "is_causal", "return_debug_mask", "scale"]
    for name, also in (("cudnn", ["attn_bias", "compute_log_sumexp"]), ("flash", [])):
        kernel = getattr(torch.ops.aten, f"_scaled_dot_product_{name}_attention").default
        assert [each.name for each in kernel._schema.arguments] == states + also + ours
        assert [each.name for each in kernel._schema.returns][:2] == ["output", "logsumexp"]
    batch = torch.ones(1, 2, 5, 8)
    assert isinstance(torch._fused_sdp_choice(batch, batch, batch, is_causal=True, scale=0.2), int)


@pytest.mark.gpu
def test_what_cudnn_refuses_flash_attention_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    from glassformer.recorders.statistics import gpu as statistics_gpu

    def refuse(*_: object) -> None:
        raise RuntimeError("No valid execution plans built.")

    monkeypatch.setattr(statistics_gpu, "_prefers_cudnn", lambda *_: True)
    monkeypatch.setattr(statistics_gpu, "_run_cudnn", refuse)
    states = torch.randn(3, 2, 40, 64, generator=torch.Generator().manual_seed(0)).to("cuda", torch.bfloat16)
    output, found = statistics_gpu.find_log_sum_exp(*states, Scoring(0.2))
    wanted = states[0].double() @ states[1].double().transpose(1, 2) * 0.2
    assert output is not None
    assert (found - wanted.logsumexp(-1)).abs().max() <= 1e-4
