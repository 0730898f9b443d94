"""Folders: theirs open here, ours open there, and whatever is wrong is one sentence."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.errors import CheckpointError
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.weights.checkpoint import adopt, open_checkpoint, save_checkpoint
from tolerances import assert_near

Make = Callable[..., Any]
MODELS = {
    "GPT2LMHeadModel": transformers.AutoModelForCausalLM,
    "GPT2Model": transformers.AutoModel,
    "GPT2ForSequenceClassification": transformers.AutoModelForSequenceClassification,
    "BertForMaskedLM": transformers.AutoModelForMaskedLM,
    "BertForPreTraining": transformers.AutoModelForPreTraining,
    "BertModel": transformers.AutoModel,
    "BertForSequenceClassification": transformers.AutoModelForSequenceClassification,
    "BertForTokenClassification": transformers.AutoModelForTokenClassification,
    "AlbertForMaskedLM": transformers.AutoModelForMaskedLM,
    "AlbertForPreTraining": transformers.AutoModelForPreTraining,
    "AlbertModel": transformers.AutoModel,
    "AlbertForSequenceClassification": transformers.AutoModelForSequenceClassification,
    "AlbertForTokenClassification": transformers.AutoModelForTokenClassification,
    "MarianMTModel": transformers.AutoModelForSeq2SeqLM,
    "ViTForImageClassification": transformers.AutoModelForImageClassification,
    "ViTModel": transformers.AutoModel,
    "WhisperForConditionalGeneration": transformers.AutoModelForSpeechSeq2Seq,
}
ODD = ModelConfig(
    vocabulary_size=61,
    shape="decoder",
    layers=2,
    width=12,
    heads=3,
    feed_forward=20,
    positions="rotary",
    norm="batch",
)


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    settings = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({name: value for name, value in settings.items() if value is not ...}))


def test_their_folder_opens_here(architecture: str, saved: Make, make: Make, answer: Make) -> None:
    checkpoint = open_checkpoint(saved(architecture))
    assert checkpoint.model_type == make(architecture).config.model_type
    assert checkpoint.network.config == checkpoint.config
    assert not checkpoint.network.training
    assert checkpoint.tokenizer is None
    assert_near(answer(checkpoint.network), answer(make(architecture)), layers=2)


def test_our_folder_opens_there(architecture: str, make: Make, answer: Make, tmp_path: Path) -> None:
    model = make(architecture)
    assert save_checkpoint(adopt(model), tmp_path / "ours") == model.config.model_type
    theirs, report = MODELS[architecture].from_pretrained(tmp_path / "ours", output_loading_info=True)
    assert not report["unexpected_keys"]
    assert not report["mismatched_keys"]
    # A bare encoder of ours has no pooler (theirs always has); nothing else may be made up.
    allowed = "pooler" if architecture in ("BertModel", "AlbertModel", "ViTModel") else "nothing"
    assert {name for name in report["missing_keys"] if allowed not in name} == set()
    assert_near(answer(theirs.eval()), answer(model), layers=2)


def test_our_folder_opens_here_again(architecture: str, make: Make, answer: Make, tmp_path: Path) -> None:
    network = adopt(make(architecture))
    save_checkpoint(network, tmp_path / "ours")
    again = open_checkpoint(tmp_path / "ours")
    assert again.config == network.config
    assert torch.equal(answer(again.network), answer(network))


def test_a_network_that_only_we_have(tmp_path: Path, answer: Make) -> None:
    torch.manual_seed(1)
    network = Transformer(ODD)
    network(torch.randint(0, 61, (2, 5)))  # in training: the batch norms have seen something
    assert save_checkpoint(network, tmp_path / "odd") == "glassformer"
    again = open_checkpoint(tmp_path / "odd")
    assert again.config == ODD
    assert again.model_type == "glassformer"
    assert torch.equal(answer(again.network), answer(network.eval()))
    assert set(again.network.state_dict()) == set(load_file(tmp_path / "odd" / "model.safetensors"))


def test_a_recurrent_network(tmp_path: Path) -> None:
    config = RecurrentConfig(vocabulary_size=31, width=8, embedding_width=6, cell="lstm", start_id=1)
    network = RecurrentTranslator(config).eval()
    assert save_checkpoint(network, tmp_path / "rnn") == "glassformer-recurrent"
    again = open_checkpoint(tmp_path / "rnn")
    assert again.config == config
    state = network.state_dict()
    assert all(torch.equal(state[name], tensor) for name, tensor in again.network.state_dict().items())


def test_a_bias_that_gpt2_has_no_place_for_keeps_the_network_ours(
    make: Make, answer: Make, tmp_path: Path
) -> None:
    network = adopt(make("GPT2ForSequenceClassification"))
    with torch.no_grad():
        network.get_parameter("head.classes.bias").fill_(0.5)
    assert save_checkpoint(network, tmp_path / "ours") == "glassformer"
    assert torch.equal(answer(open_checkpoint(tmp_path / "ours").network), answer(network))


def test_marian_without_an_output_bias_opens_there(make: Make, answer: Make, tmp_path: Path) -> None:
    config = dataclasses.replace(adopt(make("MarianMTModel")).config, output_bias=False)
    network = Transformer(config).eval()
    assert save_checkpoint(network, tmp_path / "ours") == "marian"
    theirs = transformers.MarianMTModel.from_pretrained(tmp_path / "ours").eval()
    assert_near(answer(theirs), answer(network), layers=2)


def test_labels_there_and_back(make: Make, tmp_path: Path) -> None:
    network = adopt(make("BertForSequenceClassification"))
    save_checkpoint(network, tmp_path / "named", labels=["bad", "fair", "good"])
    assert open_checkpoint(tmp_path / "named").labels == ("bad", "fair", "good")
    theirs = transformers.AutoConfig.from_pretrained(tmp_path / "named")
    assert theirs.id2label == {0: "bad", 1: "fair", 2: "good"}
    save_checkpoint(network, tmp_path / "plain")
    assert open_checkpoint(tmp_path / "plain").labels == ("LABEL_0", "LABEL_1", "LABEL_2")
    with pytest.raises(CheckpointError, match="2 labels for 3 classes"):
        save_checkpoint(network, tmp_path / "wrong", labels=["yes", "no"])
    assert not (tmp_path / "wrong").exists()
    own = Transformer(dataclasses.replace(ODD, head="classes", classes=2))
    save_checkpoint(own, tmp_path / "own", labels=["yes", "no"])
    assert open_checkpoint(tmp_path / "own").labels == ("yes", "no")


def test_special_tokens_of_the_generation_config_count(saved: Make) -> None:
    folder = saved("MarianMTModel")
    change_config(folder, decoder_start_token_id=3, eos_token_id=4)
    values = {"decoder_start_token_id": 5, "eos_token_id": [6, 7], "pad_token_id": 8, "num_beams": 6}
    (folder / "generation_config.json").write_text(json.dumps(values))
    checkpoint = open_checkpoint(folder)
    config = checkpoint.config
    assert (config.start_id, config.end_id, config.padding_id) == (5, 6, 8)
    assert checkpoint.generation.beams == 6
    (folder / "generation_config.json").unlink()
    config = open_checkpoint(folder).config
    assert (config.start_id, config.end_id, config.padding_id) == (3, 4, 60)


def test_their_generate_finds_what_it_needs(make: Make, tmp_path: Path) -> None:
    model = make("MarianMTModel")
    settings = GenerationSettings(beams=3, forbidden=(60,), max_new_tokens=5)
    save_checkpoint(adopt(model), tmp_path / "ours", generation=settings)
    theirs = transformers.MarianMTModel.from_pretrained(tmp_path / "ours")
    found = theirs.generation_config
    assert (found.decoder_start_token_id, found.eos_token_id, found.pad_token_id) == (60, 0, 60)
    assert (found.num_beams, found.bad_words_ids, found.max_new_tokens) == (3, [[60]], 5)
    assert open_checkpoint(tmp_path / "ours").generation == settings
    assert theirs.generate(torch.tensor([[5, 6, 0]])).shape[1] <= 6


class Tokenizer:
    """Saves a file, as tokenizers do."""

    def save(self, folder: Path) -> None:
        (folder / "tokenizer.json").write_text("{}")


def test_a_tokenizer_travels_along(make: Make, tmp_path: Path) -> None:
    save_checkpoint(adopt(make("BertModel")), tmp_path / "ours", Tokenizer())
    assert open_checkpoint(tmp_path / "ours").tokenizer == tmp_path / "ours"
    assert (tmp_path / "ours" / "tokenizer.json").read_text() == "{}"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_precisions(dtype: torch.dtype, make: Make, answer: Make, tmp_path: Path) -> None:
    network = adopt(make("BertForMaskedLM"))
    save_checkpoint(network, tmp_path / "half", dtype=dtype)
    stored = load_file(tmp_path / "half" / "model.safetensors")
    assert {tensor.dtype for tensor in stored.values()} == {dtype}
    assert json.loads((tmp_path / "half" / "config.json").read_text())["dtype"] == str(dtype).removeprefix(
        "torch."
    )
    again = open_checkpoint(tmp_path / "half").network
    assert {parameter.dtype for parameter in again.parameters()} == {torch.float32}
    for name, parameter in again.named_parameters():
        assert torch.equal(parameter, network.get_parameter(name).to(dtype).float())
    assert torch.allclose(answer(again), answer(network), atol=0.3)


def test_a_number_too_large_for_half_is_refused(make: Make, tmp_path: Path) -> None:
    network = adopt(make("BertModel"))
    with torch.no_grad():
        network.get_parameter("embeddings.norm.bias")[0] = 1e5
    with pytest.raises(CheckpointError, match=r"LayerNorm\.bias .* too large for torch.float16"):
        save_checkpoint(network, tmp_path / "half", dtype=torch.float16)
    assert list(tmp_path.iterdir()) == []


def test_opening_leaves_the_random_numbers_alone(saved: Make) -> None:
    folder = saved("GPT2Model")
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    open_checkpoint(folder)
    assert torch.equal(torch.rand(1), expected)


def test_the_opened_network_does_not_hold_on_to_the_file(saved: Make, answer: Make) -> None:
    folder = saved("GPT2Model")
    network = open_checkpoint(folder).network
    before = answer(network)
    path = folder / "model.safetensors"
    path.write_bytes(bytes(path.stat().st_size))
    assert torch.equal(answer(network), before)


def test_adopting_leaves_their_model_as_it_is(make: Make, answer: Make) -> None:
    model = make("BertForMaskedLM")
    before = answer(model)
    network = adopt(model)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
    assert torch.equal(answer(model), before)


def drop_tensor(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    del tensors["transformer.h.1.ln_1.weight"]
    save_file(tensors, folder / "model.safetensors")


def only_pickle(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


BROKEN: list[tuple[Callable[[Path], object], str]] = [
    (lambda folder: (folder / "config.json").unlink(), r"config\.json is missing"),
    (lambda folder: (folder / "config.json").write_text("{"), r"config\.json is not valid JSON"),
    (lambda folder: (folder / "config.json").write_text("[" * 100_000), r"config\.json is not valid JSON"),
    (
        lambda folder: (folder / "config.json").write_text("[1]"),
        r"config\.json contains a list; expected",
    ),
    (lambda folder: (folder / "config.json").write_bytes(b"\xff\xfe"), r"config\.json is not valid JSON"),
    (lambda folder: change_config(folder, model_type="gtp2"), r"config\.json: .*'gtp2'.*Did you mean 'gpt2'"),
    (lambda folder: change_config(folder, model_type=...), r"config\.json: `model_type` is None"),
    (
        lambda folder: change_config(folder, n_head=5),
        r"config\.json: width = 12 cannot be divided among heads = 5",
    ),
    (lambda folder: change_config(folder, n_layer=3), r"12 missing: transformer\.h\.2\.ln_1\.weight"),
    (lambda folder: change_config(folder, n_layer=1), r"12 not needed: transformer\.h\.1\.attn"),
    (lambda folder: change_config(folder, n_layer=10**9), r"config\.json: layers = 1000000000 is not"),
    (lambda folder: change_config(folder, n_embd=2**40), r"config\.json: width = .* is not possible"),
    (
        lambda folder: change_config(folder, layer_norm_epsilon=float("nan")),
        r"norm_epsilon = nan is not possible",
    ),
    (
        lambda folder: change_config(folder, vocab_size=2**31 - 1, n_embd=999_999, n_head=1),
        r"a network that is too large for this machine: .*Does it belong to these weights",
    ),
    (lambda folder: change_config(folder, n_positions=17), r"wpe\.weight is \(16, 12\), expected \(17, 12\)"),
    (lambda folder: (folder / "model.safetensors").unlink(), "has no weights"),
    (
        lambda folder: (folder / "model.safetensors").write_bytes(b""),
        r"model\.safetensors \(0 bytes\) is not a complete",
    ),
    (
        lambda folder: (folder / "model.safetensors").write_bytes(b"not tensors at all"),
        r"model\.safetensors .18 bytes",
    ),
    (drop_tensor, r"1 missing: transformer\.h\.1\.ln_1\.weight"),
    (only_pickle, r"pytorch_model\.bin.*can run any code.*save_pretrained"),
    (
        lambda folder: (folder / "generation_config.json").write_text("nope"),
        r"generation_config\.json is not valid",
    ),
    (
        lambda folder: (folder / "generation_config.json").write_text('{"num_beams": 0}'),
        r"generation_config\.json: beams = 0 is not possible",
    ),
]


@pytest.mark.parametrize(
    ("damage", "message"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_whatever_is_wrong_is_one_sentence(
    damage: Callable[[Path], object], message: str, saved: Make
) -> None:
    folder = saved("GPT2LMHeadModel")
    damage(folder)
    with pytest.raises(CheckpointError, match=message):
        open_checkpoint(folder)


@pytest.mark.parametrize("kept", [4, 100, -1])
def test_a_truncated_file(kept: int, saved: Make) -> None:
    folder = saved("GPT2LMHeadModel")
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(
        CheckpointError, match=r"model\.safetensors .* is not a complete safetensors file.*download it again"
    ):
        open_checkpoint(folder)


def test_an_unknown_word_in_our_own_config(tmp_path: Path) -> None:
    save_checkpoint(Transformer(ODD), tmp_path / "odd")
    change_config(tmp_path / "odd", widht=12)
    with pytest.raises(CheckpointError, match=r"config\.json: ModelConfig has no setting 'widht'.*'width'"):
        open_checkpoint(tmp_path / "odd")


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="is not a folder"):
        open_checkpoint(tmp_path / "nowhere")


def test_the_folder_of_a_run_is_told_from_that_of_a_model(tmp_path: Path) -> None:
    (tmp_path / "best").mkdir()
    (tmp_path / "best" / "config.json").write_text("{}")
    with pytest.raises(CheckpointError, match=r"is the folder of a run, not of a model.*best: give that"):
        open_checkpoint(tmp_path)
