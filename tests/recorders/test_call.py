"""Masks, caps, biases and sinks of attention calls are described as the model has them."""

from typing import Any

import numpy as np
import torch
import transformers as hf

from glassformer.loaded.opening import load
from glassformer.recording import Recording
from their_models import SMALL, ids_of, make_bert, make_llama, make_t5, replaced, sharpen
from tolerances import assert_near


def test_grouped_queries_keep_their_keys_unrepeated() -> None:
    recording = load(make_llama()).record(ids_of(11), want=("weights", "keys", "queries", "values"))
    each = recording.maps[1]
    assert (each.queries.shape, each.keys.shape, each.values.shape) == ((4, 11, 8), (2, 11, 8), (2, 11, 8))
    repeated = each.keys.repeat(2, axis=0)
    scores = np.where(
        np.tril(np.ones((11, 11), bool)), each.queries @ repeated.swapaxes(1, 2) * each.scale, -np.inf
    )
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    assert_near(weights / weights.sum(-1, keepdims=True), each.dense, layers=2)


def record_fast(model: Any, ids: list[int], target: list[int] | None = None) -> Recording:
    subject = load(model)
    return subject.record(ids, target, want=("weights", "scores"), kernel="fast")


def test_a_window_is_recognised_in_the_mask() -> None:
    torch.manual_seed(0)
    settings = SMALL | {"num_key_value_heads": 2, "max_position_embeddings": 64}
    mistral = sharpen(hf.MistralForCausalLM(hf.MistralConfig(**settings, sliding_window=4)))
    each = record_fast(mistral, ids_of(12)).maps[0]
    assert (each.factors.causal, each.factors.window, each.factors.bias) == (True, 4, None)
    assert each.statistics.allowed[0].tolist() == [1, 2, 3] + [4] * 9
    special = {"cls_token_id": 1, "sep_token_id": 2}
    modern = sharpen(hf.ModernBertModel(hf.ModernBertConfig(**SMALL, local_attention=6, **special)))
    maps = record_fast(modern, ids_of(12)).maps
    assert [(each.factors.causal, each.factors.window) for each in maps] == [
        (False, None),
        (False, 4),
        (False, 4),
    ]


def test_soft_caps_positions_and_sinks_are_kept() -> None:
    torch.manual_seed(0)
    grouped = SMALL | {"num_key_value_heads": 2, "head_dim": 8}
    gemma = sharpen(hf.Gemma2ForCausalLM(hf.Gemma2Config(**grouped, attn_logit_softcapping=2.0)))
    each = record_fast(gemma, ids_of(12)).maps[0]
    assert each.factors.softcap == 2.0
    assert np.abs(each.scores(0)[np.tril_indices(12)]).max() <= 2.0
    oss = sharpen(hf.GptOssForCausalLM(hf.GptOssConfig(**grouped, num_local_experts=4)))
    for recording in (record_fast(oss, ids_of(12)), load(oss).record(ids_of(12))):
        each = recording.maps[0]
        sums = each.weights().sum(-1)
        assert (sums < 1 - 1e-4).any()
        assert_near(sums + each.sink_weights, 1, layers=2)
    each = record_fast(make_t5(), ids_of(12), ids_of(5)).map("encoder")
    assert each.factors.scale == 1.0
    assert each.factors.distance_bias.shape == (4, 23)
    assert each.factors.bias is None


def test_latent_attention_has_values_of_another_width() -> None:
    torch.manual_seed(0)
    settings = SMALL | {
        "num_key_value_heads": 4, "moe_intermediate_size": 16, "q_lora_rank": 16, "kv_lora_rank": 8,
        "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 6, "n_routed_experts": 4, "n_group": 2,
        "topk_group": 1, "num_experts_per_tok": 2, "n_shared_experts": 1, "first_k_dense_replace": 1,
    }  # fmt: skip
    model = sharpen(hf.DeepseekV3ForCausalLM(hf.DeepseekV3Config(**settings)))
    each = load(model).record(ids_of(9), want=("weights", "keys", "values")).maps[0]
    assert (each.keys.shape, each.values.shape) == ((4, 9, 8), (4, 9, 6))


def test_a_mask_may_be_one_row_for_all_queries() -> None:
    model = make_bert()
    inputs = {"input_ids": torch.tensor([ids_of(9)]), "attention_mask": torch.tensor([[0, 0] + [1] * 7])}
    subject = load(model)
    expected = subject.record(inputs, want=("weights", "scores"))
    created = hf.masking_utils.eager_mask

    def one_row(*places: Any, **words: Any) -> Any:
        mask = created(*places, **words)
        return mask if mask is None else mask[:, :, :1]

    with replaced("eager_mask", one_row, hf.masking_utils):
        recording = subject.record(inputs, want=("weights", "scores"))
    for ours, theirs in zip(recording.maps, expected.maps, strict=True):
        assert np.array_equal(ours.dense, theirs.dense)
        assert np.array_equal(ours.statistics.allowed, theirs.statistics.allowed)
        assert_near(ours.statistics.entropy, theirs.statistics.entropy)
        assert np.array_equal(ours.dense_scores, theirs.dense_scores)
