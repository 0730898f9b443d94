"""Rules and draws: the scores of `transformers`, and tokens as often as their probabilities say."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.generation import logits_process

from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.sampling import CHUNK, Rules, best_of, draw, draw_uniforms, likeliest

END = 2


@pytest.mark.parametrize("temperature", [1.0, 0.7, 3.0])
@pytest.mark.parametrize("top_k", [None, 1, 5, 1000])
@pytest.mark.parametrize("top_p", [1.0, 0.9, 0.4, 0.01])
def test_narrowed_like_transformers(temperature: float, top_k: int | None, top_p: float) -> None:
    logits = 3 * torch.randn(4, 2000, generator=torch.Generator().manual_seed(1))
    expected = logits_process.TemperatureLogitsWarper(temperature)(None, logits)
    if top_k:
        expected = logits_process.TopKLogitsWarper(top_k)(None, expected)
    if top_p < 1:
        expected = logits_process.TopPLogitsWarper(top_p)(None, expected)
    settings = GenerationSettings(sample=True, temperature=temperature, top_k=top_k, top_p=top_p)
    assert torch.allclose(Rules(settings, END).narrow(logits), expected)


def test_draws_follow_probabilities() -> None:
    shares = torch.tensor([0.0, 0.5, 0.2, 0.0, 0.3, 0.0])
    uniforms = draw_uniforms(3, 400, 50).flatten()
    drawn = draw(shares.log().expand(len(uniforms), -1), uniforms)
    counted = drawn.bincount(minlength=6) / len(drawn)
    assert torch.allclose(counted, shares, atol=0.01)
    assert not counted[shares == 0].any(), "something impossible was drawn"


def test_extreme_chances_draw_what_is_possible() -> None:
    logits = torch.tensor([[0.0, 0.0, 0.0]]).log_softmax(-1)
    logits[0, [0, 2]] = -math.inf
    for chance in (0.0, 1 - 2**-24):
        assert draw(logits, torch.tensor([chance])).tolist() == [1]


@given(
    size=st.sampled_from((1, 5, 8 * CHUNK - 1, 8 * CHUNK, 9 * CHUNK, 9 * CHUNK + 1, 30 * CHUNK + 17)),
    count=st.integers(1, 12),
    levels=st.sampled_from((2, 50, 10**9)),  # few levels: many equals
    seed=st.integers(0, 99),
)
def test_best_are_found_as_by_topk(size: int, count: int, levels: int, seed: int) -> None:
    scores = torch.randint(levels, (3, size), generator=torch.Generator().manual_seed(seed)).float()
    scores[0, size // 2] = scores[1, -1] = -math.inf
    scores[2, -1] = levels  # the very last is the best
    assert torch.equal(likeliest(scores), scores.argmax(-1))
    count = min(count, size)
    values, tokens = best_of(scores, count)
    assert torch.equal(values, scores.topk(count).values)
    assert torch.equal(scores.gather(1, tokens), values)
    assert all(len(set(row)) == count for row in tokens.tolist())
