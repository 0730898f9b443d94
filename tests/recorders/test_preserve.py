"""Recording leaves a model exactly as it was found."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from torch._dynamo import eval_frame

from glassformer.loaded.opening import load
from glassformer.recorders.preserve import HOOKS, configurations
from glassformer.weights.checkpoint import adopt
from their_models import ids_of, make_bart, make_bert, make_gpt2


def snapshot(model: Any) -> dict[str, Any]:
    """Everything that recording might leave changed."""
    hooks = {
        f"{name}.{kind}": list(getattr(module, kind))
        for name, module in model.named_modules()
        for kind in HOOKS
    }
    return {
        "modes": {name: module.training for name, module in model.named_modules()},
        "hooks": hooks,
        "marks": [
            name for name, m in model.named_modules() if "_output_capturing_hooks_installed" in m.__dict__
        ],
        "configs": [dict(config.__dict__) for config in configurations(model, generation=True)],
        "implementation": model.config._attn_implementation,
        "modules": [(name, id(module)) for name, module in model.named_modules()],
        "weights": {name: weight.clone() for name, weight in model.state_dict().items()},
        "requires_grad": [weight.requires_grad for weight in model.parameters()],
        "grad": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "attention": dict(hf.AttentionInterface._global_mapping),
        "masks": dict(hf.masking_utils.AttentionMaskInterface._global_mapping),
        "generator": torch.get_rng_state().tolist(),
    }


def same(before: dict[str, Any], after: dict[str, Any]) -> None:
    weights, others = before.pop("weights"), after.pop("weights")
    assert before == after
    assert all(torch.equal(weights[name], others[name]) for name in weights)


@pytest.mark.parametrize("make", [make_gpt2, make_bert, make_bart])
@pytest.mark.parametrize("kernel", ["exact", "fast"])
def test_the_model_is_left_exactly_as_found(make: Callable[[], Any], kernel: Any) -> None:
    model = make()
    model.train()
    list(model.modules())[5].eval()  # a mode of its own
    handle = model.register_forward_hook(lambda *_: None)
    before = snapshot(model)
    subject = load(model)
    subject.record(ids_of(8), want=("weights", "hidden", "output", "values"), kernel=kernel)
    same(before, snapshot(model))
    handle.remove()
    assert not model._forward_hooks


def test_the_model_is_left_as_found_after_an_exception() -> None:
    model = make_gpt2()
    subject = load(model)
    subject.record(ids_of(8))  # the self-check is over
    broken = model.transformer.h[1].mlp.register_forward_hook(raise_error)
    before = snapshot(model)
    with pytest.raises(ZeroDivisionError):
        subject.record(ids_of(8), want=("weights", "hidden"))
    same(before, snapshot(model))
    broken.remove()
    assert subject.record(ids_of(8)).maps


def raise_error(*_: Any) -> None:
    raise ZeroDivisionError


@pytest.mark.slow
def test_compiled_models_are_recorded_as_they_are_written() -> None:
    ids = torch.tensor([ids_of(8)])
    expected = load(make_gpt2()).record(ids_of(8))
    wrapped, in_place, one_part = make_gpt2(), make_gpt2(), make_gpt2()
    in_place.compile(backend="aot_eager")
    one_part.transformer.h[1].attn.compile(backend="aot_eager")
    for model in (torch.compile(wrapped, backend="aot_eager"), in_place, one_part):
        with torch.no_grad():
            model(ids)  # compiled by now
        recording = load(model).record(ids_of(8))
        for seen, wanted in zip(recording.maps, expected.maps, strict=True):
            assert np.array_equal(seen.dense, wanted.dense)
    assert eval_frame._stance.stance == "default"


@contextmanager
def under(setting: str) -> Iterator[None]:
    """Settings of torch that somebody may have changed."""
    try:
        match setting:
            case "float64":
                torch.set_default_dtype(torch.float64)
            case "elsewhere":
                torch.set_default_device("meta")
            case "deterministic":
                torch.use_deterministic_algorithms(True)
        with torch.autocast("cpu", torch.float16, enabled=setting == "autocast"):
            yield
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("kernel", ["exact", "fast"])
@pytest.mark.parametrize("setting", ["float64", "elsewhere", "deterministic", "autocast", "inference"])
def test_the_settings_of_torch_change_nothing(setting: str, kernel: Any) -> None:
    subjects = load(make_gpt2()), load(adopt(make_gpt2()))
    ids = ids_of(8)
    for subject in subjects:
        expected = subject.record(ids, kernel=kernel)
        fresh = load(subject.network)
        with under(setting), torch.inference_mode(setting == "inference"):
            recording = fresh.record(ids, kernel=kernel)
            assert torch.is_autocast_enabled("cpu") == (setting == "autocast")
        assert recording.evidence.dtype == recording.maps[0].dtype == "float32"
        for seen, wanted in zip(recording.maps, expected.maps, strict=True):
            assert np.array_equal(seen.weights(), wanted.weights())
            assert np.array_equal(seen.statistics.entropy, wanted.statistics.entropy)


def test_a_model_that_gives_tuples_is_recorded_and_goes_on_to() -> None:
    for make in (make_gpt2, make_bert):
        model = make(return_dict=False)
        expected = load(make()).record(ids_of(8), want=("weights", "hidden", "output"))
        recording = load(model).record(ids_of(8), want=("weights", "hidden", "output"))
        assert model.config.return_dict is False
        assert np.array_equal(recording.maps[1].dense, expected.maps[1].dense)
        assert recording.hidden.keys() == expected.hidden.keys()


def test_training_goes_on_after_recording() -> None:
    model = make_gpt2()
    load(model).record(ids_of(8), want=("weights", "hidden"))
    ids = torch.tensor([ids_of(8)])
    model(ids, labels=ids).loss.backward()
    assert float(model.transformer.h[0].attn.c_attn.weight.grad.abs().sum()) > 0


def test_a_model_that_runs_fused_is_recorded_and_stays_fused() -> None:
    model = make_gpt2()
    ids = torch.tensor([ids_of(10)])
    assert model.config._attn_implementation == "sdpa"
    assert not model(ids, output_attentions=True).attentions  # asked so, it reports nothing
    assert len(load(model).record(ids[0].tolist()).maps) == 2
    assert model.config._attn_implementation == "sdpa"
