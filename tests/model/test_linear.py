"""Products by oneDNN are products: forward, gradients, packed weights that follow the weight."""

import copy
import pickle

import pytest
import torch
from torch.nn import functional as F

from glassformer.model import linear
from glassformer.model.linear import PACK_AFTER, Linear, PackedWeight, generating, multiply, packing_at_once
from tolerances import assert_near


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return Linear(12, 20)


def generate_with(layer, inputs):
    """As many steps of a new generation as it takes to pack; the output of the last."""
    with generating(object()):
        for _ in range(PACK_AFTER + 2):
            output = layer(inputs)
    return output


@pytest.mark.parametrize("shape", [(12,), (1, 12), (3, 5, 12), (300, 12)])
def test_equal_to_torch(layer, shape):
    inputs = torch.randn(shape)
    with torch.no_grad():
        expected = F.linear(inputs, layer.weight, layer.bias)
        assert_near(layer(inputs), expected)
        with generating(object()):
            for _ in range(PACK_AFTER + 2):
                assert_near(layer(inputs), expected)


@pytest.mark.parametrize("sizes", [(12, 20), (20, 12)])
def test_gradients_equal_torchs(sizes):
    torch.manual_seed(0)
    layer = Linear(*sizes)
    inputs = torch.randn(4, 7, sizes[0], requires_grad=True)
    upstream = torch.randn(4, 7, sizes[1])
    wanted = [inputs, layer.weight, layer.bias]
    ours = torch.autograd.grad(layer(inputs), wanted, upstream)
    theirs = torch.autograd.grad(F.linear(inputs, layer.weight, layer.bias), wanted, upstream)
    for own, other in zip(ours, theirs, strict=True):
        assert_near(own, other)


def test_gradients_of_gradients_equal_torchs(layer):
    inputs = torch.randn(3, 12, requires_grad=True)
    wanted = [inputs, layer.weight]

    def penalty(product):
        (gradient,) = torch.autograd.grad(product.tanh().sum(), inputs, create_graph=True)
        return torch.autograd.grad(gradient.square().sum(), wanted)

    for own, other in zip(
        penalty(layer(inputs)), penalty(F.linear(inputs, layer.weight, layer.bias)), strict=True
    ):
        assert_near(own, other)


def test_strided_inputs_are_taken_as_they_are(layer):
    inputs = torch.randn(6, 12, 5).transpose(1, 2)
    with torch.no_grad():
        assert_near(layer(inputs), F.linear(inputs, layer.weight, layer.bias))


@torch.no_grad()
def test_weights_are_packed_only_while_generating(layer):
    inputs = torch.randn(2, 12)
    for _ in range(PACK_AFTER + 2):
        layer(inputs)
    assert layer.packed._weight is None
    generate_with(layer, inputs)
    assert layer.packed._weight is not None
    layer.weight.data[0, 0] += 1  # a change that nobody counts: outside of a generation it is seen at once
    assert_near(layer(inputs), F.linear(inputs, layer.weight, layer.bias))


@torch.no_grad()
def test_several_threads_multiply_one_row_with_the_weight_as_it_is(layer, monkeypatch):
    one, two = torch.randn(1, 12), torch.randn(2, 12)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert_near(generate_with(layer, one), F.linear(one, layer.weight, layer.bias))
    assert layer.packed._weight is None
    generate_with(layer, two)
    assert layer.packed._weight is not None
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    other = Linear(12, 20)
    generate_with(other, one)
    assert other.packed._weight is not None


@torch.no_grad()
def test_a_packed_weight_follows_every_change(layer):
    inputs = torch.randn(2, 12)
    with generating(object()):  # even while generating, if torch counts the change
        for _ in range(PACK_AFTER + 2):
            layer(inputs)
        assert layer.packed._weight is not None
        layer.weight.mul_(2)
        assert_near(layer(inputs), F.linear(inputs, layer.weight, layer.bias))
        layer.load_state_dict({"weight": torch.ones(20, 12), "bias": torch.zeros(20)})
        for _ in range(PACK_AFTER + 2):
            assert_near(layer(inputs), inputs.sum(1, keepdim=True).expand(2, 20))


@torch.no_grad()
def test_a_packed_weight_follows_changes_that_torch_does_not_count():
    torch.manual_seed(0)
    layer, inputs = Linear(512, 512), torch.randn(2, 512)
    for change in (
        lambda: layer.weight.data.mul_(2),
        lambda: layer.weight.data[:, 64:128].zero_(),  # a head is silenced
        lambda: layer.weight.data[128:130].zero_(),  # two neurons
        lambda: layer.half().float(),
    ):
        generate_with(layer, inputs)
        assert layer.packed._weight is not None
        change()
        expected = F.linear(inputs, layer.weight, layer.bias)
        assert_near(generate_with(layer, inputs), expected)


@torch.no_grad()
def test_a_new_weight_at_an_old_address_is_noticed():
    layer, inputs = Linear(64, 64), torch.randn(2, 64)
    for _ in range(20):
        generate_with(layer, inputs)
        for _ in range(2):  # memory of the first is free again for the second
            layer.weight = torch.nn.Parameter(torch.randn(64, 64))
        expected = F.linear(inputs, layer.weight, layer.bias)
        assert_near(generate_with(layer, inputs), expected)


@torch.no_grad()
def test_a_layer_that_moves_leaves_its_packed_weight_behind(layer):
    generate_with(layer, torch.randn(1, 12))
    layer.double()
    assert layer.packed._weight is None


@torch.no_grad()
def test_packed_weights_are_not_copied_saved_or_part_of_the_state(layer):
    generate_with(layer, torch.randn(1, 12))
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert other.packed._weight is None
        assert torch.equal(other.weight, layer.weight)
    assert set(layer.state_dict()) == {"weight", "bias"}


def test_weights_made_in_inference_mode_are_never_packed():
    with torch.inference_mode(), generating(object()):
        weight = torch.randn(5, 4)
        packed = PackedWeight()
        assert all(packed.of(weight) is weight for _ in range(10))


def test_other_kinds_of_numbers_go_to_torch(layer):
    inputs = torch.randn(3, 12, dtype=torch.float64)
    assert torch.equal(multiply(inputs, layer.weight.double(), None), F.linear(inputs, layer.weight.double()))


def test_without_onednn_torch_is_used(layer, monkeypatch):
    monkeypatch.setattr(linear, "_onednn_works", lambda: False)
    inputs = torch.randn(3, 12)
    assert torch.equal(layer(inputs), F.linear(inputs, layer.weight, layer.bias))


def test_weights_that_are_packed_at_once_give_the_same_bits_from_the_first_call_on() -> None:
    torch.manual_seed(0)
    linear, inputs = Linear(96, 80), torch.randn(1, 96)
    with torch.no_grad(), packing_at_once(), generating(object()):
        first, *others = (linear(inputs) for _ in range(5))
    assert all(torch.equal(first, other) for other in others)
