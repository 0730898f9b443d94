"""Tiny models of transformers with sharp attention, and a tokenizer for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tokenizers
import torch
import transformers as hf
from torch import Tensor, nn

WORDS = [
    "[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]", "the", "cat", "sat", "on", "a", "mat", "and", "dog", "saw",
]  # fmt: skip


TEXT = "the cat sat on a mat and saw the dog"


SMALL = {
    "vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4,
    "intermediate_size": 48, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip


BOTH = {
    "vocab_size": 40, "d_model": 32, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_position_embeddings": 64,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2,
}  # fmt: skip


def sharpen(model: nn.Module, factor: float = 6.0) -> Any:
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 2:
                weight.mul_(factor)
    return model.eval()


def make_gpt2(**changes: Any) -> Any:
    torch.manual_seed(0)
    settings = {"vocab_size": 40, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64} | changes
    return sharpen(hf.GPT2LMHeadModel(hf.GPT2Config(bos_token_id=1, eos_token_id=2, **settings)))


def make_bert(**changes: Any) -> Any:
    torch.manual_seed(0)
    config = hf.BertConfig(**SMALL | {"max_position_embeddings": 64} | changes)
    return sharpen(hf.BertForSequenceClassification(config))


def make_bart(**changes: Any) -> Any:
    torch.manual_seed(0)
    return sharpen(hf.BartForConditionalGeneration(hf.BartConfig(**BOTH, **changes)))


def make_llama(**changes: Any) -> Any:
    torch.manual_seed(0)
    settings = SMALL | {"num_key_value_heads": 2, "max_position_embeddings": 64} | changes
    return sharpen(hf.LlamaForCausalLM(hf.LlamaConfig(**settings)))


def ids_of(count: int, seed: int = 0) -> list[int]:
    return torch.randint(5, 40, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


def eager_maps(model: Any, **inputs: Tensor) -> Any:
    """What the model reports itself."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        outputs = model(**inputs, output_attentions=True)
    model.set_attn_implementation(before)
    return outputs


def make_t5() -> Any:
    torch.manual_seed(0)
    config = hf.T5Config(
        vocab_size=40, d_model=32, d_kv=8, num_layers=2, num_decoder_layers=3, num_heads=4, d_ff=48,
        decoder_start_token_id=0,
    )  # fmt: skip
    return sharpen(hf.T5ForConditionalGeneration(config), 2.0)


def make_oss() -> Any:
    grouped = SMALL | {"num_key_value_heads": 2, "head_dim": 8}
    torch.manual_seed(0)
    return sharpen(hf.GptOssForCausalLM(hf.GptOssConfig(**grouped, num_local_experts=4)))


@contextmanager
def replaced(name: str, thing: Any, module: Any) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, thing)
    try:
        yield
    finally:
        setattr(module, name, before)


def make_detr() -> Any:
    """Looks at pictures through convolutions; its decoder has five learned queries."""
    torch.manual_seed(0)
    backbone = hf.ResNetConfig(
        embedding_size=8, hidden_sizes=[8] * 4, depths=[1] * 4, out_features=["stage4"]
    )
    settings = {"d_model": 32, "num_queries": 5, "use_timm_backbone": False, "backbone": None}
    for side in ("encoder", "decoder"):
        settings |= {f"{side}_layers": 2, f"{side}_attention_heads": 4, f"{side}_ffn_dim": 32}
    config = hf.DetrConfig(**settings, backbone_config=backbone, use_pretrained_backbone=False)
    return hf.DetrForObjectDetection(config).eval()


def make_tokenizer() -> Any:
    """Whole words, between [CLS] and [SEP]."""
    library = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: i for i, w in enumerate(WORDS)}, "[UNK]"))
    library.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    library.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=library, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]"
    )
