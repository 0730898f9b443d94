"""Scaled scores are compared with an independent computation."""

import copy
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

from edited_models import EVERYTHING, KINDS, differs, make_subject, same_output
from glassformer.loaded.opening import load
from glassformer.model.transformer import Transformer
from glassformer.recorders.edits import ScaleScores
from tolerances import assert_near


def test_the_former_order_of_scale_scores_still_works() -> None:
    with pytest.warns(DeprecationWarning, match="layer=3"):
        assert ScaleScores(2.0, 3) == ScaleScores(2.0, layer=3)  # type: ignore[arg-type]
    with pytest.warns(DeprecationWarning, match="layer=3"):
        old = ScaleScores(2.0, 3, "decoder", "self")  # type: ignore[arg-type]
    assert old == ScaleScores(2.0, "decoder", "self", 3)


@pytest.mark.parametrize("kind", KINDS)
def test_scaled_scores_are_those_of_scaled_queries(kind: str) -> None:
    subject, reads = make_subject(kind)
    edit = ScaleScores(0.25, layer=1, stack="decoder", kind="self")
    plain = subject.record(*reads, want=(*EVERYTHING, "scores"))
    edited = subject.record(*reads, want=(*EVERYTHING, "scores"), edits=[edit])
    network = subject.network
    changed = copy.deepcopy(network)
    scale_queries(changed, 0.25)
    by_hand = load(changed).record(*reads, want=EVERYTHING)
    same_output(edited, by_hand)
    differs(edited, plain)
    before, after = plain.map("decoder", layer=1), edited.map("decoder", layer=1)
    seen = np.isfinite(before.scores())
    assert_near(after.scores()[seen], 0.25 * before.scores()[seen], layers=2)
    assert np.array_equal(np.isfinite(after.scores()), seen)
    assert_near(after.dense, by_hand.map("decoder", layer=1).dense)
    assert tuple(map(str, edited.evidence.edits)) == ("scores times 0.25 in decoder layer 1, self",)


def scale_queries(network: Any, factor: float) -> None:
    """Multiply the queries of the second layer of a decoder's self-attention by changing weights."""
    with torch.no_grad():
        if isinstance(network, Transformer):
            projection = network.decoder.block(1).attention.qkv
            projection.weight[:32] *= factor
            projection.bias[:32] *= factor
        elif isinstance(network, hf.GPT2LMHeadModel):
            projection = network.transformer.h[1].attn.c_attn  # (input, output)
            projection.weight[:, :32] *= factor
            projection.bias[:32] *= factor
        else:
            projection = network.model.decoder.layers[1].self_attn.q_proj
            projection.weight *= factor
            projection.bias *= factor
