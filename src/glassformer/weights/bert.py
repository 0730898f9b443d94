"""BERT: an encoder with norms last, learned positions and segments; queries, keys and values stand apart."""

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
    "BertForMaskedLM": "masked",
    "BertForPreTraining": "masked",  # and `relation`
    "BertModel": "none",
    "BertForSequenceClassification": "classes",
}

PAIRED = "BertForPreTraining"


def read_config(settings: Settings) -> ModelConfig:
    """What a BertConfig says, as our configuration. A classifier drops at the rate of all other layers."""
    require_equal(
        settings, {"is_decoder": False, "add_cross_attention": False, "position_embedding_type": "absolute"}
    )
    head = find_head(settings, ARCHITECTURES)
    vocabulary = read_int(settings, "vocab_size", 30522)
    return ModelConfig(
        vocabulary_size=vocabulary,
        shape="encoder",
        layers=read_int(settings, "num_hidden_layers", 12),
        width=read_int(settings, "hidden_size", 768),
        heads=read_int(settings, "num_attention_heads", 12),
        feed_forward=read_int(settings, "intermediate_size", 3072),
        max_length=read_int(settings, "max_position_embeddings", 512),
        segments=read_int(settings, "type_vocab_size", 2),
        positions="learned",
        activation=read_activation(settings, "hidden_act", "gelu"),
        norm_epsilon=read_float(settings, "layer_norm_eps", 1e-12),
        embedding_norm=True,
        scale_embeddings=False,
        head=head,
        tie_embeddings=read_bool(settings, "tie_word_embeddings", True),
        output_bias=head == "masked",
        relation=settings["architectures"] == [PAIRED],
        classes=count_classes(settings) if head == "classes" else 0,
        pooler=head == "classes",
        dropout=read_float(settings, "hidden_dropout_prob", 0.1),
        attention_dropout=read_float(settings, "attention_probs_dropout_prob", 0.1),
        padding_id=read_token_id(settings, "pad_token_id", vocabulary, 0) or 0,
        start_id=read_token_id(settings, "bos_token_id", vocabulary),
        end_id=read_token_id(settings, "eos_token_id", vocabulary),
    )


def write_config(config: ModelConfig) -> dict[str, Any] | Message:
    """The BertConfig of this network, or why there is none."""
    wanted: dict[str, tuple[object, ...]] = {
        "shape": ("encoder",),
        "positions": ("learned",),
        "similarity": ("scaled-dot",),
        "norm": ("layer",),
        "norm_position": ("post",),
        "basic_attention": (False,),
        "best_keys": (None,),
        "embedding_width": (None,),
        "embedding_norm": (True,),
        "scale_embeddings": (False,),
        "residual_scale": (False,),
        "share_layers": (False,),
        "head": ("masked", "none", "classes"),
    }
    if config.head == "masked":
        wanted["output_bias"] = (True,)
    if config.head == "classes":
        wanted |= {"pooling": ("first",), "pooler": (True,)}
    if reason := find_difference(config, wanted):
        return reason
    if not config.segments:
        return message("weights.other_format.segments", family="BERT")
    return {
        "architectures": [PAIRED if config.relation else find_architecture(config, ARCHITECTURES)],
        "vocab_size": config.vocabulary_size,
        "num_hidden_layers": config.layers,
        "hidden_size": config.width,
        "num_attention_heads": config.heads,
        "intermediate_size": config.feed_forward,
        "max_position_embeddings": config.max_length,
        "type_vocab_size": config.segments,
        "hidden_act": FOREIGN_ACTIVATIONS[config.activation],
        "layer_norm_eps": config.norm_epsilon,
        "tie_word_embeddings": config.tie_embeddings,
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": config.attention_dropout,
        "pad_token_id": config.padding_id,
        "bos_token_id": config.start_id,
        "eos_token_id": config.end_id,
    }


def table(config: ModelConfig) -> Table:
    """BERT's names. The pooler is for classifiers, and for telling whether a sentence is the next."""
    layer, ours = "bert.encoder.layer.{}", "encoder.layers.{}"
    attention = f"{layer}.attention.self"
    words = "cls.predictions"
    pooled = config.pooler or config.relation
    tied = (f"{words}.decoder.weight",) if config.tie_embeddings else ()
    bias: tuple[Rule, ...] = (Rule((f"{words}.bias",), "head.bias", also=(f"{words}.decoder.bias",)),)
    if not config.tie_embeddings:  # then the two biases are not tied either, and only one of them is used
        bias = (carry(f"{words}.decoder.bias", "head.bias"), *ignore(f"{words}.bias"))
    rules = (
        Rule(("bert.embeddings.word_embeddings.weight",), "embeddings.tokens.weight", also=tied),
        carry("bert.embeddings.position_embeddings.weight", "embeddings.positions.weight"),
        carry("bert.embeddings.token_type_embeddings.weight", "embeddings.segments.weight"),
        *carry_layer("bert.embeddings.LayerNorm", "embeddings.norm"),
        *carry_layer(
            (f"{attention}.query", f"{attention}.key", f"{attention}.value"), f"{ours}.attention.qkv"
        ),
        *carry_layer(f"{layer}.attention.output.dense", f"{ours}.attention.output"),
        *carry_layer(f"{layer}.attention.output.LayerNorm", f"{ours}.attention_residual.norm"),
        *carry_layer(f"{layer}.intermediate.dense", f"{ours}.feed_forward.expand"),
        *carry_layer(f"{layer}.output.dense", f"{ours}.feed_forward.contract"),
        *carry_layer(f"{layer}.output.LayerNorm", f"{ours}.feed_forward_residual.norm"),
        *carry_layer(f"{words}.transform.dense", "head.narrow"),
        *carry_layer(f"{words}.transform.LayerNorm", "head.norm"),
        carry(f"{words}.decoder.weight", "head.weight"),
        *bias,
        *carry_layer("bert.pooler.dense", "head.pooler"),
        *carry_layer("classifier", "head.classes"),
        *carry_layer("cls.seq_relationship", "head.relation"),
        *ignore("bert.embeddings.position_ids"),
        *(() if config.relation else ignore("cls.seq_relationship.weight", "cls.seq_relationship.bias")),
        *(() if pooled else ignore("bert.pooler.dense.weight", "bert.pooler.dense.bias")),
    )
    return Table(
        rules, bare=config.head == "none", prefix="bert.", old_endings={".gamma": ".weight", ".beta": ".bias"}
    )


BERT = FAMILIES.register("bert")(Family("bert", ARCHITECTURES, read_config, write_config, table))
