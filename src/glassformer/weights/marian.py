"""Marian: the paper's encoder-decoder with one vocabulary; sines and cosines stand in two halves."""

from typing import Any

from glassformer.config import Head, ModelConfig
from glassformer.messages import Message
from glassformer.model.positions import sinusoidal_table
from glassformer.weights.family import (
    COMMON,
    FAMILIES,
    Family,
    Names,
    Settings,
    find_head,
    read_names,
    require_equal,
    write_names,
)
from glassformer.weights.mapping import ROW, VALUE_ALONE, WITHOUT_KEY, Rule, Table, carry_layer

ARCHITECTURES: dict[str, Head] = {"MarianMTModel": "language"}
NAMES: Names = {
    "vocab_size": ("vocabulary_size", 58101),
    "encoder_layers": ("layers", 12),
    "decoder_layers": ("decoder_layers", 12),
    "d_model": ("width", 1024),
    "encoder_attention_heads": ("heads", 16),
    "decoder_attention_heads": ("heads", 16),
    "encoder_ffn_dim": ("feed_forward", 4096),
    "decoder_ffn_dim": ("feed_forward", 4096),
    "max_position_embeddings": ("max_length", 1024),
    "activation_function": ("activation", "gelu"),
    "scale_embedding": ("scale_embeddings", False),
    "dropout": ("dropout", 0.1),
    "attention_dropout": ("attention_dropout", 0.0),
    "activation_dropout": ("feed_forward_dropout", 0.0),
    "pad_token_id": ("padding_id", 58100),
    "decoder_start_token_id": ("start_id", 58100),
    "eos_token_id": ("end_id", 0),
}
FIXED: Settings = {
    "shape": "encoder-decoder",
    "positions": "sinusoidal-halves",
    "similarity": "scaled-dot",
    "norm_position": "post",
    "norm_epsilon": 1e-5,  # no setting there: torch's default
    "embedding_norm": False,
    "segments": 0,
    "tie_embeddings": True,
    **COMMON,
}


def read_config(settings: Settings) -> ModelConfig:
    """What a MarianConfig says, as our configuration; old files have settings that it no longer has.

    Layers that training drops there (layerdrop) are kept here.
    """
    values = read_names(settings, NAMES)
    values["padding_id"] = values["padding_id"] or 0
    require_equal(
        settings,
        {
            "normalize_before": False,
            "normalize_embedding": False,
            "add_final_layer_norm": False,
            "static_position_embeddings": True,
            "share_encoder_decoder_embeddings": True,
            "tie_word_embeddings": True,  # otherwise nothing is tied there, not even encoder and decoder
            "decoder_vocab_size": values["vocabulary_size"],
        },
    )
    return ModelConfig(**FIXED, **values, head=find_head(settings, ARCHITECTURES), output_bias=True)


def write_config(config: ModelConfig) -> dict[str, Any] | Message:
    """The MarianConfig of this network, or why there is none."""
    settings = write_names(config, ARCHITECTURES, NAMES, FIXED, {})
    if isinstance(settings, Message):
        return settings
    return settings | {
        "is_encoder_decoder": True,
        "decoder_vocab_size": config.vocabulary_size,
        "share_encoder_decoder_embeddings": True,
        "decoder_layers": config.depth["decoder"],
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "forced_eos_token_id": config.end_id,
        "decoder_start_token_id": config.padding_id if config.start_id is None else config.start_id,
    }


def table(config: ModelConfig) -> Table:
    """Marian's names. One embedding may stand under four of them; a bias that is missing is zero."""
    embeddings = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight")
    sines = sinusoidal_table(config.max_length, config.width, halves=True)
    rules = (
        Rule(("model.shared.weight",), "embeddings.tokens.weight", also=embeddings),
        *stack_rules("encoder"),
        *stack_rules("decoder"),
        Rule(("final_logits_bias",), "head.bias", ROW, optional=True),
        Rule(("model.encoder.embed_positions.weight",), None, fixed=sines),
        Rule(("model.decoder.embed_positions.weight",), None, fixed=sines),
    )
    return Table(rules, prefix="model.")


def stack_rules(stack: str, *, key_bias: bool = True) -> tuple[Rule, ...]:
    """The blocks of Marian and of Whisper, whose keys have no bias."""
    layer, ours = f"model.{stack}.layers.{{}}", f"{stack}.layers.{{}}"
    own, cross = f"{layer}.self_attn", f"{layer}.encoder_attn"
    qkv = carry_layer((f"{own}.q_proj", f"{own}.k_proj", f"{own}.v_proj"), f"{ours}.attention.qkv")
    kv = carry_layer((f"{cross}.k_proj", f"{cross}.v_proj"), f"{ours}.cross.kv")
    if not key_bias:
        qkv = (
            qkv[0],
            Rule((f"{own}.q_proj.bias", f"{own}.v_proj.bias"), f"{ours}.attention.qkv.bias", WITHOUT_KEY),
        )
        kv = (kv[0], Rule((f"{cross}.v_proj.bias",), f"{ours}.cross.kv.bias", VALUE_ALONE))
    return (
        *qkv,
        *carry_layer(f"{own}.out_proj", f"{ours}.attention.output"),
        *carry_layer(f"{own}_layer_norm", f"{ours}.attention_residual.norm"),
        *carry_layer(f"{cross}.q_proj", f"{ours}.cross.q"),
        *kv,
        *carry_layer(f"{cross}.out_proj", f"{ours}.cross.output"),
        *carry_layer(f"{cross}_layer_norm", f"{ours}.cross_residual.norm"),
        *carry_layer(f"{layer}.fc1", f"{ours}.feed_forward.expand"),
        *carry_layer(f"{layer}.fc2", f"{ours}.feed_forward.contract"),
        *carry_layer(f"{layer}.final_layer_norm", f"{ours}.feed_forward_residual.norm"),
    )


MARIAN = FAMILIES.register("marian")(Family(ARCHITECTURES, read_config, write_config, table))
