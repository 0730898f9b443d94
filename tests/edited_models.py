"""Small models of ours and of transformers, and what their edits are compared with."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import transformers as hf
from torch import Tensor, nn

from glassformer.config import ModelConfig
from glassformer.loaded.opening import load
from glassformer.model.transformer import Transformer
from glassformer.recording import Recording
from tolerances import assert_near

SOURCE, TARGET = [7, 9, 11, 6, 8, 12], [9, 5, 6, 14]


HEADS, WIDTH = 4, 8  # of one head


EVERYTHING = ("weights", "values", "output", "hidden")


def sharpen(network: nn.Module, factor: float = 5.0) -> Any:
    with torch.no_grad():
        for weight in network.parameters():
            if weight.ndim == 2:
                weight.mul_(factor)
    return network.eval()


def make_theirs(shape: str) -> Any:
    torch.manual_seed(0)
    if shape == "decoder":
        config = hf.GPT2Config(
            vocab_size=30, n_embd=32, n_layer=3, n_head=HEADS, n_positions=32, bos_token_id=1, eos_token_id=2
        )
        return sharpen(hf.GPT2LMHeadModel(config))
    config = hf.BartConfig(
        vocab_size=30, d_model=32, encoder_layers=2, decoder_layers=3, encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=32,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=3, forced_eos_token_id=None,
    )  # fmt: skip
    return sharpen(hf.BartForConditionalGeneration(config))


def make_ours(shape: str, **changes: Any) -> Transformer:
    torch.manual_seed(0)
    settings = {
        "vocabulary_size": 30, "shape": shape, "layers": 3, "width": 32, "heads": HEADS, "feed_forward": 32,
        "max_length": 32, "start_id": 3, "end_id": 2,
    }  # fmt: skip
    return sharpen(Transformer(ModelConfig(**settings | changes)), 2.0)


def make_subject(kind: str) -> tuple[Any, tuple[list[int], ...]]:
    """Something to record, and what it reads."""
    if kind == "GPT-2":
        return load(make_theirs("decoder")), (SOURCE,)
    if kind == "BART":
        return load(make_theirs("encoder-decoder")), (SOURCE, TARGET)
    if kind == "our decoder":
        return load(make_ours("decoder")), (SOURCE,)
    return load(make_ours("encoder-decoder")), (SOURCE, TARGET)


KINDS = ["GPT-2", "BART", "our decoder", "our translator"]


CROSSING = ["BART", "our translator"]


def find_projection(subject: Any, stack: str, kind: str, layer: int) -> nn.Module:
    """The module that reads the heads side by side, (…, token, head · width)."""
    if subject.library == "native":
        block = getattr(subject.network, stack).block(layer)
        return (block.attention if kind == "self" else block.cross).output
    if isinstance(subject.network, hf.GPT2LMHeadModel):
        return subject.network.transformer.h[layer].attn.c_proj
    block = getattr(subject.network.model, stack).layers[layer]
    return (block.self_attn if kind == "self" else block.encoder_attn).out_proj


def find_block(subject: Any, stack: str, layer: int) -> nn.Module:
    """One layer of a stack."""
    if subject.library == "native":
        return getattr(subject.network, stack).block(layer)
    network = subject.network
    return (
        network.transformer.h[layer]
        if hasattr(network, "transformer")
        else getattr(network.model, stack).layers[layer]
    )


@contextmanager
def changing_heads(module: nn.Module, change: Any) -> Iterator[list[Tensor]]:
    """Change what a projection reads, by hand; and see it."""
    seen: list[Tensor] = []

    def hook(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
        heads = inputs[0].unflatten(-1, (HEADS, WIDTH)).clone()  # (1, token, head, width)
        seen.append(heads[0].detach())
        return None if change is None else (change(heads).flatten(-2), *inputs[1:])

    handle = module.register_forward_pre_hook(hook)
    yield seen
    handle.remove()


def same_output(one: Recording, other: Recording) -> None:
    assert (one.output.ids == other.output.ids).all()
    assert_near(one.output.log_probabilities, other.output.log_probabilities, layers=2)
    for stack in one.hidden:
        assert_near(one.hidden[stack], other.hidden[stack], layers=2)


def differs(one: Recording, other: Recording) -> None:
    assert np.abs(one.output.log_probabilities - other.output.log_probabilities).max() > 1e-3


def make_architectures() -> dict[str, Any]:
    """Small models of many kinds, by name."""
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
