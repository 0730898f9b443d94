"""Families: a configuration there and back, refusals by name, and old or bare names of weights."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from glassformer.config import ModelConfig
from glassformer.errors import CheckpointError, GlassformerError
from glassformer.messages import Message
from glassformer.model.transformer import Transformer
from glassformer.weights.checkpoint import adopt
from glassformer.weights.family import FAMILIES
from glassformer.weights.mapping import expand, read, write
from tolerances import assert_near

Make = Callable[..., Any]


class Given:
    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self.tensors = tensors
        self.shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}

    def tensor(self, name: str) -> Tensor:
        return self.tensors[name]


def settings_of(model: Any, **changes: Any) -> dict[str, Any]:
    return model.config.to_dict() | {"architectures": [type(model).__name__]} | changes


def load(model: Any, tensors: dict[str, Tensor]) -> Transformer:
    """Our network with these weights under the names of the model's family."""
    family = FAMILIES[model.config.model_type]
    config = family.read_config(settings_of(model))
    network = Transformer(config).eval()
    state = network.state_dict()
    network.load_state_dict(dict(read(family.table(config), state, Given(tensors))))
    return network


def test_four_families_are_found() -> None:
    assert list(FAMILIES) == ["albert", "bert", "gpt2", "marian"]


def test_their_model_and_ours_give_the_same(architecture: str, make: Make, answer: Make) -> None:
    model = make(architecture)
    network = adopt(model)
    assert_near(answer(network), answer(model), layers=2)
    assert answer(model).std() > 0.01  # there is something to compare


def test_weights_written_back_are_theirs_to_the_bit(architecture: str, make: Make) -> None:
    model = make(architecture)
    network = adopt(model)
    written = write(FAMILIES[model.config.model_type].table(network.config), network.state_dict())
    theirs = model.state_dict()
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


PREFIXES = {"gpt2": "transformer.", "bert": "bert.", "albert": "albert.", "marian": "model."}


@pytest.mark.parametrize(
    "architecture", ["GPT2Model", "BertModel", "AlbertModel", "MarianMTModel", "GPT2LMHeadModel"]
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


def test_a_pretrained_bert_opens_as_a_masked_one_without_its_second_head(make: Make, answer: Make) -> None:
    model = make("BertForPreTraining")
    masked = make("BertForMaskedLM")
    assert masked.config.to_dict().keys() == model.config.to_dict().keys()
    network = load(masked, model.state_dict())  # as the file of bert-base-uncased has it
    assert not network.config.relation
    assert_near(answer(network), answer(model), layers=2)


def test_berts_old_names_and_buffers(make: Make, answer: Make) -> None:
    model = make("BertForPreTraining")
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor
        for name, tensor in model.state_dict().items()
    }
    assert any(name.endswith("gamma") for name in old)
    old["bert.embeddings.position_ids"] = torch.arange(16)[None]
    assert torch.equal(answer(load(model, old)), answer(adopt(model)))


def test_gpt2s_old_buffers(make: Make, answer: Make) -> None:
    model = make("GPT2LMHeadModel")
    old = model.state_dict()
    for layer in range(2):
        old[f"transformer.h.{layer}.attn.bias"] = torch.ones(1, 1, 16, 16)
        old[f"transformer.h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
    assert torch.equal(answer(load(model, old)), answer(adopt(model)))


@pytest.mark.parametrize(
    "name",
    [
        "model.shared.weight",
        "model.encoder.embed_tokens.weight",
        "model.decoder.embed_tokens.weight",
        "lm_head.weight",
    ],
)
def test_marians_one_embedding_under_any_name(name: str, make: Make, answer: Make) -> None:
    model = make("MarianMTModel")
    tensors = model.state_dict()
    words = tensors["model.shared.weight"]
    for other in ("shared", "encoder.embed_tokens", "decoder.embed_tokens"):
        del tensors[f"model.{other}.weight"]
    del tensors["lm_head.weight"]
    assert torch.equal(answer(load(model, tensors | {name: words})), answer(adopt(model)))


def test_marians_dropout_of_activations_is_kept(make: Make) -> None:
    settings = settings_of(make("MarianMTModel")) | {"activation_dropout": 0.2}
    config = FAMILIES["marian"].read_config(settings)
    assert config.feed_forward_dropout == 0.2
    written = FAMILIES["marian"].write_config(config)
    assert isinstance(written, dict)
    assert written["activation_dropout"] == 0.2


def test_marian_without_a_bias_of_words(make: Make, answer: Make) -> None:
    model = make("MarianMTModel")
    tensors = model.state_dict()
    del tensors["final_logits_bias"]
    model.final_logits_bias.zero_()
    assert_near(answer(load(model, tensors)), answer(model), layers=2)


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
        {"architectures": ["BertForTokenClassification"]},
        "no network for 'BertForTokenClassification'",
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
]


@pytest.mark.parametrize(("architecture", "changes", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_our_network_cannot_be_is_refused_by_name(
    architecture: str, changes: dict[str, Any], message: str, make: Make
) -> None:
    model = make(architecture)
    with pytest.raises(GlassformerError, match=message):
        FAMILIES[model.config.model_type].read_config(settings_of(model, **changes))


def test_missing_settings_have_the_familys_defaults() -> None:
    config = FAMILIES["gpt2"].read_config({"architectures": ["GPT2Model"]})
    assert (config.layers, config.width, config.feed_forward, config.end_id) == (12, 768, 3072, 50256)


def test_a_token_outside_the_vocabulary_cannot_occur(make: Make) -> None:
    settings = settings_of(make("GPT2LMHeadModel"), eos_token_id=50256, pad_token_id=-1, bos_token_id=[5, 6])
    config = FAMILIES["gpt2"].read_config(settings)
    assert (config.end_id, config.padding_id, config.start_id) == (None, 0, 5)


def test_unscaled_gpt2(make: Make, answer: Make) -> None:
    model = make("GPT2LMHeadModel", scale_attn_weights=False)
    network = adopt(model)
    assert network.config.similarity == "dot"
    assert_near(answer(network), answer(model), layers=2)


@pytest.mark.parametrize(
    "activation", ["relu", "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "silu", "swish"]
)
def test_every_activation_we_claim_to_know(activation: str, make: Make, answer: Make) -> None:
    model = make("BertForMaskedLM", hidden_act=activation)
    assert_near(answer(adopt(model)), answer(model), layers=2)


@pytest.mark.parametrize("family", ["albert", "bert", "gpt2", "marian"])
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


def test_a_classifier_of_another_kind_stays_ours() -> None:
    config = ModelConfig(
        vocabulary_size=9, shape="encoder", width=8, heads=2, positions="learned", head="classes", classes=2
    )
    config = dataclasses.replace(
        config, embedding_norm=True, scale_embeddings=False, segments=1, pooling="mean", pooler=True
    )
    reason = FAMILIES["bert"].write_config(config)
    assert str(reason) == "pooling = 'mean' is not one of 'first'"
    assert "pooler" in str(
        FAMILIES["bert"].write_config(dataclasses.replace(config, pooling="first", pooler=False))
    )
    assert isinstance(FAMILIES["bert"].write_config(dataclasses.replace(config, pooling="first")), dict)


def test_a_contradiction_between_tied_weights_is_refused(make: Make) -> None:
    model = make("GPT2LMHeadModel")
    tensors = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    tensors["lm_head.weight"] += 1
    with pytest.raises(CheckpointError, match=r"ties lm_head\.weight to transformer\.wte\.weight"):
        load(model, tensors)


def test_marians_positions_must_be_the_sines(make: Make) -> None:
    model = make("MarianMTModel")
    tensors = model.state_dict()
    assert "model.encoder.embed_positions.weight" in tensors
    tensors["model.decoder.embed_positions.weight"] = torch.randn(16, 12)
    with pytest.raises(CheckpointError, match=r"decoder\.embed_positions\.weight differs from the fixed"):
        load(model, tensors)
