"""Weights of eight bits: products within a step of their inputs, softmaxes, refusals."""

import copy

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import glassformer as gf
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.model.int8 import is_int8, round_to_int8
from glassformer.model.linear import Int8Weight, Linear, _adds_in_32_bits, find_scales, knows_int8
from glassformer.model.recurrent import RecurrentConfig, RecurrentTranslator
from glassformer.rounding import rounding

pytestmark = pytest.mark.skipif(not knows_int8(), reason="no kernels for eight bits here")

LEVELS = 255 if _adds_in_32_bits() else 127


def build(shape="encoder-decoder"):
    torch.manual_seed(0)
    config = gf.ModelConfig(
        vocabulary_size=40, shape=shape, layers=2, width=32, heads=4, feed_forward=64, start_id=1, end_id=2
    )
    return gf.Transformer(config).eval()


@pytest.fixture
def layer():
    torch.manual_seed(0)
    layer = Linear(48, 20)
    with torch.no_grad():
        scales = find_scales(layer.weight)
        layer.weight.copy_((layer.weight / scales).round() * scales)
        layer.bias.normal_()
    layer.packed = Int8Weight()
    return layer


@pytest.mark.parametrize("shape", [(48,), (1, 48), (3, 5, 48), (100, 48)])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_a_product_is_within_a_step_of_its_inputs(layer, shape, size):
    inputs = torch.randn(shape) * size * torch.logspace(-2, 2, shape[0]).view(-1, *[1] * (len(shape) - 1))
    with torch.no_grad():
        found = layer(inputs).double()
        exact = F.linear(inputs.double(), layer.weight.double(), layer.bias.double())
    rows = inputs.reshape(-1, 48).double()
    # From minus to plus the largest number of a row; half a step is lost by rounding, and half at the ends.
    step = (2 * rows.abs().amax(1) / LEVELS)[:, None]
    allowed = step * layer.weight.double().abs().sum(1)
    allowed += rounding(operations=2, summands=48, magnitude=float(exact.abs().max()))
    far = (found - exact).abs().reshape(len(rows), -1)
    assert bool((far <= allowed).all())
    assert layer(inputs * torch.nan).isnan().all()
    assert bool((far > 0).any())  # eight bits were used


def test_it_follows_its_weight_and_is_copied(layer):
    inputs = torch.randn(2, 48)
    with torch.no_grad():
        before = layer(inputs)
        other = copy.deepcopy(layer).to("cpu")
        assert isinstance(other.packed, Int8Weight)
        assert torch.equal(other(inputs), before)
        layer.weight.neg_()
        layer.bias.neg_()
        assert torch.equal(layer(inputs), -before)


def test_a_network_is_rounded_once_and_what_is_tied_stays_tied():
    network = round_to_int8(build())
    kept = {name: each.clone() for name, each in network.state_dict().items()}
    assert is_int8(network)
    for name, each in round_to_int8(network).state_dict().items():
        np.testing.assert_allclose(each, kept[name], rtol=4 * np.finfo(np.float32).eps, err_msg=name)
    vectors = network.output_vectors().detach()
    steps = vectors / find_scales(vectors)
    assert float((steps - steps.round()).abs().max()) <= 256 * np.finfo(np.float32).eps


def test_maps_are_those_of_the_rounded_network_and_the_evidence_says_so():
    network = build()
    ids, target = [5, 9, 3, 17, 4, 8], [6, 7, 11]
    before = gf.record(network, ids, target)
    model = load(network, name="tiny", weights="int8")
    assert not is_int8(network)  # a live network is copied
    found = model.record(ids, target, want=("weights", "output"))
    assert found.evidence.exact
    assert found.evidence.model_hash != before.evidence.model_hash
    assert "loaded.int8" in [note.code for note in found.evidence.notes]
    for one, other in zip(found.maps, before.maps, strict=True):
        np.testing.assert_allclose(one.weights().sum(-1), 1, atol=rounding(summands=6))
        assert 0 < np.abs(one.weights() - other.weights()).max() < 0.1


def test_it_generates():
    model = load(build(), weights="int8")
    alone = [model.generate([row])[0][0].ids for row in ([5, 9, 3], [4, 4, 8, 7])]
    assert all(len(ids) > 0 for ids in alone)
    assert len(model.generate([[5, 9, 3], [4, 4, 8, 7]], gf.GenerationSettings(beams=3))) == 2


def test_what_eight_bits_cannot_do_is_refused_by_name():
    model = load(build(), name="tiny", weights="int8")
    assert not {"traces", "gradients"} & model.capabilities
    with pytest.raises(InputError, match="tiny computes with eight bits"):
        model.record([5, 9], [3], want=("trace",))
    with pytest.raises(InputError, match="tiny computes with eight bits"):
        model.require("gradients")
    with pytest.raises(InputError, match="weights='int4' is not known"):
        load(build(), weights="int4")
    with pytest.raises(InputError, match=r"on cpu, in torch\.float64"):
        load(build().double(), weights="int8")
    recurrent = RecurrentTranslator(RecurrentConfig(vocabulary_size=40, width=16, start_id=1, end_id=2))
    with pytest.raises(InputError, match="A RecurrentTranslator has no weights of eight bits"):
        load(recurrent, weights="int8")


def test_a_model_of_transformers_is_refused_by_name():
    from transformers import GPT2Config, GPT2LMHeadModel

    theirs = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_embd=16, n_layer=1, n_head=2))
    with pytest.raises(InputError, match="theirs runs in the library transformers"):
        load(theirs, name="theirs", weights="int8")
