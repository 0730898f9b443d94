"""Parts of a logit difference: they sum to it, and each is what its matrices by hand give."""

from typing import Any

import numpy as np
import pytest
import torch

import glassformer as gf
from edited_models import HEADS, KINDS, SOURCE, TARGET, WIDTH, make_architectures, make_subject, sharpen
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from our_networks import build, build_recurrent
from tolerances import assert_near

OUTCOME = gf.LogitDifference(7, 9)


def make_biased(kind: str) -> tuple[Any, Any]:
    """A model in float64 whose biases are not 0."""
    subject, reads = make_subject(kind)
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in subject.network.double().parameters():
            if parameter.ndim == 1:
                parameter.add_(0.3 * torch.randn_like(parameter))
    return subject, reads


@pytest.mark.parametrize("kind", KINDS)
def test_parts_sum_to_the_difference(kind: str) -> None:
    subject, reads = make_biased(kind)
    parts = gf.attribute_logits(subject, *reads, outcome=OUTCOME)
    size = sum(abs(value) for _, value in parts.parts())
    assert abs(parts.value - gf.sweep(subject, *reads, outcome=OUTCOME).baseline) <= 1e-10 * size
    assert abs(parts.total - parts.value) <= 1e-10 * size
    assert abs(parts.biases) > 1e-3
    for place, keys in parts.keys.items():
        assert_near(keys.sum(1), parts.heads[place], dtype="float64", magnitude=size)
    assert {place.stack for place in parts.heads} == {"decoder"}


def test_norms_after_each_layer_are_linear_with_their_scales() -> None:
    network = build(shape="decoder", norm_position="post").double()
    parts = gf.attribute_logits(network, [4, 5, 6, 7], outcome=OUTCOME)
    assert abs(parts.total - parts.value) <= 1e-10 * sum(abs(value) for _, value in parts.parts())


def test_each_part_is_what_matrices_by_hand_give() -> None:
    subject, _ = make_biased("GPT-2")
    network = subject.network
    parts = gf.attribute_logits(subject, SOURCE, outcome=OUTCOME)
    seen: dict[str, Any] = {}
    norm, blocks = network.transformer.ln_f, network.transformer.h
    modules = {"final": norm, **{f"heads {n}": each.attn.c_proj for n, each in enumerate(blocks)}}
    handles = [
        module.register_forward_pre_hook(lambda _, inputs, name=name: seen.update({name: inputs[0][0, -1]}))
        for name, module in modules.items()
    ]
    handles += [
        each.mlp.register_forward_hook(lambda _, __, output, n=n: seen.update({f"mlp {n}": output[0, -1]}))
        for n, each in enumerate(blocks)
    ]
    with torch.no_grad():
        network(torch.tensor([SOURCE]))
        hidden = seen["final"]
        words = network.lm_head.weight
        direction = (words[7] - words[9]) * norm.weight / (hidden.var(correction=0) + norm.eps).sqrt()
        direction = direction - direction.mean()
        for layer, block in enumerate(blocks):
            place = gf.Place("decoder", "self", layer)
            heads = seen[f"heads {layer}"].view(HEADS, WIDTH)
            matrices = block.attn.c_proj.weight.view(HEADS, WIDTH, -1)
            wanted = torch.einsum("hk,hkd,d->h", heads, matrices, direction)
            assert_near(parts.heads[place], wanted, dtype="float64", layers=3, magnitude=10)
            wanted = seen[f"mlp {layer}"] @ direction
            assert_near(parts.feed_forward["decoder"][layer], wanted, dtype="float64", layers=3, magnitude=10)
        position = len(SOURCE) - 1
        table = network.transformer
        embedding = table.wte.weight[SOURCE[-1]] + table.wpe.weight[position]
        assert_near(parts.embedding, embedding @ direction, dtype="float64", layers=3, magnitude=10)
    for handle in handles:
        handle.remove()


@pytest.mark.parametrize("kind", ["Llama", "T5"])
def test_rms_norms_keep_their_scale(kind: str) -> None:
    torch.manual_seed(0)
    reads = (SOURCE, TARGET) if kind == "T5" else (SOURCE,)
    parts = gf.attribute_logits(sharpen(make_architectures()[kind](), 2.0), *reads, outcome=OUTCOME)
    size = sum(abs(value) for _, value in parts.parts())
    assert_near(parts.total, parts.value, layers=3, scores=64, magnitude=size)
    assert parts.biases == 0


def test_what_is_not_linear_is_refused() -> None:
    torch.manual_seed(0)
    with pytest.raises(InputError, match="not linear"):
        gf.attribute_logits(sharpen(make_architectures()["BERT"]()), SOURCE, outcome=OUTCOME)
    with pytest.raises(InputError, match="caps its logits"):
        gf.attribute_logits(load(make_architectures()["Gemma 2"]()), SOURCE, outcome=OUTCOME)
    with pytest.raises(InputError, match="difference of two logits"):
        gf.attribute_logits("zoo/gpt2", "The cat", outcome=gf.LogProbability(5))
    with pytest.raises(InputError, match="recurrent"):
        gf.attribute_logits(build_recurrent(), [5, 6], [7], outcome=OUTCOME)


def test_the_heads_that_write_the_answer_are_shown() -> None:
    outcome = gf.LogitDifference(" were", " was")
    parts = gf.attribute_logits("zoo/gpt2", "The men on the road", outcome=outcome)
    lines = str(parts).splitlines()
    assert len(lines) == 11
    assert lines[1].endswith("head 1 of decoder layer 4, self")
    keys = parts.keys[gf.Place("decoder", "self", 4)][1]
    assert parts.source.texts[int(np.argmax(keys))] == " men"
