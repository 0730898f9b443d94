"""GPT-2: a decoder, norms first, learned positions, tied embeddings; matrices stand transposed (Conv1D)."""

from typing import Any

from glassformer.config import Head, ModelConfig
from glassformer.messages import Message
from glassformer.weights.family import (
    COMMON,
    FAMILIES,
    Family,
    Names,
    Settings,
    count_classes,
    find_head,
    read_names,
    read_number,
    require_equal,
    write_names,
)
from glassformer.weights.mapping import PLAIN, TRANSPOSED, Rule, Table, carry, carry_layer, ignore

ARCHITECTURES: dict[str, Head] = {
    "GPT2LMHeadModel": "language",
    "GPT2Model": "none",
    "GPT2ForSequenceClassification": "classes",
}
LAST_WORD = 50256  # <|endoftext|>: start, end and padding
NAMES: Names = {
    "vocab_size": ("vocabulary_size", 50257),
    "n_layer": ("layers", 12),
    "n_embd": ("width", 768),
    "n_head": ("heads", 12),
    "n_inner": ("feed_forward", 3072),
    "n_positions": ("max_length", 1024),
    "activation_function": ("activation", "gelu_new"),
    "layer_norm_epsilon": ("norm_epsilon", 1e-5),
    "tie_word_embeddings": ("tie_embeddings", True),
    "resid_pdrop": ("dropout", 0.1),
    "attn_pdrop": ("attention_dropout", 0.1),
    "bos_token_id": ("start_id", LAST_WORD),
    "eos_token_id": ("end_id", LAST_WORD),
    "pad_token_id": ("padding_id", None),
}
FIXED: Settings = {
    "shape": "decoder",
    "positions": "learned",
    "norm_position": "pre",
    "embedding_norm": False,
    "scale_embeddings": False,
    "segments": 0,
    "output_bias": False,
    **COMMON,
}


def read_config(settings: Settings) -> ModelConfig:
    """What a GPT2Config says, as our configuration. Dropout has one rate: resid_pdrop."""
    require_equal(settings, {"scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False})
    head = find_head(settings, ARCHITECTURES)
    if settings.get("n_inner") is None:
        settings = {**settings, "n_inner": 4 * read_number(settings, "n_embd", 768)}
    values = read_names(settings, NAMES)
    if values["padding_id"] is None:
        values["padding_id"] = values["end_id"] or 0
    return ModelConfig(
        **FIXED,
        **values,
        similarity="scaled-dot" if read_number(settings, "scale_attn_weights", True) else "dot",
        head=head,
        classes=count_classes(settings) if head == "classes" else 0,
        pooling="last" if head == "classes" else "first",
    )


def write_config(config: ModelConfig) -> dict[str, Any] | Message:
    """The GPT2Config of this network, or why there is none."""
    choices: dict[str, tuple[object, ...]] = {"similarity": ("scaled-dot", "dot")}
    if config.head == "classes":
        choices |= {"pooling": ("last",), "pooler": (False,)}
    settings = write_names(config, ARCHITECTURES, NAMES, FIXED, choices)
    if isinstance(settings, Message):
        return settings
    scaled = config.similarity == "scaled-dot"
    return settings | {"scale_attn_weights": scaled, "embd_pdrop": config.dropout}


def table(config: ModelConfig) -> Table:
    """GPT-2's names. A classifier there has no bias; in old files attention keeps its mask as a buffer."""
    layer, ours = "transformer.h.{}", "decoder.layers.{}"
    tied = ("lm_head.weight",) if config.tie_embeddings else ()
    rules = (
        carry("transformer.wte.weight", "embeddings.tokens.weight", PLAIN, *tied),
        carry("transformer.wpe.weight", "embeddings.positions.weight"),
        *carry_layer(f"{layer}.ln_1", f"{ours}.attention_residual.norm"),
        *carry_layer(f"{layer}.attn.c_attn", f"{ours}.attention.qkv", TRANSPOSED),
        *carry_layer(f"{layer}.attn.c_proj", f"{ours}.attention.output", TRANSPOSED),
        *carry_layer(f"{layer}.ln_2", f"{ours}.feed_forward_residual.norm"),
        *carry_layer(f"{layer}.mlp.c_fc", f"{ours}.feed_forward.expand", TRANSPOSED),
        *carry_layer(f"{layer}.mlp.c_proj", f"{ours}.feed_forward.contract", TRANSPOSED),
        *carry_layer("transformer.ln_f", "decoder.norm"),
        carry("lm_head.weight", "head.weight"),
        carry("score.weight", "head.classes.weight"),
        Rule((), "head.classes.bias"),
        *ignore(f"{layer}.attn.bias", f"{layer}.attn.masked_bias"),
    )
    return Table(rules, bare=config.head == "none", prefix="transformer.")


GPT2 = FAMILIES.register("gpt2")(Family(ARCHITECTURES, read_config, write_config, table))
