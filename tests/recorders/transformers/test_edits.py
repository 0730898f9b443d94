"""Edits of one attention call, through the arguments of the attention function."""

import numpy as np
import torch
import transformers as hf

from edited_models import SOURCE, sharpen
from glassformer.loaded.opening import load
from glassformer.metrics import score
from glassformer.recorders.edits import AblateHead, ScaleScores
from their_models import ids_of, make_oss
from tolerances import assert_near


def test_scores_are_scaled_with_their_soft_cap_and_their_bias() -> None:
    torch.manual_seed(0)
    settings = {
        "vocab_size": 30, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 8,
        "num_key_value_heads": 2, "intermediate_size": 32, "attn_logit_softcapping": 3.0,
    }  # fmt: skip
    gemma = load(sharpen(hf.Gemma2ForCausalLM(hf.Gemma2Config(**settings)), 8.0))
    config = hf.T5Config(vocab_size=30, d_model=32, d_kv=8, num_layers=2, num_heads=4, d_ff=32)
    t5 = load(sharpen(hf.T5EncoderModel(config), 1.5))
    for subject in (gemma, t5):
        plain = subject.record(SOURCE, want=("weights", "scores")).maps[0]
        edited = subject.record(SOURCE, want=("weights", "scores"), edits=[ScaleScores(2.0)]).maps[0]
        scores = 2.0 * plain.scores().astype(np.float64)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        assert_near(edited.dense, weights / weights.sum(-1, keepdims=True), layers=2)
        assert np.abs(edited.dense - plain.dense).max() > 0.01


def test_a_silenced_head_takes_no_sink_from_the_others() -> None:
    subject = load(make_oss())
    whole = subject.record(ids_of(12))
    silenced = subject.record(ids_of(12), edits=[AblateHead("decoder", "self", 0, 1)])
    before, after = (score(each, "entropy").parts[0].values for each in (whole, silenced))
    assert np.isnan(after[1])
    assert_near(np.delete(after, 1), np.delete(before, 1), layers=2)
    assert not silenced.maps[0].sink_weights[1].any()
