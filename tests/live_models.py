"""Tiny random models of transformers, live, with a tokenizer: what the tests of loaded models share."""

from typing import Any

import torch
import transformers as hf

from glassformer.text.builders import build_words

WORDS = ["the", "animal", "street", "was", "too", "tired", "to", "cross"]
TOKENIZER = build_words(WORDS)
TEXTS = ["the animal was", "the street", "too tired to cross the street", "", "the animal too"]
DECODERS = ["LlamaForCausalLM", "GPT2LMHeadModel"]
TRANSLATORS = ["T5ForConditionalGeneration", "BartForConditionalGeneration"]
EVERY = {"records", "reads_text", "edits", "gradients"}  # what every model with a tokenizer can
SIZE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


def special_ids() -> dict[str, int]:
    roles = TOKENIZER.roles
    return {
        "pad_token_id": roles["padding"],
        "bos_token_id": roles["start"],
        "eos_token_id": roles["end"],
    }


def make(kind: str) -> Any:
    """One model by the name of its class."""
    torch.manual_seed(3)
    vocabulary = {"vocab_size": TOKENIZER.size}
    t5 = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2}
    bart = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2}
    bart |= {"decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}
    ids, start = special_ids(), TOKENIZER.roles["start"]
    builders = {
        "LlamaForCausalLM": lambda: hf.LlamaConfig(**vocabulary, **SIZE, **ids),
        "GPT2LMHeadModel": lambda: hf.GPT2Config(
            **vocabulary, n_embd=16, n_layer=2, n_head=2, n_positions=24, **ids
        ),
        "T5ForConditionalGeneration": lambda: hf.T5Config(
            **vocabulary, **t5, **ids, decoder_start_token_id=start
        ),
        "BartForConditionalGeneration": lambda: hf.BartConfig(
            **vocabulary,
            **bart,
            **ids,
            decoder_start_token_id=start,
            forced_eos_token_id=None,
            init_std=0.1,
            max_position_embeddings=32,
        ),
        "BertForMaskedLM": lambda: hf.BertConfig(**vocabulary, **SIZE),
        "BertForSequenceClassification": lambda: hf.BertConfig(
            **vocabulary, **SIZE, id2label={0: "bad", 1: "good", 2: "so-so"}
        ),
        "BertModel": lambda: hf.BertConfig(**vocabulary, **SIZE),
    }
    model = getattr(hf, kind)(builders[kind]())
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)  # far from uniform, so that answers differ
    return model.eval()
