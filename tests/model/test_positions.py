"""Positions: the paper's table, rotations that know distance only, buckets of relative distance."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassformer.model.positions import (
    AlibiBias,
    RelativeBias,
    RotaryPositions,
    alibi_slopes,
    rotate,
    sinusoidal_table,
)
from tolerances import assert_near


def test_sinusoidal_table_is_the_papers_formula():
    table = sinusoidal_table(50, 8)
    for position, pair in ((0, 0), (7, 1), (49, 3)):
        angle = position / 10_000 ** (2 * pair / 8)
        assert math.isclose(table[position, 2 * pair], math.sin(angle), abs_tol=1e-6)
        assert math.isclose(table[position, 2 * pair + 1], math.cos(angle), abs_tol=1e-6)


def test_halves_hold_the_same_numbers_in_another_order():
    whole, halves = sinusoidal_table(20, 8), sinusoidal_table(20, 8, halves=True)
    assert torch.equal(torch.cat((whole[:, 0::2], whole[:, 1::2]), 1), halves)


@given(shift=st.integers(0, 20), first=st.integers(0, 20), second=st.integers(0, 20))
def test_dot_products_of_the_table_depend_on_distance_only(shift, first, second):
    table = sinusoidal_table(64, 16).double()
    assert math.isclose(
        table[first] @ table[second], table[first + shift] @ table[second + shift], abs_tol=1e-4
    )


@given(shift=st.integers(0, 500), query=st.integers(0, 60), key=st.integers(0, 60), seed=st.integers(0, 50))
def test_rotary_scores_depend_on_distance_only(shift, query, key, seed):
    chance = torch.Generator().manual_seed(seed)
    vectors = torch.randn(2, 16, generator=chance)
    rotary = RotaryPositions(16)

    def score(at_query, at_key):
        turned = rotate(vectors, rotary(torch.tensor([at_query, at_key])))
        return float(turned[0] @ turned[1])

    assert math.isclose(score(query, key), score(query + shift, key + shift), abs_tol=2e-3)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_the_angles_of_far_positions_survive_a_change_of_precision(kind):
    positions = torch.tensor([3, 1000, 100_000])
    exact = positions[:, None] * 10_000 ** (-torch.arange(0, 16, 2).double() / 16)
    found = RotaryPositions(16).to(kind)(positions)
    assert torch.allclose(
        found.cosine.double(), exact.cos(), rtol=0, atol=1e-9 if kind == torch.float64 else 0.02
    )
    back = RotaryPositions(16).to(kind).float()(positions)
    assert torch.equal(back.sine, RotaryPositions(16)(positions).sine)


def test_rotation_keeps_length_and_position_nought_changes_nothing():
    vectors = torch.randn(3, 5, 8)
    rotary = RotaryPositions(8)
    turned = rotate(vectors, rotary(torch.arange(5)))
    assert_near(turned.norm(dim=-1), vectors.norm(dim=-1))
    assert torch.allclose(turned[:, 0], vectors[:, 0])
    assert not torch.allclose(turned[:, 1], vectors[:, 1])


def test_a_batch_may_have_positions_of_its_own():
    rotary = RotaryPositions(8)
    vectors = torch.randn(2, 3, 4, 8)  # (batch, head, token, width)
    both = rotate(vectors, rotary(torch.tensor([[0, 1, 2, 3], [5, 6, 7, 8]])))
    assert_near(both[1], rotate(vectors[1], rotary(torch.arange(5, 9))))


def test_buckets_are_exact_when_near_and_logarithmic_when_far():
    past = RelativeBias(2, causal=True, buckets=32, farthest=128)
    distances = -torch.tensor([0, 1, 15, 16, 127, 128, 5000, -3])
    assert past.bucket(distances).tolist() == [0, 1, 15, 16, 31, 31, 31, 0]
    both = RelativeBias(2, causal=False, buckets=32, farthest=128)
    assert both.bucket(torch.tensor([-1, 1, 0, 7, -7, 10_000])).tolist() == [1, 17, 0, 23, 7, 31]


def test_the_bias_has_one_number_for_each_head_and_distance():
    bias = RelativeBias(3, causal=False)
    out = bias(torch.arange(4), torch.arange(6))
    assert out.shape == (1, 3, 4, 6)
    assert torch.equal(out[0, :, 0, 1], out[0, :, 3, 4])
    assert torch.equal(out[0, :, 2, 2], bias.table.weight[0])


def test_slopes_are_the_papers():
    assert alibi_slopes(8).tolist() == [2.0**-power for power in range(1, 9)]
    assert torch.allclose(alibi_slopes(16), 2.0 ** -(torch.arange(1, 17).double() / 2))
    assert alibi_slopes(1).tolist() == [2.0**-8]
    assert len(alibi_slopes(12)) == 12


@pytest.mark.parametrize("heads", range(1, 40))
def test_slopes_are_those_of_bloom_and_mpt(heads):
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

    mask = torch.ones(1, 2)
    bloom = build_alibi_tensor(mask, heads, torch.float32)[:, 0, 1]  # slope times position 1
    assert torch.allclose(alibi_slopes(heads).float(), bloom, rtol=1e-6)
    mpt = -build_mpt_alibi_tensor(heads, 2)[:, 0, 0]  # one token before the last
    assert torch.allclose(alibi_slopes(heads).float(), mpt, rtol=1e-6)


def test_alibi_falls_with_distance_on_both_sides():
    bias = AlibiBias(2)(torch.arange(3), torch.arange(3))
    assert bias.shape == (1, 2, 3, 3)
    assert (-bias[0, 0] * 16).tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    batch = AlibiBias(2)(torch.tensor([[5], [7]]), torch.tensor([[3, 5], [3, 5]]))
    assert (-batch[:, 0, 0] * 16).tolist() == [[2, 0], [4, 2]]


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_slopes_survive_a_change_of_precision(kind):
    bias = AlibiBias(12).to(kind)
    expected = alibi_slopes(12) if kind == torch.float64 else alibi_slopes(12).float()
    assert torch.equal(bias.slopes, expected)
    assert torch.equal(bias.float().slopes, alibi_slopes(12).float())
    assert "slopes" not in bias.state_dict()
