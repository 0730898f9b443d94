"""Products by oneDNN are products: forward, gradients, packed weights that follow the weight."""

import copy
import math
import pickle

import pytest
import torch
from torch.nn import functional as F

from glassformer.model import linear
from glassformer.model.linear import (
    FEWEST_ROWS,
    PACK_AFTER,
    Linear,
    PackedWeight,
    generating,
    multiply,
    packing_at_once,
)
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


@pytest.mark.parametrize("sizes", [(12, 20), (20, 12), (40, 300)])
@pytest.mark.parametrize("wide", [False, True])
def test_gradients_are_those_of_float64(sizes, wide, monkeypatch):
    monkeypatch.setattr(linear, "_has_wide_vectors", lambda: wide)
    asked = []
    product = linear._onednn
    monkeypatch.setattr(linear, "_onednn", lambda *given: asked.append(given) or product(*given))
    torch.manual_seed(0)
    layer = Linear(*sizes)
    inputs = torch.randn(4, 70, sizes[0], requires_grad=True)
    upstream = torch.randn(4, 70, sizes[1])
    ours = torch.autograd.grad(layer(inputs), [inputs, layer.weight, layer.bias], upstream)
    flat, rows = upstream.double().flatten(0, 1), inputs.detach().double().flatten(0, 1)
    exact = upstream.double() @ layer.weight.detach().double(), flat.T @ rows, flat.sum(0)
    for own, other in zip(ours, exact, strict=True):
        assert_near(own, other.float())
    assert len(asked) == 2 + (wide or sizes[0] > sizes[1])  # forward, to the inputs, perhaps to the weight


AMD = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: {family}\nmodel\t\t: 2\n\nprocessor\t: 1\n"


@pytest.mark.parametrize(
    ("facts", "avx512", "wide"),
    [
        (AMD.format(family=26), True, True),
        (AMD.format(family=26), False, False),  # held to smaller vectors
        (AMD.format(family=25), True, False),  # computes 512 bits in two steps
        (AMD.format(family="?"), True, False),
        (AMD.format(family=26).replace("AuthenticAMD", "GenuineIntel"), True, False),
        ("", True, False),
        (None, True, False),
    ],
)
def test_wide_vectors_are_known_by_the_processors_family(facts, avx512, wide, monkeypatch, tmp_path):
    monkeypatch.setattr(linear, "_has_avx512", lambda: avx512)
    monkeypatch.setattr(linear, "CPU_FACTS", tmp_path / "cpuinfo")
    if facts is not None:
        (tmp_path / "cpuinfo").write_text(facts)
    assert linear._has_wide_vectors.__wrapped__() is wide


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
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize(
    ("sizes", "form"), [((12, 20), "_columns"), ((20, 12), "_weight"), ((12, 12), "_weight")]
)
def test_one_row_takes_the_form_that_suits_it(sizes, form, threads, monkeypatch):
    """Columns for many outputs; for few the packed weight, or with several threads the weight as it is."""
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    torch.manual_seed(0)
    layer, one = Linear(*sizes), torch.randn(1, 1, sizes[0])
    expected = F.linear(one, layer.weight, layer.bias)
    with generating(object()):
        for _ in range(PACK_AFTER + 2):
            assert_near(layer(one), expected)
            assert_near(multiply(one, layer.weight, None, layer.packed), expected - layer.bias)
    made = {name for name in ("_weight", "_columns") if getattr(layer.packed, name) is not None}
    parts = math.gcd(threads, sizes[1])
    assert made == (set() if form == "_weight" and parts > 1 else {form})
    if form == "_columns":
        assert layer.packed._columns.shape == (parts, sizes[0], sizes[1] // parts)


@torch.no_grad()
def test_columns_follow_the_number_of_threads_and_the_weight(layer, monkeypatch):
    one = torch.randn(1, 12)
    for threads in (1, 4, 2):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        for change in (lambda: None, lambda: layer.weight.data.mul_(2), lambda: layer.weight.neg_()):
            change()
            expected = F.linear(one, layer.weight, layer.bias)
            assert_near(generate_with(layer, one), expected)
            assert len(layer.packed._columns) == threads


@torch.no_grad()
def test_searches_that_begin_with_one_row_make_no_columns(layer):
    for _ in range(PACK_AFTER + 3):
        with generating(object()):
            for rows in (1, 5, 5, 5):
                layer(torch.randn(rows, 12))
    assert layer.packed._weight is not None
    assert layer.packed._columns is None


@torch.no_grad()
@pytest.mark.parametrize("avx512", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_few_rows_are_filled_up_only_where_that_is_faster(rows, avx512, monkeypatch):
    monkeypatch.setattr(linear, "_has_avx512", lambda: avx512)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    seen = []
    plain = linear._onednn
    monkeypatch.setattr(linear, "_onednn", lambda x, w, b: seen.append(len(x)) or plain(x, w, b))
    narrow, inputs = Linear(20, 12), torch.randn(rows, 20)
    assert_near(generate_with(narrow, inputs), F.linear(inputs, narrow.weight, narrow.bias))
    assert seen[-1] == (FEWEST_ROWS if avx512 else rows)


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
    generate_with(layer, torch.randn(2, 12))
    assert layer.packed._weight is not None
    assert layer.packed._columns is not None
    layer.double()
    assert layer.packed._weight is None
    assert layer.packed._columns is None


@torch.no_grad()
def test_packed_weights_are_not_copied_saved_or_part_of_the_state(layer):
    generate_with(layer, torch.randn(1, 12))
    generate_with(layer, torch.randn(2, 12))
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert other.packed._weight is None
        assert other.packed._columns is None
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
