"""Grouped queries, QK-norm, windows and ALiBi beside random models of `transformers` that have them."""

from typing import Any

import pytest
import torch
import transformers as hf
from torch import Tensor, nn

from glassformer.config import ModelConfig
from glassformer.model.attention import Mask, SelfAttention
from glassformer.model.positions import AlibiBias, RotaryPositions
from glassformer.model.transformer import Transformer
from tolerances import assert_near

WIDTH, HEADS, KEY_HEADS, LENGTH = 32, 4, 2, 11
SIZES: dict[str, Any] = {
    "vocab_size": 43,
    "hidden_size": WIDTH,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KEY_HEADS,
    "attn_implementation": "eager",
}


def shake(model: nn.Module) -> Any:
    """Nothing is zero or one by initialisation, and attention is not flat."""
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.25)
    return model.eval()


def join(module: Any, *names: str) -> dict[str, Tensor]:
    """Separate projections as one, without biases where there are none."""
    parts = [getattr(module, name) for name in names]
    biases = [torch.zeros(len(part.weight)) if part.bias is None else part.bias for part in parts]
    return {"weight": torch.cat([part.weight for part in parts]), "bias": torch.cat(biases)}


def attend_as(theirs: Any, hidden: Tensor, mask: Mask, **settings: Any) -> Tensor:
    """Our attention with their weights, turned as they turn."""
    words = {"width": WIDTH, "heads": HEADS, "key_heads": KEY_HEADS, "positions": "rotary", **settings}
    ours = SelfAttention(ModelConfig(43, **words)).eval()
    ours.qkv.load_state_dict(join(theirs, "q_proj", "k_proj", "v_proj"))
    ours.output.load_state_dict(join(theirs, "o_proj"))
    if ours.query_norm is not None and ours.key_norm is not None:
        ours.query_norm.load_state_dict(theirs.q_norm.state_dict())
        ours.key_norm.load_state_dict(theirs.k_norm.state_dict())
    return ours(hidden, mask, RotaryPositions(WIDTH // HEADS)(torch.arange(LENGTH)))


@pytest.mark.parametrize("kind", ["qwen3", "llama", "mistral"])
@torch.no_grad()
def test_attention_is_theirs(kind: str) -> None:
    window = 4 if kind == "mistral" else None
    makers: dict[str, Any] = {
        "qwen3": lambda: hf.Qwen3Model(hf.Qwen3Config(**SIZES, head_dim=WIDTH // HEADS)),
        "llama": lambda: hf.LlamaModel(hf.LlamaConfig(**SIZES)),
        "mistral": lambda: hf.MistralModel(hf.MistralConfig(**SIZES, sliding_window=window)),
    }
    model = shake(makers[kind]())
    seen: dict[str, Tensor] = {}
    attention = model.layers[0].self_attn
    attention.register_forward_hook(
        lambda _, __, named, output: seen.update(given=named["hidden_states"], made=output[0]),
        with_kwargs=True,
    )
    model(torch.randint(43, (2, LENGTH)))
    settings = {"query_key_norm": True, "norm_epsilon": 1e-6} if kind == "qwen3" else {}
    found = attend_as(attention, seen["given"], Mask(causal=True, window=window), **settings)
    assert_near(found, seen["made"], layers=1)
    if window is not None:
        assert (found - attend_as(attention, seen["given"], Mask(causal=True))).abs().max() > 1e-3


@pytest.mark.parametrize("heads", [4, 6])
@torch.no_grad()
def test_alibi_is_blooms(heads: int) -> None:
    width = 8 * heads
    config = hf.BloomConfig(vocab_size=43, hidden_size=width, n_layer=1, n_head=heads)
    model = shake(hf.BloomModel(config))
    seen: dict[str, Tensor] = {}
    theirs = model.h[0].self_attention
    theirs.register_forward_hook(
        lambda _, given, output: seen.update(given=given[0], residual=given[1], made=output[0])
    )
    model(torch.randint(43, (2, LENGTH)))
    ours = SelfAttention(ModelConfig(43, width=width, heads=heads, positions="alibi")).eval()
    fused = theirs.query_key_value  # (head, three, feature)
    for name, tensor in (("weight", fused.weight), ("bias", fused.bias)):
        parts = tensor.unflatten(0, (heads, 3, 8)).transpose(0, 1).flatten(0, 2)
        getattr(ours.qkv, name).copy_(parts)
    ours.output.load_state_dict(theirs.dense.state_dict())
    positions = torch.arange(LENGTH)
    found = ours(seen["given"], Mask(causal=True, bias=AlibiBias(heads)(positions, positions)))
    assert_near(found + seen["residual"], seen["made"], layers=1)


@pytest.mark.parametrize("window", [None, 4])
@torch.no_grad()
def test_the_whole_network_is_starcoder2(window: int | None) -> None:
    """Grouped queries, rotary positions and a window, through all layers, at once and word by word."""
    config = hf.Starcoder2Config(
        **SIZES, sliding_window=window, max_position_embeddings=64, bos_token_id=1, eos_token_id=2
    )
    theirs = shake(hf.Starcoder2ForCausalLM(config))
    words: dict[str, Any] = {
        "width": WIDTH, "heads": HEADS, "key_heads": KEY_HEADS, "layers": 2, "feed_forward": 48,
        "positions": "rotary", "norm_position": "pre", "scale_embeddings": False, "activation": "gelu-tanh",
    }  # fmt: skip
    ours = Transformer(ModelConfig(43, shape="decoder", window=window, **words)).eval()
    weights = {"embeddings.tokens.weight": theirs.model.embed_tokens.weight}

    def carry(name: str, tensors: dict[str, Tensor]) -> None:
        weights.update({f"{name}.{key}": tensor for key, tensor in tensors.items()})

    for number, layer in enumerate(theirs.model.layers):
        block = f"decoder.layers.{number}"
        carry(f"{block}.attention.qkv", join(layer.self_attn, "q_proj", "k_proj", "v_proj"))
        carry(f"{block}.attention.output", join(layer.self_attn, "o_proj"))
        carry(f"{block}.feed_forward.expand", join(layer.mlp, "c_fc"))
        carry(f"{block}.feed_forward.contract", join(layer.mlp, "c_proj"))
        carry(f"{block}.attention_residual.norm", layer.input_layernorm.state_dict())
        carry(f"{block}.feed_forward_residual.norm", layer.post_attention_layernorm.state_dict())
    carry("decoder.norm", theirs.model.norm.state_dict())
    ours.load_state_dict(weights)
    ids = torch.randint(43, (2, 2 * LENGTH), generator=torch.Generator().manual_seed(1))
    wanted = theirs(ids).logits
    assert_near(ours(ids), wanted, layers=2, scores=10)
    decoding = ours.begin(ids[:, :3], capacity=2 * LENGTH)
    for place in range(3, 2 * LENGTH):
        assert_near(decoding.logits, wanted[:, place - 1], layers=2, scores=10)
        decoding.step(ids[:, place])
