"""What can be chosen: found in folders, described without being opened, never outside of them."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from glassformer.errors import ApiError
from glassformer.weights.hub import ZOO
from glassformer.workbench.cards import count_parameters, describe_model, find_languages
from glassformer.workbench.models import ModelCatalog

Build = Callable[..., Path]


@pytest.fixture
def mine(build: Build, tmp_path: Path) -> Path:
    """A folder with models at several depths."""
    folder = tmp_path / "mine"
    build(folder / "one", "decoder")
    build(folder / "a" / "b" / "three", "encoder", "masked")
    build(folder / "a" / "b" / "c" / "four", "encoder", "masked")
    build(folder / ".hidden", "decoder")
    (folder / "link").symlink_to(build(tmp_path / "elsewhere", "decoder"))
    (folder / "empty").mkdir()
    (folder / "broken").mkdir()
    (folder / "broken" / "config.json").write_text("{")
    return folder


def test_descriptions_come_from_the_folder(zoo: Path) -> None:
    found = {model.name: model.description for model in ModelCatalog(zoo, (), offline=True).models()}
    translator = found["zoo/translator"]
    assert translator is not None
    assert translator.label == "translator"
    assert translator.shape == "encoder-decoder"
    assert translator.tasks == ("translation",)
    assert (translator.layers, translator.heads, translator.width, translator.max_tokens) == (2, 2, 16, 24)
    assert translator.decoder_layers == 2  # nothing else is said there
    assert translator.languages == ("en", "fr")
    assert translator.origin == "zoo"
    tasks = {name: description.tasks[0] for name, description in found.items() if description is not None}
    assert tasks == {
        "zoo/classifier": "classification",
        "zoo/decoder": "language_modelling",
        "zoo/encoder": "encoding",
        "zoo/endless": "language_modelling",
        "zoo/masked": "masked_language_modelling",
        "zoo/recurrent": "translation",
        "zoo/slow": "language_modelling",
        "zoo/theirs": "language_modelling",
        "zoo/translator": "translation",
    }
    assert {name for name, each in found.items() if each and each.decoder_layers} == {"zoo/translator"}
    endless = found["zoo/endless"]
    assert endless is not None
    assert endless.max_tokens is None


def test_the_layers_of_both_stacks_are_known() -> None:
    shipped = describe_model(ZOO / "translator", "zoo/translator", "zoo")
    assert shipped is not None
    assert (shipped.layers, shipped.decoder_layers) == (6, 3)


def test_parameters_are_counted_without_the_weights(zoo: Path) -> None:
    from glassformer.weights.checkpoint import open_checkpoint

    network = open_checkpoint(zoo / "decoder").network
    assert count_parameters(zoo / "decoder") == sum(each.numel() for each in network.parameters())


def test_a_folder_of_transformers_is_described(tmp_path: Path) -> None:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=3, n_head=2)
    GPT2LMHeadModel(config).save_pretrained(tmp_path / "theirs")
    found = describe_model(tmp_path / "theirs", "mine/theirs", "folder")
    assert found is not None
    assert (found.family, found.shape, found.tasks) == ("gpt2", "decoder", ("language_modelling",))
    assert (found.layers, found.heads, found.width) == (3, 2, 16)
    assert (found.vocabulary, found.max_tokens) == (50, 32)


def test_a_translator_of_one_pair_says_which(tmp_path: Path) -> None:
    settings = {"source_lang": "en", "target_lang": "de"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    assert find_languages(tmp_path) == ("en", "de")


def test_models_are_found_three_levels_deep(zoo: Path, mine: Path) -> None:
    names = {model.name for model in ModelCatalog(zoo, (mine,), offline=True).models()}
    assert {name for name in names if not name.startswith("zoo/")} == {"mine/one", "mine/a/b/three"}


def test_two_folders_of_the_same_name_stay_apart(build: Build, zoo: Path, tmp_path: Path) -> None:
    for parent in ("x", "y"):
        build(tmp_path / parent / "models" / "one", "decoder")
    catalog = ModelCatalog(zoo, (tmp_path / "x" / "models", tmp_path / "y" / "models"), offline=True)
    assert catalog.find("models/one").folder == tmp_path / "x" / "models" / "one"
    second = catalog.find("models/one (2)")
    assert second.folder == tmp_path / "y" / "models" / "one"
    assert second.description is not None
    assert second.description.name == "models/one (2)"


def test_a_path_leads_only_into_the_folders(zoo: Path, mine: Path, tmp_path: Path) -> None:
    catalog = ModelCatalog(zoo, (mine,), offline=True)
    assert catalog.find(str(mine / "one")).name == "mine/one"
    assert catalog.find(str(mine / "a" / "b" / "c" / "four")).name == "four"
    for path in (tmp_path / "elsewhere", mine / "link", mine / ".." / "elsewhere", Path("/"), mine / "empty"):
        with pytest.raises(ApiError, match="There is no model") as caught:
            catalog.find(str(path))
        assert caught.value.status == 404
    with pytest.raises(ApiError):
        catalog.find("/etc/\0passwd")


def test_the_nearest_name_is_offered(zoo: Path) -> None:
    with pytest.raises(ApiError, match="Did you mean 'zoo/translator'"):
        ModelCatalog(zoo, (), offline=True).find("zoo/translater")
    with pytest.raises(ApiError):
        ModelCatalog(zoo, (), offline=True).find("zoo/../masked")


def test_other_names_are_the_hubs(zoo: Path) -> None:
    model = ModelCatalog(zoo, (), offline=False).find("openai-community/gpt2")
    assert (model.folder, model.description) == (None, None)


def test_offline_only_what_was_fetched_is_the_hubs(
    zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    catalog = ModelCatalog(zoo, (), offline=True)
    with pytest.raises(ApiError, match="hub may not be asked"):
        catalog.find("owner/model")
    (tmp_path / "models--owner--model").mkdir()
    assert catalog.find("owner/model").folder is None


def test_a_new_model_is_found_when_it_is_asked_for(build: Build, zoo: Path, mine: Path) -> None:
    catalog = ModelCatalog(zoo, (mine,), offline=True)
    catalog.models()
    build(mine / "later", "decoder")
    assert catalog.find("mine/later").folder == mine / "later"


@pytest.mark.parametrize(
    "header", [b"", b"\xff" * 8, (4).to_bytes(8, "little") + b"nope", b"\x02" + bytes(7)]
)
def test_weights_that_are_none_make_no_model(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    (tmp_path / "model.safetensors").write_bytes(header)
    assert describe_model(tmp_path, "x", "folder") is None


def test_pickles_make_no_model(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    assert describe_model(tmp_path, "x", "folder") is None


def test_the_workbench_is_there_without_torch() -> None:
    code = (
        "import sys; from glassformer.workbench import LocalWorkbench, WorkbenchSettings as S;"
        "from pathlib import Path;"
        "bench = LocalWorkbench(S(), folder=Path('.'), add=lambda path, request: '');"
        "bench.models(), bench.presets(), bench.close(); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
