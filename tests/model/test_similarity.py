"""Similarity functions and hard attention against arithmetic that one can follow by hand."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassformer.model.similarity import (
    AdditiveSimilarity,
    BilinearSimilarity,
    CosineSimilarity,
    ProductSimilarity,
    additive,
    bilinear,
    build_similarity,
    cosine,
    dot,
    hard,
    scaled_dot,
    soft,
)
from tolerances import assert_near

QUERIES = torch.tensor([[1.0, 0.0], [3.0, 4.0]])
KEYS = torch.tensor([[2.0, 0.0], [0.0, 5.0], [1.0, 1.0]])


def test_five_functions_on_paper():
    assert torch.equal(dot(QUERIES, KEYS), torch.tensor([[2.0, 0.0, 1.0], [6.0, 20.0, 7.0]]))
    assert torch.allclose(scaled_dot(QUERIES, KEYS), dot(QUERIES, KEYS) / math.sqrt(2))
    assert torch.allclose(cosine(QUERIES, KEYS)[1], torch.tensor([0.6, 0.8, 7 / (5 * math.sqrt(2))]))
    swap = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert torch.equal(bilinear(QUERIES, KEYS, swap), dot(QUERIES.flip(-1), KEYS))
    query_weight, key_weight, vector = torch.eye(2), 2 * torch.eye(2), torch.tensor([1.0, -1.0])
    by_hand = math.tanh(3 + 2 * 1) - math.tanh(4 + 2 * 1)  # query (3, 4), key (1, 1)
    scores = additive(QUERIES, KEYS, query_weight, key_weight, vector)
    assert_near(scores[1, 2].item(), by_hand)


def test_soft_leaves_out_what_is_not_allowed_and_gives_zeros_where_nothing_is():
    allowed = torch.tensor([[True, False, True], [False, False, False]])
    weights = soft(torch.zeros(2, 3), allowed)
    assert torch.equal(weights, torch.tensor([[0.5, 0.0, 0.5], [0.0, 0.0, 0.0]]))


def test_soft_gives_the_same_weights_with_and_without_gradients():
    scores = torch.randn(2, 3, 5, 7)
    scores[0, 1, 2] = float("-inf")
    allowed = torch.rand(5, 7) < 0.6
    allowed[3] = False
    for mask in (None, allowed):
        before = scores.clone()
        expected = soft(scores, mask)
        with torch.no_grad():
            assert torch.equal(soft(scores, mask), expected)
        assert torch.equal(scores, before)


def test_hard_attention_sees_the_best_keys_only():
    scores = torch.tensor([[0.0, math.log(3), -5.0, 0.0]])
    assert torch.equal(hard(scores, 1), torch.tensor([[0.0, 1.0, 0.0, 0.0]]))
    two = hard(torch.tensor([[0.0, math.log(3), -5.0]]), 2)
    assert torch.allclose(two, torch.tensor([[0.25, 0.75, 0.0]]))
    masked = hard(scores, 1, torch.tensor([[True, False, True, False]]))
    assert torch.equal(masked, torch.tensor([[1.0, 0.0, 0.0, 0.0]]))


def test_hard_attention_with_one_key_can_be_trained():
    scores = torch.tensor([[0.3, 0.1, -0.2]], requires_grad=True)
    values = torch.tensor([1.0, 2.0, 4.0])
    (hard(scores, 1) * values).sum().backward()
    borrowed = torch.autograd.functional.jacobian(lambda s: (soft(s) * values).sum(), scores.detach())
    assert torch.allclose(scores.grad, borrowed)


def test_hard_attention_with_one_key_is_exact_while_it_is_trained():
    scores = torch.randn(200, 30, generator=torch.Generator().manual_seed(0))
    assert torch.equal(hard(scores.clone().requires_grad_(), 1), hard(scores, 1))


@given(best=st.integers(1, 6), keys=st.integers(1, 6), seed=st.integers(0, 100))
def test_hard_rows_sum_to_one_over_at_most_k_keys(best, keys, seed):
    scores = torch.randn(3, keys, generator=torch.Generator().manual_seed(seed))
    weights = hard(scores, best)
    assert torch.allclose(weights.sum(-1), torch.ones(3))
    assert ((weights > 0).sum(-1) <= best).all()


@pytest.mark.parametrize("name", ["dot", "scaled-dot", "cosine", "bilinear", "additive"])
def test_modules_compute_what_the_functions_do(name):
    torch.manual_seed(0)
    queries, keys = torch.randn(2, 4, 5, 8), torch.randn(2, 4, 6, 8)
    module = build_similarity(name, heads=4, width=8, factor=8**-0.5 if name == "scaled-dot" else 1.0)
    expected = {
        ProductSimilarity: lambda: {"dot": dot, "scaled-dot": scaled_dot}[name](queries, keys),
        CosineSimilarity: lambda: cosine(queries, keys),
        BilinearSimilarity: lambda: bilinear(queries, keys, module.weight),
        AdditiveSimilarity: lambda: additive(
            queries, keys, module.query_weight, module.key_weight, module.vector
        ),
    }[type(module)]()
    assert expected.shape == (2, 4, 5, 6)
    assert_near(module(queries, keys), expected)


@pytest.mark.parametrize("name", ["dot", "scaled-dot", "cosine", "bilinear", "additive"])
def test_a_factor_is_one_of_every_similarity(name):
    queries, keys = torch.randn(2, 4, 5, 8), torch.randn(2, 4, 6, 8)
    torch.manual_seed(0)
    plain = build_similarity(name, heads=4, width=8, factor=1.0)
    torch.manual_seed(0)
    scaled = build_similarity(name, heads=4, width=8, factor=3.0)
    assert_near(scaled(queries, keys), 3 * plain(queries, keys), summands=8)
