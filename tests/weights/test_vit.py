"""ViT: names in files and in memory, no biases, other pictures, and what its processor does to them."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

from families import load as load_weights
from families import settings_of
from glassformer.config import ModelConfig
from glassformer.errors import GlassformerError
from glassformer.loaded.opening import load
from glassformer.loaded.perceiving import perceive
from glassformer.weights.checkpoint import adopt, open_checkpoint, save_checkpoint
from glassformer.weights.family import FAMILIES
from tolerances import assert_near

Make = Callable[..., Any]
WIDE = np.random.default_rng(0).integers(0, 256, (20, 50, 3), dtype=np.uint8)
IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}


def save_with_processor(model: Any, folder: Path, **settings: Any) -> Any:
    model.save_pretrained(folder)
    processor = transformers.ViTImageProcessorPil(size={"height": 8, "width": 8}, **settings)
    processor.save_pretrained(folder)
    return processor


def test_names_in_files_are_others_than_in_memory(make: Make, saved: Make, answer: Make) -> None:
    model = make("ViTForImageClassification")
    files = load_file(saved("ViTForImageClassification") / "model.safetensors")
    assert not set(files) & {name for name in model.state_dict() if "layers" in name}
    assert torch.equal(answer(load_weights(model, files)), answer(adopt(model)))


def test_without_biases_of_queries_keys_and_values(make: Make, answer: Make, tmp_path: Path) -> None:
    model = make("ViTForImageClassification", qkv_bias=False)
    network = adopt(model)
    assert_near(answer(network), answer(model), layers=2)
    assert save_checkpoint(network, tmp_path) == "vit"
    theirs = transformers.ViTForImageClassification.from_pretrained(tmp_path).eval()
    assert_near(answer(theirs), answer(model), layers=2)


def test_pictures_without_colour(make: Make, tmp_path: Path) -> None:
    model = make("ViTForImageClassification", num_channels=1)
    network = adopt(model)
    pixels = torch.rand(2, 1, 8, 8)
    with torch.no_grad():
        assert_near(network(pixels), model(pixels).logits, layers=2)
    save_checkpoint(network, tmp_path)
    processor = json.loads((tmp_path / "preprocessor_config.json").read_text())
    assert processor["image_mean"] == [0.5]
    assert open_checkpoint(tmp_path).config == network.config


@pytest.mark.parametrize(
    "settings",
    [{}, IMAGENET, {"resample": 3}, {"do_normalize": False}],
    ids=lambda each: next(iter(each), ""),
)
def test_a_picture_becomes_the_numbers_that_their_processor_makes(
    settings: dict[str, Any], make: Make, tmp_path: Path
) -> None:
    model = make("ViTForImageClassification")
    processor = save_with_processor(model, tmp_path / "theirs", **settings)
    wanted = processor(images=WIDE, return_tensors="pt")["pixel_values"]
    network = open_checkpoint(tmp_path / "theirs").network
    save_checkpoint(network, tmp_path / "ours")
    for folder in ("theirs", "ours"):
        config = open_checkpoint(tmp_path / folder).config
        assert isinstance(config, ModelConfig)
        assert_near(perceive(config, WIDE, "m").inputs, wanted[0].numpy())
    again = transformers.AutoImageProcessor.from_pretrained(tmp_path / "ours", backend="pil")
    assert_near(again(images=WIDE, return_tensors="pt")["pixel_values"], wanted)


def test_a_folder_gives_the_classes_that_transformers_gives(make: Make, tmp_path: Path) -> None:
    model = make("ViTForImageClassification")
    processor = save_with_processor(model, tmp_path, **IMAGENET)
    loaded = load(tmp_path)
    assert loaded.library == "native"
    with torch.no_grad():
        wanted = model(**processor(images=WIDE, return_tensors="pt")).logits.softmax(-1)
    (found,) = loaded.classify_percepts([loaded.perceive(WIDE)])
    assert_near(found, wanted[0], layers=2)
    recording = loaded.record(WIDE)
    with torch.no_grad():
        model.set_attn_implementation("eager")
        maps = model(**processor(images=WIDE, return_tensors="pt"), output_attentions=True).attentions
    for layer, wanted in enumerate(maps):
        assert_near(recording.map(layer=layer), wanted[0], layers=2)
    assert recording.source.texts == ("[CLS]", "0,0", "0,1", "1,0", "1,1")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"do_center_crop": True}, "do_center_crop is True"),
        ({"size": {"height": 9, "width": 9}}, "size is 9; only 8"),
        ({"size": {"shortest_edge": 8}}, "size is 0; only 8"),
        ({"resample": 1}, "resample is 1; only 2"),
        ({"rescale_factor": 1.0}, "rescale_factor is 1.0"),
        ({"image_mean": ["a"]}, "image_mean is 'a'; expected a number"),
        ({"image_mean": [0.1, 0.2]}, "pixel_mean has 2 numbers"),
        ({"image_std": [0.0]}, "pixel_deviation"),
    ],
    ids=str,
)
def test_what_their_processor_can_and_ours_cannot(
    changes: dict[str, Any], words: str, make: Make, tmp_path: Path
) -> None:
    model = make("ViTForImageClassification")
    save_with_processor(model, tmp_path)
    path = tmp_path / "preprocessor_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(GlassformerError, match=words):
        open_checkpoint(tmp_path)
    if "supported" in words or "only" in words or " is True" in words:  # whole, but not ours
        assert load(tmp_path).library == "transformers"


def test_what_is_no_network_of_ours_opens_in_transformers(make: Make, tmp_path: Path) -> None:
    settings = settings_of(make("ViTModel"))
    transformers.ViTForMaskedImageModeling(transformers.ViTConfig(**settings)).save_pretrained(tmp_path)
    assert load(tmp_path).library == "transformers"


def test_a_network_that_crops_pictures_stays_ours(make: Make) -> None:
    config = adopt(make("ViTModel")).config
    reason = FAMILIES["vit"].write_config(replace(config, picture_fit="crop"))
    assert str(reason) == "picture_fit = 'crop' is not one of 'stretch'"
