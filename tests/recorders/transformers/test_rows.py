"""Edited rows of one batch give the logits that passes of their own give, in many architectures."""

from typing import Any

import pytest
import torch
import transformers as hf

import glassformer as gf
from edited_models import HEADS, SOURCE
from glassformer.recorders.record import find_recorder, make_request
from tolerances import assert_near


def make_architectures() -> dict[str, Any]:
    small = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": HEADS}
    longer = small | {"intermediate_size": 48, "max_position_embeddings": 64}
    grouped = longer | {"num_key_value_heads": 2, "head_dim": 8}
    return {
        "Llama": lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**grouped)),
        "Mistral": lambda: hf.MistralForCausalLM(hf.MistralConfig(**grouped, sliding_window=4)),
        "Qwen3": lambda: hf.Qwen3ForCausalLM(hf.Qwen3Config(**grouped)),
        "Gemma 2": lambda: hf.Gemma2ForCausalLM(hf.Gemma2Config(**grouped)),
        "OPT": lambda: hf.OPTForCausalLM(
            hf.OPTConfig(**small, ffn_dim=48, max_position_embeddings=64, word_embed_proj_dim=32)
        ),
        "GPT-NeoX": lambda: hf.GPTNeoXForCausalLM(hf.GPTNeoXConfig(**longer)),
        "BERT": lambda: hf.BertForMaskedLM(hf.BertConfig(**longer)),
        "ALBERT": lambda: hf.AlbertForMaskedLM(hf.AlbertConfig(**longer, embedding_size=16)),
        "DistilBERT": lambda: hf.DistilBertForMaskedLM(
            hf.DistilBertConfig(vocab_size=40, dim=32, n_layers=3, n_heads=HEADS, hidden_dim=48)
        ),
        "T5": lambda: hf.T5ForConditionalGeneration(
            hf.T5Config(
                vocab_size=40,
                d_model=32,
                d_kv=8,
                d_ff=48,
                num_layers=3,
                num_heads=HEADS,
                decoder_start_token_id=0,
            )
        ),
        "Bloom": lambda: hf.BloomForCausalLM(
            hf.BloomConfig(vocab_size=40, hidden_size=32, n_layer=3, n_head=HEADS)
        ),
        "GPT-J": lambda: hf.GPTJForCausalLM(
            hf.GPTJConfig(vocab_size=40, n_embd=32, n_layer=3, n_head=HEADS, rotary_dim=4, n_positions=64)
        ),
    }


ALONE = ("Bloom", "GPT-J")  # off the attention interface: one pass after the other


@pytest.mark.parametrize("name", list(make_architectures()))
def test_architectures_of_transformers(name: str) -> None:
    torch.manual_seed(0)
    model = gf.load(make_architectures()[name]().eval())
    reads = (SOURCE, [9, 5, 6]) if model.shape == "encoder-decoder" else (SOURCE,)
    edits = [(edit,) for edit in gf.all_heads(model.record(*reads))[::3]]
    target = None if len(reads) == 1 else reads[1]
    request = make_request(model, SOURCE, target, second_text=None, target_language=None)
    passes: list[int] = []
    model.network.register_forward_pre_hook(lambda *_: passes.append(1))
    recorder = find_recorder(model)
    with torch.no_grad():
        together = recorder.measure(request, edits, (-1, 2))
        count = len(passes)
        alone = recorder.measure(request, edits, (-1, 2), together=False)
    assert together.shape == (len(edits) + 1, 2, 40)
    assert (count == 1) == (name not in ALONE)
    assert_near(together, alone, layers=6, where=name)
    assert (alone[1:] != alone[0]).flatten(1).any(1).sum() >= len(
        edits
    ) // 2  # of random weights, not all act
