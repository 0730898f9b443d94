"""Recordings on a GPU equal those on a CPU, for every kernel and option."""

import copy
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

from glassformer import bundle
from glassformer.config import ModelConfig
from glassformer.errors import RecordingError
from glassformer.loaded.opening import load
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.transformer import Transformer
from glassformer.recorders import store as keeping
from glassformer.recorders.edits import AblateHead, CutEdge
from glassformer.recorders.maps import SHORTEST_PYRAMID
from glassformer.recorders.statistics import transfer
from glassformer.recorders.statistics.measure import attend_and_measure
from glassformer.recorders.statistics.raw import Wanted
from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recording import Recording, tile

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")

# The CPU is compared with itself, which shows that these tests say what they mean.
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
NAMES = ("entropy", "peak", "log_sum_exp", "thumbnail_mean", "thumbnail_max", "allowed")
LONG = 1500  # tokens: no matrix is kept


def make_gpt2(**words: Any) -> Any:
    torch.manual_seed(0)
    settings = {"vocab_size": 60, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 9000}
    roles = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    return hf.GPT2LMHeadModel(hf.GPT2Config(**settings | roles | words)).eval()


def ids_of(count: int) -> list[int]:
    return torch.randint(3, 60, (count,), generator=torch.Generator().manual_seed(count)).tolist()


def record_both(model: Any, device: str, *places: Any, **words: Any) -> tuple[Recording, Recording]:
    there = load(copy.deepcopy(model).to(device)).record(*places, **words)
    return there, load(model).record(*places, **words)


def compare(there: Recording, here: Recording, tolerance: float = 1e-4) -> None:
    assert len(there.maps) == len(here.maps) > 0
    for seen, wanted in zip(there.maps, here.maps, strict=True):
        assert seen.name == wanted.name
        for name in NAMES:
            values = [getattr(each.statistics, name).astype(np.float64) for each in (seen, wanted)]
            assert np.allclose(*values, rtol=0, atol=tolerance, equal_nan=True), name
        assert np.allclose(seen.statistics.mass, wanted.statistics.mass, rtol=tolerance, atol=tolerance)
    if here.output is not None and there.output is not None:
        assert np.abs(there.output.log_probabilities - here.output.log_probabilities).max() <= tolerance


@pytest.mark.parametrize("device", DEVICES)
def test_short_texts_are_recorded_with_their_weights(device: str) -> None:
    there, here = record_both(make_gpt2(), device, ids_of(40), want=("weights", "scores", "output", "hidden"))
    compare(there, here)
    for seen, wanted in zip(there.maps, here.maps, strict=True):
        assert np.abs(seen.weights() - wanted.weights()).max() <= 1e-5


@pytest.mark.parametrize("device", DEVICES)
def test_long_texts_are_recorded_without_a_matrix(device: str) -> None:
    there, here = record_both(make_gpt2(), device, ids_of(LONG))
    compare(there, here)
    for seen, wanted in zip(there.maps, here.maps, strict=True):
        assert seen.dense is None
        assert np.abs(tile(seen, 1, 0, 5, 5) - tile(wanted, 1, 0, 5, 5)).max() <= 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("device", [pytest.param("cuda", marks=pytest.mark.gpu)])
def test_very_long_texts_have_pyramids_of_every_head(device: str) -> None:
    model = make_gpt2(n_layer=1, n_head=2)
    there, here = record_both(model, device, ids_of(SHORTEST_PYRAMID + 300), want=("statistics",))
    compare(there, here)
    (seen,), (wanted,) = there.maps, here.maps
    assert list(seen.pyramids) == list(wanted.pyramids) == [0, 1]
    for head, pyramid in wanted.pyramids.items():
        assert np.abs(seen.pyramids[head].mean - pyramid.mean).max() <= 1e-6
        assert np.abs(seen.pyramids[head].maximum - pyramid.maximum).max() <= 1e-4


@pytest.mark.gpu
@pytest.mark.parametrize("pyramids", [(), (0, 1), range(4)])
def test_measuring_waits_for_nothing(pyramids: Collection[int]) -> None:
    """Whoever waited would keep the next layers from being queued, and their work from hiding the journey."""
    chance = torch.Generator().manual_seed(0)
    states = [
        torch.randn(4, SHORTEST_PYRAMID, 64, generator=chance).to("cuda", torch.bfloat16) for _ in "qkv"
    ]
    scoring = Scoring(0.125, causal=True)
    attend_and_measure(*states, scoring, Wanted(pyramids=pyramids))  # kernels are compiled
    torch.cuda.set_sync_debug_mode("error")
    try:
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


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("to_file", [False, True])
def test_large_states_are_kept_piece_by_piece(
    device: str, to_file: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "PIECE", 50_000)  # bytes: less than one head, and no multiple of a vector
    monkeypatch.setattr(keeping, "LARGE", 1000)
    model, want = make_gpt2(), ("queries", "keys", "values")
    wanted = load(model).record(ids_of(LONG), want=want)
    subject = load(copy.deepcopy(model).to(device))
    if to_file:
        with keeping.writing_to(tmp_path / "a.bundle") as heading:
            heading.finish(subject.record(ids_of(LONG), want=want, keep=heading.store))
        seen = bundle.open(tmp_path / "a.bundle")
    else:
        seen = subject.record(ids_of(LONG), want=want)
    for there, here in zip(seen.maps, wanted.maps, strict=True):
        for name in want:
            assert np.abs(getattr(there, name) - getattr(here, name)).max() <= 1e-4, name


@pytest.mark.parametrize("device", DEVICES)
def test_states_that_overflow_are_refused_by_the_name_of_their_layer(device: str) -> None:
    model = make_gpt2().to(device)
    subject = load(model)
    subject.record(ids_of(LONG), want=("statistics",))
    hook = model.transformer.h[1].ln_1.register_forward_hook(lambda _, __, output: output * torch.inf)
    with pytest.raises(RecordingError, match="decoder layer 1, self got NaN or infinity"):
        subject.record(ids_of(LONG), want=("statistics",))
    hook.remove()
    assert len(subject.record(ids_of(LONG), want=("statistics",)).maps) == 2


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("prompt", [12, LONG])
def test_generation_is_recorded_step_by_step(device: str, prompt: int) -> None:
    settings = GenerationSettings(max_new_tokens=4, beams=2)
    there, here = record_both(make_gpt2(), device, ids_of(prompt), decode=settings)
    compare(there, here)
    assert there.generation is not None
    assert here.generation is not None
    assert [step.token for step in there.generation.steps] == [step.token for step in here.generation.steps]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["GPT-2", "BLOOM"])
def test_edits_do_the_same(device: str, kind: str) -> None:
    model = make_gpt2()
    if kind == "BLOOM":  # off the attention interface
        torch.manual_seed(0)
        model = hf.BloomForCausalLM(hf.BloomConfig(vocab_size=60, hidden_size=32, n_layer=2, n_head=4)).eval()
    edits = [AblateHead("decoder", "self", 0, 1), CutEdge("decoder", "self", 1, 3, 5, 2)]
    compare(*record_both(model, device, ids_of(12), edits=edits))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("count", [20, LONG])
def test_our_own_networks_are_recorded_alike(device: str, count: int) -> None:
    torch.manual_seed(0)
    config = ModelConfig(60, shape="decoder", layers=2, width=32, heads=4, positions="rotary", dropout=0.0)
    network = Transformer(config).eval()
    there, here = (
        load(copy.deepcopy(network).to(each), None, name="tiny").record(ids_of(count))
        for each in (device, "cpu")
    )
    compare(there, here)
