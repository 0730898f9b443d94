"""GPT-2: a decoder, norms first, learned positions, tied embeddings; matrices stand transposed (Conv1D)."""

from typing import Any

from glassformer.config import Head, ModelConfig
from glassformer.messages import Message
from glassformer.weights.family import (
    FAMILIES,
    FOREIGN_ACTIVATIONS,
    Family,
    Settings,
    count_classes,
    find_architecture,
    find_difference,
    find_head,
    read_activation,
    read_bool,
    read_float,
    read_int,
    read_token_id,
    require_equal,
)
from glassformer.weights.mapping import TRANSPOSED, Rule, Table, carry, carry_layer, ignore

ARCHITECTURES: dict[str, Head] = {
    "GPT2LMHeadModel": "language",
    "GPT2Model": "none",
    "GPT2ForSequenceClassification": "classes",
}
LAST_WORD = 50256  # <|endoftext|>: start, end and padding


def read_config(settings: Settings) -> ModelConfig:
    """What a GPT2Config says, as our configuration. Dropout has one rate: resid_pdrop."""
    require_equal(settings, {"scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False})
    head = find_head(settings, ARCHITECTURES)
    width = read_int(settings, "n_embd", 768)
    vocabulary = read_int(settings, "vocab_size", 50257)
    end = read_token_id(settings, "eos_token_id", vocabulary, LAST_WORD)
    padding = read_token_id(settings, "pad_token_id", vocabulary)
    return ModelConfig(
        vocabulary_size=vocabulary,
        shape="decoder",
        layers=read_int(settings, "n_layer", 12),
        width=width,
        heads=read_int(settings, "n_head", 12),
        feed_forward=4 * width if settings.get("n_inner") is None else read_int(settings, "n_inner", 0),
        max_length=read_int(settings, "n_positions", 1024),
        positions="learned",
        similarity="scaled-dot" if read_bool(settings, "scale_attn_weights", True) else "dot",
        activation=read_activation(settings, "activation_function", "gelu_new"),
        norm_position="pre",
        norm_epsilon=read_float(settings, "layer_norm_epsilon", 1e-5),
        scale_embeddings=False,
        head=head,
        tie_embeddings=read_bool(settings, "tie_word_embeddings", True),
        classes=count_classes(settings) if head == "classes" else 0,
        pooling="last" if head == "classes" else "first",
        dropout=read_float(settings, "resid_pdrop", 0.1),
        attention_dropout=read_float(settings, "attn_pdrop", 0.1),
        padding_id=padding if padding is not None else end if end is not None else 0,
        start_id=read_token_id(settings, "bos_token_id", vocabulary, LAST_WORD),
        end_id=end,
    )


def write_config(config: ModelConfig) -> dict[str, Any] | Message:
    """The GPT2Config of this network, or why there is none."""
    wanted: dict[str, tuple[object, ...]] = {
        "shape": ("decoder",),
        "positions": ("learned",),
        "similarity": ("scaled-dot", "dot"),
        "norm": ("layer",),
        "norm_position": ("pre",),
        "basic_attention": (False,),
        "best_keys": (None,),
        "embedding_width": (None,),
        "embedding_norm": (False,),
        "scale_embeddings": (False,),
        "segments": (0,),
        "residual_scale": (False,),
        "share_layers": (False,),
        "output_bias": (False,),
    }
    if config.head == "classes":
        wanted |= {"pooling": ("last",), "pooler": (False,)}
    if reason := find_difference(config, wanted):
        return reason
    return {
        "architectures": [find_architecture(config, ARCHITECTURES)],
        "vocab_size": config.vocabulary_size,
        "n_layer": config.layers,
        "n_embd": config.width,
        "n_head": config.heads,
        "n_inner": config.feed_forward,
        "n_positions": config.max_length,
        "scale_attn_weights": config.similarity == "scaled-dot",
        "activation_function": FOREIGN_ACTIVATIONS[config.activation],
        "layer_norm_epsilon": config.norm_epsilon,
        "tie_word_embeddings": config.tie_embeddings,
        "resid_pdrop": config.dropout,
        "embd_pdrop": config.dropout,
        "attn_pdrop": config.attention_dropout,
        "bos_token_id": config.start_id,
        "eos_token_id": config.end_id,
        "pad_token_id": config.padding_id,
    }


def table(config: ModelConfig) -> Table:
    """GPT-2's names. A classifier there has no bias; in old files attention keeps its mask as a buffer."""
    layer, ours = "transformer.h.{}", "decoder.layers.{}"
    tied = ("lm_head.weight",) if config.tie_embeddings else ()
    rules = (
        Rule(("transformer.wte.weight",), "embeddings.tokens.weight", also=tied),
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


GPT2 = FAMILIES.register("gpt2")(Family("gpt2", ARCHITECTURES, read_config, write_config, table))
