"""ALBERT: a BERT with one block used at every depth, and narrow embeddings that a projection widens."""

from typing import Any

from glassformer.config import Head, ModelConfig
from glassformer.messages import Message, message
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
from glassformer.weights.mapping import Rule, Table, carry, carry_layer, ignore

ARCHITECTURES: dict[str, Head] = {
    "AlbertForMaskedLM": "masked",
    "AlbertForPreTraining": "masked",  # and `relation`
    "AlbertModel": "none",
    "AlbertForSequenceClassification": "classes",
}

PAIRED = "AlbertForPreTraining"


def read_config(settings: Settings) -> ModelConfig:
    """What an AlbertConfig says, as our configuration. A classifier drops at the rate of all other layers."""
    require_equal(
        settings, {"num_hidden_groups": 1, "inner_group_num": 1, "position_embedding_type": "absolute"}
    )
    head = find_head(settings, ARCHITECTURES)
    vocabulary = read_int(settings, "vocab_size", 30000)
    return ModelConfig(
        vocabulary_size=vocabulary,
        shape="encoder",
        layers=read_int(settings, "num_hidden_layers", 12),
        width=read_int(settings, "hidden_size", 4096),
        heads=read_int(settings, "num_attention_heads", 64),
        feed_forward=read_int(settings, "intermediate_size", 16384),
        embedding_width=read_int(settings, "embedding_size", 128),
        max_length=read_int(settings, "max_position_embeddings", 512),
        segments=read_int(settings, "type_vocab_size", 2),
        positions="learned",
        activation=read_activation(settings, "hidden_act", "gelu_new"),
        norm_epsilon=read_float(settings, "layer_norm_eps", 1e-12),
        embedding_norm=True,
        scale_embeddings=False,
        share_layers=True,
        head=head,
        tie_embeddings=read_bool(settings, "tie_word_embeddings", True),
        output_bias=head == "masked",
        relation=settings["architectures"] == [PAIRED],
        classes=count_classes(settings) if head == "classes" else 0,
        pooler=head == "classes",
        dropout=read_float(settings, "hidden_dropout_prob", 0.0),
        attention_dropout=read_float(settings, "attention_probs_dropout_prob", 0.0),
        padding_id=read_token_id(settings, "pad_token_id", vocabulary, 0) or 0,
        start_id=read_token_id(settings, "bos_token_id", vocabulary, 2),
        end_id=read_token_id(settings, "eos_token_id", vocabulary, 3),
    )


def write_config(config: ModelConfig) -> dict[str, Any] | Message:
    """The AlbertConfig of this network, or why there is none."""
    wanted: dict[str, tuple[object, ...]] = {
        "shape": ("encoder",),
        "positions": ("learned",),
        "similarity": ("scaled-dot",),
        "norm": ("layer",),
        "norm_position": ("post",),
        "basic_attention": (False,),
        "best_keys": (None,),
        "embedding_norm": (True,),
        "scale_embeddings": (False,),
        "residual_scale": (False,),
        "share_layers": (True,),
        "head": ("masked", "none", "classes"),
    }
    if config.head == "masked":
        wanted["output_bias"] = (True,)
    if config.head == "classes":
        wanted |= {"pooling": ("first",), "pooler": (True,)}
    if reason := find_difference(config, wanted):
        return reason
    if not config.segments:
        return message("weights.other_format.segments", family="ALBERT")
    if config.embedding_width is None:
        return message("weights.other_format.embedding_width")
    return {
        "architectures": [PAIRED if config.relation else find_architecture(config, ARCHITECTURES)],
        "vocab_size": config.vocabulary_size,
        "num_hidden_layers": config.layers,
        "num_hidden_groups": 1,
        "inner_group_num": 1,
        "hidden_size": config.width,
        "embedding_size": config.embedding_width,
        "num_attention_heads": config.heads,
        "intermediate_size": config.feed_forward,
        "max_position_embeddings": config.max_length,
        "type_vocab_size": config.segments,
        "hidden_act": FOREIGN_ACTIVATIONS[config.activation],
        "layer_norm_eps": config.norm_epsilon,
        "tie_word_embeddings": config.tie_embeddings,
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": config.attention_dropout,
        "classifier_dropout_prob": config.dropout,
        "pad_token_id": config.padding_id,
        "bos_token_id": config.start_id,
        "eos_token_id": config.end_id,
    }


def table(config: ModelConfig) -> Table:
    """ALBERT's names. The pooler is for classifiers, and for telling the order of sentences."""
    layer, ours = "albert.encoder.albert_layer_groups.0.albert_layers.0", "encoder.layers.0"
    attention, order = f"{layer}.attention", "sop_classifier.classifier"
    tied = ("predictions.decoder.weight",) if config.tie_embeddings else ()
    bias: tuple[Rule, ...] = (Rule(("predictions.bias",), "head.bias", also=("predictions.decoder.bias",)),)
    if not config.tie_embeddings:  # then the two biases are not tied either, and only one of them is used
        bias = (carry("predictions.decoder.bias", "head.bias"), *ignore("predictions.bias"))
    rules = (
        Rule(("albert.embeddings.word_embeddings.weight",), "embeddings.tokens.weight", also=tied),
        carry("albert.embeddings.position_embeddings.weight", "embeddings.positions.weight"),
        carry("albert.embeddings.token_type_embeddings.weight", "embeddings.segments.weight"),
        *carry_layer("albert.embeddings.LayerNorm", "embeddings.norm"),
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
        carry("predictions.decoder.weight", "head.weight"),
        *bias,
        *carry_layer("albert.pooler", "head.pooler"),
        *carry_layer("classifier", "head.classes"),
        *carry_layer(order, "head.relation"),
        *ignore("albert.embeddings.position_ids"),
        *(() if config.relation else ignore(f"{order}.weight", f"{order}.bias")),
        *(() if config.pooler or config.relation else ignore("albert.pooler.weight", "albert.pooler.bias")),
    )
    return Table(
        rules,
        bare=config.head == "none",
        prefix="albert.",
        old_endings={".gamma": ".weight", ".beta": ".bias"},
    )


ALBERT = FAMILIES.register("albert")(Family("albert", ARCHITECTURES, read_config, write_config, table))
