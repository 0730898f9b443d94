"""Edits of our own networks, through their windows."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

from edited_models import HEADS, SOURCE, TARGET, differs, make_ours, sharpen
from glassformer.config import RecurrentConfig
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.recorders.edits import AblateHead, CutEdge, FirstLayers, ScaleScores
from tolerances import assert_near, largest


def test_a_block_that_is_used_again_and_again_is_edited_at_one_depth() -> None:
    torch.manual_seed(0)
    config = hf.AlbertConfig(
        vocab_size=30, hidden_size=32, embedding_size=16, num_hidden_layers=3, num_attention_heads=HEADS,
        intermediate_size=32, max_position_embeddings=32,
    )  # fmt: skip
    theirs = load(sharpen(hf.AlbertModel(config)))
    ours = load(make_ours("encoder", share_layers=True, head="none"))
    for subject in (theirs, ours):
        plain = subject.record(SOURCE)
        edited = subject.record(SOURCE, edits=[AblateHead("encoder", "self", 1, 2)])
        assert np.array_equal(edited.maps[0].dense, plain.maps[0].dense)
        assert not edited.maps[1].dense[2].any()
        assert edited.maps[2].dense[2].any()
        short = subject.record(SOURCE, edits=[FirstLayers(2)])
        assert len(short.maps) == 2
        assert np.array_equal(short.maps[1].dense, plain.maps[1].dense)
        assert len(subject.record(SOURCE).maps) == 3


def test_a_recurrent_decoder_is_silenced_but_not_cut() -> None:
    torch.manual_seed(0)
    config = RecurrentConfig(vocabulary_size=30, width=16, embedding_width=16, start_id=3, end_id=2)
    subject = load(RecurrentTranslator(config).eval())
    plain = subject.record(SOURCE, TARGET)
    edited = subject.record(SOURCE, TARGET, edits=[AblateHead("decoder", "cross", 0, 0)])
    assert not edited.maps[0].dense.any()
    differs(edited, plain)
    for how in ("uniform", "mean"):
        edit = AblateHead("decoder", "cross", 0, 0, how, [[5, 6, 7]] if how == "mean" else ())
        edited = subject.record(SOURCE, TARGET, edits=[edit])
        differs(edited, plain)
        if how == "uniform":
            np.testing.assert_allclose(edited.maps[0].dense, 1 / len(SOURCE), rtol=1e-6)
    resample = AblateHead("decoder", "cross", 0, 0, "resample", [SOURCE[::-1]])
    for edit in (CutEdge("decoder", "cross", 0, 0, 1, 1), resample):
        with pytest.raises(InputError, match="attends once for each word"):
            subject.record(SOURCE, TARGET, edits=[edit])


def test_hard_attention_cannot_be_made_uniform() -> None:
    subject = load(make_ours("decoder", best_keys=2))
    with pytest.raises(InputError) as error:
        subject.record(SOURCE, edits=[AblateHead("decoder", "self", 0, 0, "uniform")])
    assert error.value.message.code == "recorders.edits.hard_attention"


def test_hooks_are_gone_after_an_edit() -> None:
    network = make_ours("encoder-decoder")
    subject = load(network)
    edits = [CutEdge("decoder", "cross", 0, 1, 3, 2), AblateHead("encoder", "self", 0, 0), FirstLayers(2)]
    subject.record(SOURCE, TARGET, edits=edits)
    with pytest.raises(InputError):
        subject.record(SOURCE, TARGET, edits=[*edits, CutEdge("decoder", "self", 0, 0, 0, 0)])
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in network.modules())
    assert (network.encoder.depth, network.decoder.depth) == (3, 3)


LOCAL = [
    {"key_heads": 2},
    {"key_heads": 1, "query_key_norm": True, "positions": "rotary"},
    {"window": 3},
    {"positions": "alibi", "score_scale": 0.4},
    {"key_heads": 2, "query_key_norm": True, "positions": "alibi", "window": 4, "score_scale": 0.4},
]


def soften(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    result: np.ndarray = powers / powers.sum(-1, keepdims=True)
    return result


@pytest.mark.parametrize("settings", LOCAL, ids=str)
def test_shared_keys_windows_and_biases_are_edited_as_any_other(settings: dict[str, Any]) -> None:
    """What each edit makes of the first layer follows from its scores."""
    network = make_ours("decoder", **settings)
    subject = load(network)
    plain = subject.record(SOURCE, want=("weights", "scores", "output"))
    scores = plain.maps[0].scores().astype(np.float64)
    last = len(SOURCE) - 1
    strongest = int(scores[1, last, :last].argmax())
    cut = scores.copy()
    cut[1, last, strongest] = -np.inf
    silent = np.where(np.arange(HEADS)[:, None, None] == 1, 0, soften(scores))
    expected = [
        (ScaleScores(2.5, "decoder", "self", 0), soften(2.5 * scores)),
        (CutEdge("decoder", "self", 0, 1, last, strongest), soften(cut)),
        (AblateHead("decoder", "self", 0, 1), silent),
    ]
    for edit, weights in expected:
        edited = subject.record(SOURCE, edits=[edit], want=("weights", "output"))
        assert_near(edited.maps[0].weights(), weights, scores=2.5 * largest(scores))
        differs(edited, plain)
    answer = subject.record(SOURCE[:2], decode={"max_new_tokens": 5}, edits=[expected[0][0]])
    assert answer.generation is not None
