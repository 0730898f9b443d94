"""Edits of our own networks, through their windows."""

import numpy as np
import pytest
import torch
import transformers as hf

from edited_models import HEADS, SOURCE, TARGET, differs, make_ours, sharpen
from glassformer.config import RecurrentConfig
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.recorders.edits import AblateHead, CutEdge, FirstLayers


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
