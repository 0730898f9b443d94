"""Families: a configuration there and back, refusals by name, and old or bare names of weights."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from families import load, settings_of
from glassformer.errors import GlassformerError
from glassformer.messages import Message
from glassformer.weights.checkpoint import adopt
from glassformer.weights.family import FAMILIES
from glassformer.weights.mapping import expand, write
from tolerances import assert_near

Make = Callable[..., Any]


def test_all_families_are_found() -> None:
    assert list(FAMILIES) == ["albert", "bert", "gpt2", "marian", "vit", "whisper"]


def test_their_model_and_ours_give_the_same(architecture: str, make: Make, answer: Make) -> None:
    model = make(architecture)
    network = adopt(model)
    assert_near(answer(network), answer(model), layers=2)
    assert answer(model).std() > 0.01  # there is something to compare


def test_weights_written_back_are_theirs_to_the_bit(architecture: str, make: Make, saved: Make) -> None:
    model = make(architecture)
    network = adopt(model)
    written = write(FAMILIES[model.config.model_type].table(network.config), network.state_dict())
    theirs = load_file(saved(architecture) / "model.safetensors")
    assert all(torch.equal(written[name], theirs[name]) for name in written)
    left = set(theirs) - set(written)
    tied = (
        "lm_head.weight",
        "embed_tokens.weight",
        "decoder.weight",
        "decoder.bias",
        "embed_positions.weight",
    )
    unused = ("pooler", "seq_relationship", "sop_classifier")
    if network.config.relation:
        unused = ()
    assert all(name.endswith(tied) or any(word in name for word in unused) for name in left), left


def test_a_configuration_comes_back(architecture: str, make: Make) -> None:
    model = make(architecture)
    family = FAMILIES[model.config.model_type]
    config = family.read_config(settings_of(model))
    written = family.write_config(config)
    assert isinstance(written, dict)
    labels = {"num_labels": model.config.num_labels}
    assert family.read_config(written | labels) == config
    for name, value in written.items():  # and what is written is what they had
        if name not in (
            "architectures",
            "n_inner",
            "activation_function",
            "forced_eos_token_id",
            "classifier_dropout_prob",
        ):
            assert getattr(model.config, name) == value, name


def test_every_rule_of_a_layer_names_a_tensor_of_ours(architecture: str, make: Make) -> None:
    network = adopt(make(architecture))
    model_type = make(architecture).config.model_type
    names = [
        rule.ours for rule in expand(FAMILIES[model_type].table(network.config).rules, network.state_dict())
    ]
    carried = [name for name in names if name is not None]
    assert sorted(carried) == sorted(network.state_dict())


@pytest.mark.parametrize("architecture", ["GPT2LMHeadModel", "BertForMaskedLM", "AlbertForMaskedLM"])
def test_untied_embeddings(architecture: str, make: Make, answer: Make) -> None:
    model = make(architecture, tie_word_embeddings=False)
    network = adopt(model)
    assert network.head is not None
    assert network.get_parameter("head.weight").shape[0] == 61
    assert_near(answer(network), answer(model), layers=2)
    written = write(FAMILIES[model.config.model_type].table(network.config), network.state_dict())
    assert not set(written) - set(model.state_dict())


PREFIXES = {
    "gpt2": "transformer.",
    "bert": "bert.",
    "albert": "albert.",
    "marian": "model.",
    "vit": "vit.",
    "whisper": "model.",
}


@pytest.mark.parametrize(
    "architecture", ["GPT2Model", "BertModel", "AlbertModel", "MarianMTModel", "GPT2LMHeadModel", "ViTModel"]
)
def test_names_with_and_without_the_prefix(architecture: str, make: Make, answer: Make) -> None:
    model = make(architecture)
    prefix = PREFIXES[model.config.model_type]
    bare = {name.removeprefix(prefix): tensor for name, tensor in model.state_dict().items()}
    full = {
        name if name in ("lm_head.weight", "final_logits_bias") else prefix + name: bare[name]
        for name in bare
    }
    expected = answer(adopt(model))
    assert torch.equal(answer(load(model, bare)), expected)
    assert torch.equal(answer(load(model, full)), expected)


@pytest.mark.parametrize("architecture", ["BertForPreTraining", "AlbertForPreTraining"])
def test_whether_texts_follow_is_told_alike(architecture: str, make: Make) -> None:
    model = make(architecture)
    network = adopt(model)
    ids = torch.randint(3, 60, (2, 9), generator=torch.Generator().manual_seed(5))
    segments = (torch.arange(9) > 4).long().expand(2, 9)
    with torch.no_grad():
        theirs = model(ids, token_type_ids=segments)
        ours = network.relate(network.encode(ids, None, segments))
    told = theirs.seq_relationship_logits if "Bert" in architecture[:4] else theirs.sop_logits
    assert_near(ours, told, layers=2)
    assert told.std() > 0.01


REFUSED = [
    (
        "GPT2LMHeadModel",
        {"activation_function": "quick_gelu"},
        "activation_function is 'quick_gelu'.*Did you mean",
    ),
    ("GPT2LMHeadModel", {"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx is True"),
    ("GPT2LMHeadModel", {"add_cross_attention": True}, "add_cross_attention is True"),
    ("GPT2LMHeadModel", {"architectures": ["GPT2LMHead"]}, "'GPT2LMHead'.*Did you mean 'GPT2LMHeadModel'"),
    ("GPT2LMHeadModel", {"architectures": None}, "architectures. is None.*GPT2LMHeadModel"),
    ("GPT2LMHeadModel", {"architectures": []}, "architectures"),
    ("GPT2LMHeadModel", {"n_embd": "12"}, "n_embd is '12'; expected an integer"),
    ("GPT2LMHeadModel", {"n_embd": None}, "n_embd is None"),
    ("GPT2LMHeadModel", {"n_embd": 10}, "width = 10 cannot be divided among heads = 3"),
    ("GPT2LMHeadModel", {"layer_norm_epsilon": "tiny"}, "layer_norm_epsilon is 'tiny'; expected a number"),
    (
        "GPT2LMHeadModel",
        {"tie_word_embeddings": "yes"},
        "tie_word_embeddings is 'yes'; expected true",
    ),
    ("GPT2LMHeadModel", {"eos_token_id": "end"}, "eos_token_id is 'end'; expected the id of a token"),
    ("BertForMaskedLM", {"is_decoder": True}, "is_decoder is True; only False is supported here"),
    (
        "BertForMaskedLM",
        {"position_embedding_type": "relative_key"},
        "position_embedding_type is 'relative_key'",
    ),
    (
        "BertForMaskedLM",
        {"architectures": ["BertForMultipleChoice"]},
        "no network for 'BertForMultipleChoice'",
    ),
    ("AlbertModel", {"num_hidden_groups": 2}, "num_hidden_groups is 2"),
    ("AlbertModel", {"inner_group_num": 2}, "inner_group_num is 2"),
    (
        "MarianMTModel",
        {"decoder_attention_heads": 2},
        "encoder_attention_heads is 3 and decoder_attention_heads is 2",
    ),
    ("MarianMTModel", {"decoder_ffn_dim": 2}, "encoder_ffn_dim is 20 and decoder_ffn_dim is 2"),
    (
        "MarianMTModel",
        {"share_encoder_decoder_embeddings": False},
        "share_encoder_decoder_embeddings is False",
    ),
    ("MarianMTModel", {"tie_word_embeddings": False}, "tie_word_embeddings is False"),
    ("MarianMTModel", {"decoder_vocab_size": 7}, "decoder_vocab_size is 7"),
    ("MarianMTModel", {"normalize_before": True}, "normalize_before is True"),
    ("WhisperForConditionalGeneration", {"decoder_attention_heads": 2}, "decoder_attention_heads is 2"),
    ("WhisperForConditionalGeneration", {"tie_word_embeddings": False}, "tie_word_embeddings is False"),
    ("WhisperForConditionalGeneration", {"architectures": ["WhisperModel"]}, "no network for 'WhisperModel'"),
    ("ViTModel", {"num_channels": 4}, "num_channels is 4; only 3 is supported"),
    ("ViTModel", {"image_size": [8, 16]}, r"image_size is \[8, 16\]; only a square is supported"),
    ("ViTModel", {"patch_size": 3}, "cannot be cut into patches of 3"),
    ("ViTModel", {"architectures": ["ViTForMaskedImageModeling"]}, "no network for 'ViTForMaskedImageMod"),
]


@pytest.mark.parametrize(("architecture", "changes", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_our_network_cannot_be_is_refused_by_name(
    architecture: str, changes: dict[str, Any], message: str, make: Make
) -> None:
    model = make(architecture)
    with pytest.raises(GlassformerError, match=message):
        FAMILIES[model.config.model_type].read_config(settings_of(model, **changes))


@pytest.mark.parametrize("family", ["albert", "bert", "gpt2", "marian", "vit", "whisper"])
@pytest.mark.parametrize(
    "change",
    [
        {"positions": "rotary"},
        {"positions": "none"},
        {"similarity": "cosine"},
        {"best_keys": 2},
        {"basic_attention": True},
        {"norm": "batch"},
        {"residual_scale": True},
    ],
    ids=str,
)
def test_a_family_says_why_a_network_is_none_of_it(family: str, change: dict[str, Any], make: Make) -> None:
    architecture = next(iter(FAMILIES[family].architectures))
    config = dataclasses.replace(adopt(make(architecture)).config, **change)
    reason = FAMILIES[family].write_config(config)
    assert isinstance(reason, Message)
    assert next(iter(change)) in str(reason)


def test_no_configuration_belongs_to_two_families(architecture: str, make: Make) -> None:
    config = adopt(make(architecture)).config
    at_home = [name for name in FAMILIES if isinstance(FAMILIES[name].write_config(config), dict)]
    assert at_home == [make(architecture).config.model_type]


@pytest.mark.parametrize(
    "change", [{"key_heads": 1}, {"window": 3}, {"query_key_norm": True}, {"score_scale": 0.3}], ids=str
)
def test_attention_that_a_family_does_not_have_is_not_written(
    architecture: str, make: Make, change: dict[str, Any]
) -> None:
    model = make(architecture)
    family = FAMILIES[model.config.model_type]
    config = family.read_config(settings_of(model))
    if config.reads == "picture" and "window" in change:
        with pytest.raises(GlassformerError, match="no window"):
            dataclasses.replace(config, **change)
        return
    config = dataclasses.replace(config, **change)
    reason = family.write_config(config)
    assert isinstance(reason, Message)
    assert next(iter(change)) in str(reason)
