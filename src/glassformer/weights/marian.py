"""Marian: the paper's encoder-decoder with one vocabulary; sines and cosines stand in two halves."""

from typing import Any

from glassformer.config import Head, ModelConfig
from glassformer.errors import CheckpointError
from glassformer.messages import Message
from glassformer.model.positions import sinusoidal_table
from glassformer.weights.family import (
    FAMILIES,
    FOREIGN_ACTIVATIONS,
    Family,
    Settings,
    find_difference,
    find_head,
    read_activation,
    read_bool,
    read_float,
    read_int,
    read_token_id,
    require_equal,
)
from glassformer.weights.mapping import ROW, Rule, Table, carry_layer

ARCHITECTURES: dict[str, Head] = {"MarianMTModel": "language"}
NORM_EPSILON = 1e-5  # no setting there: torch's default


def read_config(settings: Settings) -> ModelConfig:
    """What a MarianConfig says, as our configuration; old files have settings that it no longer has.

    Layers that training drops there (layerdrop) are kept here.
    """
    vocabulary = read_int(settings, "vocab_size", 58101)
    require_equal(
        settings,
        {
            "normalize_before": False,
            "normalize_embedding": False,
            "add_final_layer_norm": False,
            "static_position_embeddings": True,
            "share_encoder_decoder_embeddings": True,
            "tie_word_embeddings": True,  # otherwise nothing is tied there, not even encoder and decoder
            "decoder_vocab_size": vocabulary,
        },
    )
    padding = read_token_id(settings, "pad_token_id", vocabulary, 58100)
    return ModelConfig(
        vocabulary_size=vocabulary,
        shape="encoder-decoder",
        layers=read_int(settings, "encoder_layers", 12),
        decoder_layers=read_int(settings, "decoder_layers", 12),
        width=read_int(settings, "d_model", 1024),
        heads=_both(settings, "attention_heads", 16),
        feed_forward=_both(settings, "ffn_dim", 4096),
        max_length=read_int(settings, "max_position_embeddings", 1024),
        positions="sinusoidal-halves",
        activation=read_activation(settings, "activation_function", "gelu"),
        norm_epsilon=NORM_EPSILON,
        scale_embeddings=read_bool(settings, "scale_embedding", False),
        head=find_head(settings, ARCHITECTURES),
        output_bias=True,
        dropout=read_float(settings, "dropout", 0.1),
        attention_dropout=read_float(settings, "attention_dropout", 0.0),
        feed_forward_dropout=read_float(settings, "activation_dropout", 0.0),
        padding_id=0 if padding is None else padding,
        start_id=read_token_id(settings, "decoder_start_token_id", vocabulary, 58100),
        end_id=read_token_id(settings, "eos_token_id", vocabulary, 0),
    )


def _both(settings: Settings, name: str, default: int) -> int:
    """A number that encoder and decoder must have in common."""
    encoder, decoder = (read_int(settings, f"{stack}_{name}", default) for stack in ("encoder", "decoder"))
    if encoder != decoder:
        raise CheckpointError("weights.stacks_differ", name=name, encoder=encoder, decoder=decoder)
    return encoder


def write_config(config: ModelConfig) -> dict[str, Any] | Message:
    """The MarianConfig of this network, or why there is none."""
    wanted: dict[str, tuple[object, ...]] = {
        "shape": ("encoder-decoder",),
        "positions": ("sinusoidal-halves",),
        "similarity": ("scaled-dot",),
        "norm": ("layer",),
        "norm_position": ("post",),
        "norm_epsilon": (NORM_EPSILON,),
        "basic_attention": (False,),
        "best_keys": (None,),
        "embedding_width": (None,),
        "embedding_norm": (False,),
        "segments": (0,),
        "residual_scale": (False,),
        "share_layers": (False,),
        "tie_embeddings": (True,),
    }
    if reason := find_difference(config, wanted):
        return reason
    return {
        "architectures": ["MarianMTModel"],
        "is_encoder_decoder": True,
        "vocab_size": config.vocabulary_size,
        "decoder_vocab_size": config.vocabulary_size,
        "share_encoder_decoder_embeddings": True,
        "encoder_layers": config.depth["encoder"],
        "decoder_layers": config.depth["decoder"],
        "d_model": config.width,
        "encoder_attention_heads": config.heads,
        "decoder_attention_heads": config.heads,
        "encoder_ffn_dim": config.feed_forward,
        "decoder_ffn_dim": config.feed_forward,
        "max_position_embeddings": config.max_length,
        "activation_function": FOREIGN_ACTIVATIONS[config.activation],
        "scale_embedding": config.scale_embeddings,
        "tie_word_embeddings": True,
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_dropout": config.feed_forward_dropout,
        "pad_token_id": config.padding_id,
        "bos_token_id": None,
        "eos_token_id": config.end_id,
        "forced_eos_token_id": config.end_id,
        "decoder_start_token_id": config.padding_id if config.start_id is None else config.start_id,
    }


def table(config: ModelConfig) -> Table:
    """Marian's names. One embedding may stand under four of them; a bias that is missing is zero."""
    embeddings = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight")
    sines = sinusoidal_table(config.max_length, config.width, halves=True)
    rules = (
        Rule(("model.shared.weight",), "embeddings.tokens.weight", also=embeddings),
        *_stack("encoder"),
        *_stack("decoder"),
        Rule(("final_logits_bias",), "head.bias", ROW, optional=True),
        Rule(("model.encoder.embed_positions.weight",), None, fixed=sines),
        Rule(("model.decoder.embed_positions.weight",), None, fixed=sines),
    )
    return Table(rules, prefix="model.")


def _stack(stack: str) -> tuple[Rule, ...]:
    layer, ours = f"model.{stack}.layers.{{}}", f"{stack}.layers.{{}}"
    own, cross = f"{layer}.self_attn", f"{layer}.encoder_attn"
    return (
        *carry_layer((f"{own}.q_proj", f"{own}.k_proj", f"{own}.v_proj"), f"{ours}.attention.qkv"),
        *carry_layer(f"{own}.out_proj", f"{ours}.attention.output"),
        *carry_layer(f"{own}_layer_norm", f"{ours}.attention_residual.norm"),
        *carry_layer(f"{cross}.q_proj", f"{ours}.cross.q"),
        *carry_layer((f"{cross}.k_proj", f"{cross}.v_proj"), f"{ours}.cross.kv"),
        *carry_layer(f"{cross}.out_proj", f"{ours}.cross.output"),
        *carry_layer(f"{cross}_layer_norm", f"{ours}.cross_residual.norm"),
        *carry_layer(f"{layer}.fc1", f"{ours}.feed_forward.expand"),
        *carry_layer(f"{layer}.fc2", f"{ours}.feed_forward.contract"),
        *carry_layer(f"{layer}.final_layer_norm", f"{ours}.feed_forward_residual.norm"),
    )


MARIAN = FAMILIES.register("marian")(Family("marian", ARCHITECTURES, read_config, write_config, table))
