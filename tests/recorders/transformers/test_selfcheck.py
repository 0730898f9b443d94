"""What a model of transformers is compared with, on and off the attention interface."""

import pytest
import torch
import transformers as hf

from glassformer.loaded.opening import load
from glassformer.recorders.transformers import selfcheck
from glassformer.recording import Evidence
from their_models import SMALL, ids_of, make_gpt2


def check(model: torch.nn.Module) -> Evidence:
    return load(model).record(ids_of(9)).evidence


def make_gptj() -> torch.nn.Module:
    torch.manual_seed(0)
    config = hf.GPTJConfig(
        vocab_size=40, n_positions=64, n_embd=32, n_layer=2, n_head=4, rotary_dim=4,
        bos_token_id=0, eos_token_id=1,
    )  # fmt: skip
    return hf.GPTJForCausalLM(config)


def test_a_model_that_reports_nothing_is_compared_by_its_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    run_eager = selfcheck.run_eager
    monkeypatch.setattr(selfcheck, "run_eager", lambda *given: (run_eager(*given)[0], []))
    evidence = check(make_gpt2())
    assert evidence.exact
    assert evidence.largest_error == 0.0
    assert str(evidence.reference) == "the model's outputs with eager attention"


def test_reported_weights_are_compared_with_softmax_results() -> None:
    evidence = check(make_gptj())
    assert evidence.exact
    assert str(evidence).endswith("exact · no difference from the softmax results of the same pass")


def test_reported_weights_that_no_softmax_gave_are_not_called_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfcheck, "are_equal", lambda *_: False)
    evidence = check(make_gptj())
    assert evidence.largest_error is None
    assert str(evidence).endswith("float32 · not compared with a reference")
    assert "recorders.notes.some_equal" in {note.code for note in evidence.notes}


def test_a_comparison_of_nothing_is_not_called_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfcheck, "collect_softmaxes", lambda *_: ([], []))
    evidence = check(make_gptj())
    assert not evidence.exact
    assert evidence.largest_error is None


def test_bands_are_not_called_exact() -> None:
    torch.manual_seed(0)
    model = hf.LongformerModel(hf.LongformerConfig(**SMALL, attention_window=4, max_position_embeddings=64))
    evidence = check(model)
    assert not evidence.exact
    assert evidence.largest_error is None
