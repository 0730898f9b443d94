"""Weights of eight bits: products within a step of their inputs, softmaxes, refusals."""

import copy
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import glassformer as gf
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.model import linear
from glassformer.model.int8 import is_int8, round_to_int8
from glassformer.model.linear import (
    Int8Weight,
    Linear,
    PackedWeight,
    _adds_in_32_bits,
    find_scales,
    knows_int8,
)
from glassformer.model.recurrent import RecurrentConfig, RecurrentTranslator
from glassformer.rounding import rounding
from tolerances import assert_near

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


def test_what_harms_a_translation_most_is_not_rounded():
    network = build()
    before = copy.deepcopy(network.state_dict())
    round_to_int8(network)
    products = {name: each for name, each in network.named_modules() if isinstance(each, Linear)}
    exact = {name for name, module in products.items() if not isinstance(module.packed, Int8Weight)}
    parts = "encoder.layers.{}.feed_forward.contract", "decoder.layers.{}.feed_forward.expand"
    parts = *parts, "decoder.layers.{}.cross.kv"
    assert exact == {part.format(layer) for part in parts for layer in range(2)}
    for name, module in products.items():
        assert torch.equal(module.weight, before[f"{name}.weight"]) == (name in exact), name


@pytest.mark.parametrize("shape", ["encoder", "decoder"])
def test_without_a_translation_all_products_are_rounded(shape):
    network = round_to_int8(build(shape))
    products = [module for module in network.modules() if isinstance(module, Linear)]
    assert products
    assert all(isinstance(module.packed, Int8Weight) for module in products)


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
        assert (one.weights() != other.weights()).any()


@torch.no_grad()
def test_a_map_is_as_near_as_the_steps_of_its_queries_and_keys_allow():
    """Scores that differ by d give weights within a factor of exp(2 d): every head of the first layer."""
    network = round_to_int8(build())
    plain = copy.deepcopy(network)  # the same rounded weights, multiplied in float32
    for module in plain.modules():
        if hasattr(module, "packed"):
            module.packed = PackedWeight()
    ids = torch.tensor([[5, 9, 3, 17, 4, 8]])
    seen = [look_at_first_layer(each, ids) for each in (network, plain)]
    (_, _, found), (queries, keys, expected) = seen
    hidden = plain.embeddings(ids, plain.positions(ids, None))[0].double()
    steps = 2 * hidden.abs().amax(1) / LEVELS  # as for a product: rounding and both ends
    attention = plain.encoder.block(0).attention
    sums = attention.qkv.weight.double().abs().sum(1)[: 2 * plain.config.width]
    errors = (steps[:, None] * sums).view(len(hidden), 2, plain.config.heads, -1).permute(1, 2, 0, 3)
    queries, keys, (query_error, key_error) = queries.abs(), keys.abs(), errors  # (H, T, K) each
    far = queries @ key_error.mT + query_error @ keys.mT + query_error @ key_error.mT  # (H, T, S)
    factor = (2 * far * plain.config.head_width**-0.5).amax(-1, keepdim=True).exp()
    allowed = expected * (factor - 1) + rounding(operations=8, summands=plain.config.width)
    assert bool(((found - expected).abs() <= allowed).all())
    assert not torch.equal(found, expected)


def look_at_first_layer(network, ids):
    """Queries, keys and weights (H, T, ·) of the encoder's first layer, in float64."""
    attention, seen = network.encoder.block(0).attention, {}
    hooks = [
        getattr(attention, name).register_forward_hook(
            lambda _, __, output, name=name: seen.update({name: output[0].double()})
        )
        for name in ("queries", "keys", "pattern")
    ]
    network.encode(ids)
    for hook in hooks:
        hook.remove()
    return seen["queries"], seen["keys"], seen["pattern"]


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
@torch.no_grad()
def test_every_map_is_the_softmax_of_its_own_queries_and_keys(stack):
    """Eight bits are in the products with weights alone: attention itself stays float32."""
    network = round_to_int8(build())
    blocks = [getattr(network, stack).block(layer) for layer in range(2)]
    ids, target = torch.tensor([[5, 9, 3, 17, 4, 8]]), torch.tensor([[6, 7, 11]])
    seen = []
    for block in blocks:
        for attention in filter(None, (block.attention, block.cross)):
            parts = {}
            seen.append((attention is block.attention and stack == "decoder", parts))
            for name in ("queries", "keys", "pattern"):
                getattr(attention, name).register_forward_hook(
                    lambda _, __, output, name=name, parts=parts: parts.update({name: output.double()})
                )
    network(ids, target=target)
    for causal, parts in seen:
        scores = parts["queries"] @ parts["keys"].mT * network.config.head_width**-0.5
        if causal:
            scores = scores.masked_fill(~torch.ones(3, 3, dtype=torch.bool).tril(), -torch.inf)
        assert_near(parts["pattern"], scores.softmax(-1))
    assert len(seen) == (2 if stack == "encoder" else 4)


def test_one_thread_at_a_time_sets_the_engine(monkeypatch):
    """It is a setting of the whole process: afterwards it is what it was."""
    chosen, held = torch.backends.quantized.engine, []
    plain = torch.quantize_per_channel

    def look(*arguments):
        held.append((linear._engine.locked(), torch.backends.quantized.engine))
        return plain(*arguments)

    monkeypatch.setattr(torch, "quantize_per_channel", look)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(linear._pack_int8, torch.randn(16, 8, 8)))
    assert held == [(True, linear.ENGINE)] * 16
    assert torch.backends.quantized.engine == chosen


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
