"""The two paths of attention agree, masks mean what they say, windows show and edit."""

import math

import pytest
import torch

from glassformer.config import ModelConfig
from glassformer.model.attention import CrossAttention, Mask, SelfAttention, combine, triangle
from tolerances import assert_near

SIMILARITIES = ("scaled-dot", "dot", "bilinear", "cosine")
SETTINGS = {"width": 32, "heads": 4, "dropout": 0.0}


def build(**changes):
    torch.manual_seed(0)
    return SelfAttention(ModelConfig(10, **{**SETTINGS, **changes})).eval()


def explicit(attention, *inputs):
    """The same call with somebody looking, and what they saw."""
    seen = {}
    hooks = [
        getattr(attention, name).register_forward_hook(lambda _, __, out, name=name: seen.update({name: out}))
        for name in ("queries", "keys", "values", "scores", "pattern", "mixed")
    ]
    try:
        return attention(*inputs), seen
    finally:
        for hook in hooks:
            hook.remove()


def two_positions(length):
    """Of queries and of keys: equal, but not the same tensor."""
    return torch.arange(length), torch.arange(length)


def masks(rows, length, heads):
    real = torch.ones(rows, length, dtype=torch.bool)
    real[0, -3:] = False
    left = real.flip(1)
    bias = torch.randn(1, heads, length, length)
    return {
        "all": Mask(),
        "causal": Mask(causal=True),
        "padding": combine(real, causal=False, queries=length),
        "both": combine(real, causal=True, queries=length),
        "left padding and causal": combine(left, causal=True, queries=length),
        "bias": Mask(bias=bias),
        "bias and causal": Mask(causal=True, bias=bias),
        "bias and padding": Mask(combine(real, causal=True, queries=length).allowed, bias=bias),
        "window": Mask(window=4),
        "window and causal": Mask(causal=True, window=4),
        "window, causal and bias": Mask(causal=True, bias=bias, window=4),
        "window and padding": combine(real, causal=False, queries=length).within(4, *two_positions(length)),
    }


@pytest.mark.parametrize(
    "settings",
    [
        *({"similarity": name} for name in SIMILARITIES),
        *({"similarity": name, "key_heads": 2, "score_scale": 0.3} for name in SIMILARITIES),
        {"basic_attention": True},
        {"key_heads": 1, "query_key_norm": True},
        {"query_key_norm": True, "similarity": "cosine", "score_scale": 5.0},
    ],
    ids=str,
)
def test_fused_equals_explicit(settings):
    attention = build(**settings)
    hidden = torch.randn(3, 9, 32) * 0.5
    for name, mask in masks(3, 9, 4).items():
        assert not attention.explicit
        fused = attention(hidden, mask)
        looked_at, seen = explicit(attention, hidden, mask)
        assert "pattern" in seen
        assert_near(fused, looked_at, where=name)


def test_basic_attention_is_softmax_of_x_x_transposed_times_x():
    attention = build(width=2, heads=1, similarity="dot", basic_attention=True)
    inputs = torch.tensor([[0.0, 1.0], [math.log(2), 0.0]])
    first = torch.tensor([math.e, 1.0]) / (math.e + 1)  # scores of token 0: 1 with itself, 0 with token 1
    assert_near(attention(inputs[None], Mask())[0, 0], first @ inputs)


def test_fused_equals_explicit_for_cross_attention():
    torch.manual_seed(0)
    attention = CrossAttention(ModelConfig(10, **SETTINGS)).eval()
    hidden, memory = torch.randn(2, 5, 32), torch.randn(2, 7, 32)
    real = torch.ones(2, 7, dtype=torch.bool)
    real[1, 4:] = False
    mask = combine(real, causal=False, queries=5)
    keys, values = attention.project(memory)
    looked_at, seen = explicit(attention, hidden, mask, keys, values)
    assert_near(attention(hidden, mask, keys, values), looked_at)
    assert seen["pattern"].shape == (2, 4, 5, 7)
    assert (seen["pattern"][1, :, :, 4:] == 0).all()


def test_cross_attention_treats_beams_of_one_source_as_more_queries():
    torch.manual_seed(0)
    attention = CrossAttention(ModelConfig(10, **SETTINGS)).eval()
    hidden, memory = torch.randn(6, 1, 32), torch.randn(2, 7, 32)
    keys, values = attention.project(memory)
    repeated = attention(hidden, Mask(), keys.repeat_interleave(3, 0), values.repeat_interleave(3, 0))
    assert_near(attention(hidden, Mask(), keys, values), repeated)


def test_windows_show_one_attention_whole():
    attention = build()
    hidden = torch.randn(2, 6, 32)
    output, seen = explicit(attention, hidden, Mask(causal=True))
    scores = seen["queries"] @ seen["keys"].transpose(-1, -2) / 8**0.5
    assert_near(seen["scores"], scores)
    weights = scores.masked_fill(~triangle(6, 6), float("-inf")).softmax(-1)
    assert_near(seen["pattern"], weights)
    assert_near(seen["mixed"], weights @ seen["values"])
    assert_near(output, attention.output(seen["mixed"].transpose(1, 2).flatten(2)))


def test_a_window_can_be_edited():
    attention = build()
    hidden = torch.randn(1, 4, 32)
    hook = attention.pattern.register_forward_hook(lambda *_: torch.eye(4).expand(1, 4, 4, 4))
    only_itself = attention(hidden, Mask())
    hook.remove()
    values = attention.qkv(hidden).chunk(3, -1)[2]
    assert_near(only_itself, attention.output(values))


def test_the_pattern_is_seen_before_dropout():
    attention = build(attention_dropout=0.5).train()
    _, seen = explicit(attention, torch.randn(1, 8, 32), Mask())
    assert torch.allclose(seen["pattern"].sum(-1), torch.ones(1, 4, 8))


def test_looking_leaves_no_trace():
    attention = build()
    before = set(attention.state_dict())
    explicit(attention, torch.randn(1, 4, 32), Mask())
    assert not attention.explicit
    assert set(attention.state_dict()) == before
    assert not any(name.split(".")[0] in ("scores", "pattern", "mixed") for name in before)


@pytest.mark.parametrize("changes", [{"similarity": "additive"}, {"best_keys": 2}])
def test_what_no_kernel_computes_takes_the_explicit_path(changes):
    attention = build(**changes)
    assert attention.explicit
    output, seen = explicit(attention, torch.randn(2, 5, 32), Mask(causal=True))
    assert output.shape == (2, 5, 32)
    if "best_keys" in changes:
        assert ((seen["pattern"] > 0).sum(-1) <= 2).all()


def test_triangle_with_more_keys_than_queries_ends_at_the_last():
    assert torch.equal(triangle(2, 4), torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]], dtype=torch.bool))


def test_the_five_by_five_mask_of_padding_and_causality():
    real = torch.tensor([[True, True, True, False, False]])
    allowed = combine(real, causal=True, queries=5).allowed
    expected = torch.tensor(
        [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0]]
    )
    assert torch.equal(allowed[0, 0], expected.bool())


def test_a_window_and_causality_leave_a_band():
    device = torch.device("cpu")
    band = [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    assert Mask(causal=True, window=2).explicit(4, 4, device).int().tolist() == band
    both = [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]
    assert Mask(window=2).explicit(4, 4, device).int().tolist() == both


def test_a_window_is_written_out_only_where_it_must_be():
    positions = torch.arange(6)
    causal = Mask(causal=True)
    assert causal.within(6, positions, positions) is causal  # all are near
    assert causal.within(5, positions, positions) == Mask(causal=True, window=5)
    assert causal.within(5, positions, positions).allowed is None
    left = torch.tensor([[False, False, True, True, True, True]])
    counted = torch.tensor([[0, 0, 0, 1, 2, 3]])  # over real tokens
    padded = combine(left, causal=True, queries=6).within(2, counted, counted)
    assert padded.allowed[0, 0, 5].tolist() == [False, False, False, False, True, True]
    assert padded.allowed[0, 0, 2].tolist() == [False, False, True, False, False, False]


def test_a_window_counts_tokens_and_not_places_where_padding_is_between():
    real = torch.tensor([[True, False, False, True, True]])
    counted = torch.tensor([[0, 0, 0, 1, 2]])
    mask = combine(real, causal=True, queries=5).within(2, counted, counted)
    assert mask.allowed[0, 0, 3].tolist() == [True, False, False, True, False]


def test_several_heads_share_the_keys_of_one():
    attention = build(key_heads=2)
    hidden = torch.randn(1, 5, 32)
    _, seen = explicit(attention, hidden, Mask())
    assert seen["queries"].shape == (1, 4, 5, 8)
    assert seen["keys"].shape == seen["values"].shape == (1, 2, 5, 8)
    for head in range(4):
        scores = seen["queries"][0, head] @ seen["keys"][0, head // 2].T / 8**0.5
        assert_near(seen["scores"][0, head], scores)
        assert_near(seen["mixed"][0, head], scores.softmax(-1) @ seen["values"][0, head // 2])


def test_normed_queries_and_keys_have_the_length_that_gains_say():
    attention = build(query_key_norm=True)
    with torch.no_grad():
        attention.query_norm.weight.fill_(3.0)
    _, seen = explicit(attention, 50 * torch.randn(2, 5, 32), Mask())
    assert_near(seen["queries"].square().mean(-1).sqrt(), torch.full((2, 4, 5), 3.0), summands=8)
    assert_near(seen["keys"].square().mean(-1).sqrt(), torch.ones(2, 4, 5), summands=8)


def test_dropout_of_a_local_product_drops():
    attention = build(attention_dropout=0.5).train()
    hidden, mask = torch.randn(1, 200, 32), Mask(causal=True, window=8)
    assert not torch.equal(attention(hidden, mask), attention(hidden, mask))
    assert torch.equal(attention.eval()(hidden, mask), attention(hidden, mask))
