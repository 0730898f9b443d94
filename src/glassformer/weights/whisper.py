"""Whisper: sounds padded with silence, norms first, learned positions, keys without a bias.

The sines that its encoder adds differ from ours, and are stored in its files like weights: they are read as
learned positions.
"""

from typing import Any

from glassformer.config import Head, ModelConfig
from glassformer.messages import Message, message
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
from glassformer.weights.mapping import PLAIN, Table, carry, carry_layer
from glassformer.weights.marian import stack_rules

ARCHITECTURES: dict[str, Head] = {"WhisperForConditionalGeneration": "language"}
NAMES: Names = {
    "vocab_size": ("vocabulary_size", 51865),
    "num_mel_bins": ("mel_bins", 80),
    "encoder_layers": ("layers", 4),
    "decoder_layers": ("decoder_layers", 4),
    "d_model": ("width", 384),
    "encoder_attention_heads": ("heads", 6),
    "decoder_attention_heads": ("heads", 6),
    "encoder_ffn_dim": ("feed_forward", 1536),
    "decoder_ffn_dim": ("feed_forward", 1536),
    "max_source_positions": ("sound_length", 1500),
    "max_target_positions": ("max_length", 448),
    "activation_function": ("activation", "gelu"),
    "dropout": ("dropout", 0.0),
    "attention_dropout": ("attention_dropout", 0.0),
    "activation_dropout": ("feed_forward_dropout", 0.0),
    "pad_token_id": ("padding_id", 50256),
    "decoder_start_token_id": ("start_id", 50257),
    "eos_token_id": ("end_id", 50256),
}
FIXED: Settings = {
    "shape": "encoder-decoder",
    "positions": "learned",
    "similarity": "scaled-dot",
    "norm_position": "pre",
    "norm_epsilon": 1e-5,  # no setting there: torch's default
    "embedding_norm": False,
    "scale_embeddings": False,  # transformers has the setting, and never reads it
    "segments": 0,
    "tie_embeddings": True,
    "output_bias": False,
    "spectrogram": "relative",
    "frame_stride": 2,
    "sample_rate": 16_000,  # the bands end at 8 kHz, whatever the rate
    "hop": 160,
    **COMMON,
    "reads": "sound",
}


def read_config(settings: Settings) -> ModelConfig:
    """What a WhisperConfig says, as our configuration. Masks and layers that training drops are left out."""
    require_equal(settings, {"tie_word_embeddings": True})
    values = read_names(settings, NAMES)
    values["padding_id"] = values["padding_id"] or 0
    return ModelConfig(**FIXED, **values, head=find_head(settings, ARCHITECTURES))


def write_config(config: ModelConfig) -> dict[str, Any] | Message:
    """The WhisperConfig of this network, or why there is none."""
    settings = write_names(config, ARCHITECTURES, NAMES, FIXED, {})
    if isinstance(settings, Message):
        return settings
    if config.longest_sound * config.token_samples % config.sample_rate:
        return message(
            "weights.other_format.value",
            name="sound_length",
            value=str(config.longest_sound),
            expected=[str(config.sample_rate // config.token_samples) + "·n"],
        )
    return settings | {
        "is_encoder_decoder": True,
        "max_source_positions": config.longest_sound,
        "decoder_layers": config.depth["decoder"],
        "bos_token_id": config.end_id,
        "decoder_start_token_id": config.padding_id if config.start_id is None else config.start_id,
        "begin_suppress_tokens": None,  # theirs would be ids of their vocabulary
    }


def read_processor(config: ModelConfig, settings: Settings) -> ModelConfig:
    """The same configuration; refuses a WhisperFeatureExtractor that prepares sounds in another way."""
    require_equal(settings, {**_describe_processor(config), "dither": 0.0, "do_normalize": False})
    return config


def write_processor(config: ModelConfig) -> dict[str, Any]:
    """The settings of the WhisperFeatureExtractor that prepares sounds as we do."""
    numbers = _describe_processor(config)
    return {
        "feature_extractor_type": "WhisperFeatureExtractor",
        **numbers,
        "nb_max_frames": numbers["n_samples"] // config.hop,
        "padding_side": "right",
        "padding_value": 0.0,
        "return_attention_mask": False,
    }


def _describe_processor(config: ModelConfig) -> dict[str, int]:
    """The numbers on which the output of a WhisperFeatureExtractor depends."""
    length = config.longest_sound * config.token_samples
    return {
        "feature_size": config.mel_bins,
        "sampling_rate": config.sample_rate,
        "hop_length": config.hop,
        "n_fft": 5 * config.hop // 2,
        "chunk_length": length // config.sample_rate,
        "n_samples": length,
    }


def table(config: ModelConfig) -> Table:
    """Whisper's names."""
    del config
    encoder, decoder = (f"model.{stack}" for stack in ("encoder", "decoder"))
    rules = (
        *carry_layer(f"{encoder}.conv1", "perception.first"),
        *carry_layer(f"{encoder}.conv2", "perception.second"),
        carry(f"{encoder}.embed_positions.weight", "perception.positions.weight"),
        carry(f"{decoder}.embed_tokens.weight", "embeddings.tokens.weight", PLAIN, "proj_out.weight"),
        carry(f"{decoder}.embed_positions.weight", "embeddings.positions.weight"),
        *stack_rules("encoder", key_bias=False),
        *stack_rules("decoder", key_bias=False),
        *carry_layer(f"{encoder}.layer_norm", "encoder.norm"),
        *carry_layer(f"{decoder}.layer_norm", "decoder.norm"),
    )
    return Table(rules, prefix="model.")


WHISPER = FAMILIES.register("whisper")(
    Family(ARCHITECTURES, read_config, write_config, table, read_processor, write_processor)
)
