"""What `load` opens, and what it refuses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file
from torch import nn

import glassformer
import glassformer as gf
from glassformer.errors import CheckpointError, InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.loaded.transformers import open_pretrained
from our_networks import WORDS, build
from their_models import TEXT, make_llama, make_tokenizer
from tiny_models import build_model


def test_what_cannot_be_loaded_is_said() -> None:
    with pytest.raises(InputError, match="cannot be made of type dict"):
        load({})
    subject = load(build(), WORDS)
    assert isinstance(subject, LoadedModel)
    assert load(subject) is subject
    assert glassformer.load is load


def test_something_else_is_no_model() -> None:
    with pytest.raises(InputError, match="neither one of our networks nor a model of transformers"):
        load(nn.Linear(2, 2))


def test_a_folder_of_any_architecture_is_opened(tmp_path: Any) -> None:
    tokenizer = make_tokenizer()
    model = make_llama()
    model.save_pretrained(tmp_path / "lama")
    tokenizer.save_pretrained(tmp_path / "lama")
    subject = open_pretrained(tmp_path / "lama")
    assert (subject.name, type(subject.network)) == ("lama", hf.LlamaForCausalLM)
    assert load(subject.network).name == "lama"  # not the whole path
    recording = subject.record(TEXT)
    assert recording.source.texts[1] == "the"
    expected = load(model, tokenizer).record(TEXT)
    assert np.array_equal(recording.maps[1].dense, expected.maps[1].dense)
    assert recording.evidence.model_hash == expected.evidence.model_hash
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "lama" / name).unlink()
    assert open_pretrained(tmp_path / "lama").record([7, 8]).source.texts == ("7", "8")
    (tmp_path / "lama" / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"lama cannot be opened by transformers"):
        open_pretrained(tmp_path / "lama")


def test_opening_a_folder_is_silent(tmp_path: Any, capfd: pytest.CaptureFixture[str]) -> None:
    make_llama().save_pretrained(tmp_path / "lama")
    capfd.readouterr()
    hf.utils.logging.enable_progress_bar()
    level = hf.utils.logging.get_verbosity()
    load(tmp_path / "lama").record([7, 8])
    assert capfd.readouterr() == ("", "")
    assert hf.utils.logging.is_progress_bar_enabled()
    assert hf.utils.logging.get_verbosity() == level


def test_a_folder_that_lacks_weights_is_refused_or_noted(tmp_path: Any) -> None:
    file = tmp_path / "lama" / "model.safetensors"
    make_llama().save_pretrained(file.parent)
    weights = load_file(file)
    head = weights.pop("lm_head.weight")
    save_file(weights, file, {"format": "pt"})
    [note] = load(file.parent).record([7, 8]).evidence.notes
    assert str(note).endswith("have random numbers: lm_head.weight")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights | {"lm_head.weight": head}, file, {"format": "pt"})
    with pytest.raises(CheckpointError, match=r"lacks 1 weights .*model\.layers\.1\.mlp\.up_proj\.weight"):
        load(file.parent)


def test_what_is_opened_can_be_moved_and_what_is_live_stays(tmp_path: Any) -> None:
    make_llama().save_pretrained(tmp_path / "lama")
    assert load(tmp_path / "lama", device="cpu").record([7, 8]).maps
    assert load(tmp_path / "lama", device=torch.device("cpu")).record([7, 8]).maps
    for device in ("nowhere", "meta"):
        with pytest.raises(InputError, match=rf"Nothing runs on '{device}' here \(.*\); try cpu"):
            load(tmp_path / "lama", device=device)
    with pytest.raises(InputError, match="live network is used where it is"):
        load(make_llama(), device="cpu")


def test_a_link_is_called_by_its_own_name(tmp_path: Any) -> None:
    make_llama().save_pretrained(tmp_path / "lama")
    (tmp_path / "alpaca").symlink_to("lama")
    assert load(tmp_path / "alpaca").name == "alpaca"


def test_an_unknown_model_is_refused() -> None:
    for thing in ({}, 3, torch.nn.Linear(2, 2)):
        with pytest.raises(InputError) as error:
            load(thing)
        assert error.value.message.code == "loaded.not_a_model"


def test_a_loaded_model_is_returned_as_it_is(tmp_path: Path) -> None:
    model = load(build_model(tmp_path / "model", "decoder"))
    assert load(model) is model
    assert isinstance(model, gf.LoadedModel)
    assert gf.load is load
    with pytest.raises(InputError) as error:
        gf.record(model, "the", device="cpu")
    assert error.value.message.code == "loaded.device_of_live_network"
    for given in ({"tokenizer": model.tokenizer}, {"name": "another"}):
        with pytest.raises(InputError) as error:
            load(model, **given)
        assert error.value.message.code == "loaded.already_loaded"
