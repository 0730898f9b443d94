"""Recordings on a GPU equal those on a CPU, for every kernel and option."""

import copy
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
def test_vectors_are_those_of_the_attention_whatever_the_model_does_with_them_later(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "LARGE", 64)
    want = ("queries", "keys", "values")
    plain, reusing = make_gpt2().to(device), make_gpt2().to(device)
    attention, made = reusing.transformer.h[0].attn, []

    def use_again(*_: object) -> None:
        made.pop().zero_()

    attention.c_attn.register_forward_hook(lambda *words: made.append(words[-1]))
    attention.register_forward_hook(use_again)
    expected, seen = (load(each).record(ids_of(70), want=want, kernel="exact") for each in (plain, reusing))
    for name in want:
        assert np.array_equal(getattr(seen.maps[0], name), getattr(expected.maps[0], name)), name


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
