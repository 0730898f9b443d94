"""BERT: an encoder with norms last, learned positions and segments; queries, keys and values stand apart.

ALBERT shares most of its settings and names.
"""

from collections.abc import Mapping
from typing import Any

from glassformer.config import Head, ModelConfig
from glassformer.messages import Message, message
from glassformer.weights.family import (
    COMMON,
    FAMILIES,
    Family,
    Names,
    Settings,
    count_classes,
    find_head,
    read_names,
    require_equal,
    write_names,
)
from glassformer.weights.mapping import PLAIN, Rule, Table, carry, carry_layer, ignore, ignore_layer

ARCHITECTURES: dict[str, Head] = {
    "BertForMaskedLM": "masked",
    "BertForPreTraining": "masked",  # and `relation`
    "BertModel": "none",
    "BertForSequenceClassification": "classes",
    "BertForTokenClassification": "tags",
}
NAMES: Names = {
    "vocab_size": ("vocabulary_size", 30522),
    "num_hidden_layers": ("layers", 12),
    "hidden_size": ("width", 768),
    "num_attention_heads": ("heads", 12),
    "intermediate_size": ("feed_forward", 3072),
    "max_position_embeddings": ("max_length", 512),
    "type_vocab_size": ("segments", 2),
    "hidden_act": ("activation", "gelu"),
    "layer_norm_eps": ("norm_epsilon", 1e-12),
    "tie_word_embeddings": ("tie_embeddings", True),
    "hidden_dropout_prob": ("dropout", 0.1),
    "attention_probs_dropout_prob": ("attention_dropout", 0.1),
    "pad_token_id": ("padding_id", 0),
    "bos_token_id": ("start_id", None),
    "eos_token_id": ("end_id", None),
}
FIXED: Settings = {
    "shape": "encoder",
    "positions": "learned",
    "similarity": "scaled-dot",
    "norm_position": "post",
    "embedding_norm": True,
    "scale_embeddings": False,
    **COMMON,
}


def read_config(settings: Settings) -> ModelConfig:
    """What a BertConfig says, as our configuration."""
    require_equal(
        settings, {"is_decoder": False, "add_cross_attention": False, "position_embedding_type": "absolute"}
    )
    return read_encoder(settings, ARCHITECTURES, NAMES, FIXED)


def read_encoder(
    settings: Settings, architectures: Mapping[str, Head], names: Names, fixed: Settings
) -> ModelConfig:
    """The configuration of a BERT or ALBERT. A classifier drops at the rate of all other layers."""
    head = find_head(settings, architectures)
    values = read_names(settings, names)
    values["padding_id"] = values["padding_id"] or 0
    return ModelConfig(
        **fixed,
        **values,
        head=head,
        output_bias=head == "masked",
        relation=settings["architectures"][0].endswith("ForPreTraining"),
        classes=count_classes(settings) if head in ("classes", "tags") else 0,
        pooler=head == "classes",
    )


def write_config(config: ModelConfig) -> dict[str, Any] | Message:
    """The BertConfig of this network, or why there is none."""
    return write_encoder(config, ARCHITECTURES, NAMES, FIXED, "BERT")


def write_encoder(
    config: ModelConfig, architectures: Mapping[str, Head], names: Names, fixed: Settings, family: str
) -> dict[str, Any] | Message:
    """The settings that BERT and ALBERT share, or why the network is not of this family."""
    choices: dict[str, tuple[object, ...]] = {"head": ("masked", "none", "classes", "tags")}
    if config.head == "masked":
        choices["output_bias"] = (True,)
    if config.head == "classes":
        choices |= {"pooling": ("first",), "pooler": (True,)}
    settings = write_names(config, architectures, names, fixed, choices)
    if isinstance(settings, dict) and not config.segments:
        return message("weights.other_format.segments", family=family)
    return settings


def table(config: ModelConfig) -> Table:
    """BERT's names."""
    layer, ours = "bert.encoder.layer.{}", "encoder.layers.{}"
    attention = f"{layer}.attention.self"
    block = (
        *carry_layer(
            (f"{attention}.query", f"{attention}.key", f"{attention}.value"), f"{ours}.attention.qkv"
        ),
        *carry_layer(f"{layer}.attention.output.dense", f"{ours}.attention.output"),
        *carry_layer(f"{layer}.attention.output.LayerNorm", f"{ours}.attention_residual.norm"),
        *carry_layer(f"{layer}.intermediate.dense", f"{ours}.feed_forward.expand"),
        *carry_layer(f"{layer}.output.dense", f"{ours}.feed_forward.contract"),
        *carry_layer(f"{layer}.output.LayerNorm", f"{ours}.feed_forward_residual.norm"),
        *carry_layer("cls.predictions.transform.dense", "head.narrow"),
        *carry_layer("cls.predictions.transform.LayerNorm", "head.norm"),
    )
    return encoder_table(
        config,
        "bert",
        block,
        words="cls.predictions",
        pooler="bert.pooler.dense",
        order="cls.seq_relationship",
    )


def encoder_table(
    config: ModelConfig, base: str, block: tuple[Rule, ...], *, words: str, pooler: str, order: str
) -> Table:
    """Embeddings and heads of BERT and ALBERT.

    The pooler is for classifiers, and for telling in which order two sentences stand.
    """
    tied = (f"{words}.decoder.weight",) if config.tie_embeddings else ()
    bias: tuple[Rule, ...] = (carry(f"{words}.bias", "head.bias", PLAIN, f"{words}.decoder.bias"),)
    if not config.tie_embeddings:  # then the two biases are not tied either, and only one of them is used
        bias = (carry(f"{words}.decoder.bias", "head.bias"), *ignore(f"{words}.bias"))
    rules = (
        carry(f"{base}.embeddings.word_embeddings.weight", "embeddings.tokens.weight", PLAIN, *tied),
        carry(f"{base}.embeddings.position_embeddings.weight", "embeddings.positions.weight"),
        carry(f"{base}.embeddings.token_type_embeddings.weight", "embeddings.segments.weight"),
        *carry_layer(f"{base}.embeddings.LayerNorm", "embeddings.norm"),
        *block,
        carry(f"{words}.decoder.weight", "head.weight"),
        *bias,
        *carry_layer(pooler, "head.pooler"),
        *carry_layer("classifier", "head.classes"),
        *carry_layer(order, "head.relation"),
        *ignore(f"{base}.embeddings.position_ids"),
        *(() if config.relation else ignore_layer(order)),
        *(() if config.pooler or config.relation else ignore_layer(pooler)),
    )
    old = {r"\.gamma$": ".weight", r"\.beta$": ".bias"}
    return Table(rules, bare=config.head == "none", prefix=f"{base}.", other_names=old)


BERT = FAMILIES.register("bert")(Family(ARCHITECTURES, read_config, write_config, table))
