"""Tiny models of transformers that generate."""

from typing import Any

import torch
import transformers as hf
from torch import nn

from glassformer.model.generation_settings import GenerationSettings
from glassformer.recording import Recording

PROMPT = [7, 9, 11, 6, 8]


SMALL = {
    "vocab_size": 30, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 32, "max_position_embeddings": 64,
    "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip


BOTH = {
    "vocab_size": 30, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 64,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 3,
    "forced_eos_token_id": None,
}  # fmt: skip


GREEDY = GenerationSettings(max_new_tokens=7, alternatives=3)


BEAMS = GenerationSettings(max_new_tokens=7, min_new_tokens=3, beams=3, alternatives=3)


SAMPLING = GenerationSettings(max_new_tokens=7, sample=True, seed=11, top_k=12, temperature=0.8)


def sharpen(network: nn.Module, factor: float) -> Any:
    with torch.no_grad():
        for weight in network.parameters():
            if weight.ndim == 2:
                weight.mul_(factor)
    return network.eval()


def make(kind: str) -> Any:
    torch.manual_seed(1)
    if kind == "GPT-2":
        config = hf.GPT2Config(
            vocab_size=30, n_embd=32, n_layer=2, n_head=4, n_positions=64, bos_token_id=1, eos_token_id=2
        )
        return sharpen(hf.GPT2LMHeadModel(config), 5.0)
    if kind == "Llama":
        return sharpen(hf.LlamaForCausalLM(hf.LlamaConfig(**SMALL)), 5.0)
    if kind == "Mistral":  # a cache that forgets what lies outside its window
        return sharpen(hf.MistralForCausalLM(hf.MistralConfig(**SMALL, sliding_window=4)), 5.0)
    if kind == "T5":
        config = hf.T5Config(
            vocab_size=30, d_model=32, d_kv=8, num_layers=2, num_heads=4, d_ff=32, decoder_start_token_id=3,
            eos_token_id=2,
        )  # fmt: skip
        return sharpen(hf.T5ForConditionalGeneration(config), 1.5)
    return sharpen(hf.BartForConditionalGeneration(hf.BartConfig(**BOTH)), 4.0)


DECODERS = ["GPT-2", "Llama", "Mistral"]


def generate_eager(model: Any, **words: Any) -> Any:
    """What transformers gives itself, step by step."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    result = model.generate(
        torch.tensor([PROMPT]), attention_mask=torch.ones(1, len(PROMPT), dtype=torch.long), pad_token_id=0,
        return_dict_in_generate=True, output_attentions=True, output_scores=True, **words,
    )  # fmt: skip
    model.set_attn_implementation(before)
    return result


def words_of(recording: Recording) -> list[int]:
    return [step.token for step in recording.generation.steps]
