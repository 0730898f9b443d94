"""ALBERT: a BERT with one block used at every depth, and narrow embeddings that a projection widens."""

from typing import Any

from glassformer.config import Head, ModelConfig
from glassformer.messages import Message, message
from glassformer.weights import bert
from glassformer.weights.family import FAMILIES, Family, Names, Settings, require_equal
from glassformer.weights.mapping import Table, carry_layer

ARCHITECTURES: dict[str, Head] = {
    "AlbertForMaskedLM": "masked",
    "AlbertForPreTraining": "masked",  # and `relation`
    "AlbertModel": "none",
    "AlbertForSequenceClassification": "classes",
    "AlbertForTokenClassification": "tags",
}
NAMES: Names = {
    **bert.NAMES,
    "vocab_size": ("vocabulary_size", 30000),
    "hidden_size": ("width", 4096),
    "embedding_size": ("embedding_width", 128),
    "num_attention_heads": ("heads", 64),
    "intermediate_size": ("feed_forward", 16384),
    "hidden_act": ("activation", "gelu_new"),
    "hidden_dropout_prob": ("dropout", 0.0),
    "attention_probs_dropout_prob": ("attention_dropout", 0.0),
    "bos_token_id": ("start_id", 2),
    "eos_token_id": ("end_id", 3),
}
FIXED: dict[str, Any] = {name: value for name, value in bert.FIXED.items() if name != "embedding_width"}
FIXED |= {"share_layers": True}
GROUPS = {"num_hidden_groups": 1, "inner_group_num": 1}


def read_config(settings: Settings) -> ModelConfig:
    """What an AlbertConfig says, as our configuration."""
    require_equal(settings, GROUPS | {"position_embedding_type": "absolute"})
    return bert.read_encoder(settings, ARCHITECTURES, NAMES, FIXED)


def write_config(config: ModelConfig) -> dict[str, Any] | Message:
    """The AlbertConfig of this network, or why there is none."""
    settings = bert.write_encoder(config, ARCHITECTURES, NAMES, FIXED, "ALBERT")
    if isinstance(settings, Message):
        return settings
    if config.embedding_width is None:
        return message("weights.other_format.embedding_width")
    return settings | GROUPS | {"classifier_dropout_prob": config.dropout}


def table(config: ModelConfig) -> Table:
    """ALBERT's names."""
    layer, ours = "albert.encoder.albert_layer_groups.0.albert_layers.0", "encoder.layers.0"
    attention = f"{layer}.attention"
    block = (
        *carry_layer("albert.encoder.embedding_hidden_mapping_in", "embeddings.projection"),
        *carry_layer(
            (f"{attention}.query", f"{attention}.key", f"{attention}.value"), f"{ours}.attention.qkv"
        ),
        *carry_layer(f"{attention}.dense", f"{ours}.attention.output"),
        *carry_layer(f"{attention}.LayerNorm", f"{ours}.attention_residual.norm"),
        *carry_layer(f"{layer}.ffn", f"{ours}.feed_forward.expand"),
        *carry_layer(f"{layer}.ffn_output", f"{ours}.feed_forward.contract"),
        *carry_layer(f"{layer}.full_layer_layer_norm", f"{ours}.feed_forward_residual.norm"),
        *carry_layer("predictions.dense", "head.narrow"),
        *carry_layer("predictions.LayerNorm", "head.norm"),
    )
    return bert.encoder_table(
        config,
        "albert",
        block,
        words="predictions",
        pooler="albert.pooler",
        order="sop_classifier.classifier",
    )


ALBERT = FAMILIES.register("albert")(Family(ARCHITECTURES, read_config, write_config, table))
