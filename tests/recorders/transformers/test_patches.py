"""Positions of an image are named by what they hold: proved by changing one patch of the picture."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

from glassformer.loaded.opening import load
from glassformer.recorders.transformers.patches import PatchNames, count_shared

SHAPE = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 32, "patch_size": 8,
}  # fmt: skip
INNER = {"intermediate_size": 48}


def make(kind: str) -> Any:
    torch.manual_seed(0)
    match kind:
        case "ViT":
            return hf.ViTModel(hf.ViTConfig(**SHAPE, **INNER)).eval()
        case "DeiT":
            return hf.DeiTModel(hf.DeiTConfig(**SHAPE, **INNER)).eval()
        case "CLIP":
            return hf.CLIPVisionModel(hf.CLIPVisionConfig(**SHAPE, **INNER)).eval()
        case "DINOv2":
            return hf.Dinov2Model(hf.Dinov2Config(**SHAPE)).eval()
        case "DINOv2 with registers":
            config = hf.Dinov2WithRegistersConfig(**SHAPE, num_register_tokens=3)
            return hf.Dinov2WithRegistersModel(config).eval()
        case _:
            return hf.SiglipVisionModel(hf.SiglipVisionConfig(**SHAPE, **INNER)).eval()


FRONTS = {
    "ViT": ["[CLS]"],
    "DeiT": ["[CLS]", "[DIST]"],
    "CLIP": ["[CLS]"],
    "DINOv2": ["[CLS]"],
    "DINOv2 with registers": ["[CLS]", "[REG]", "[REG]", "[REG]"],
    "SigLIP": [],
}


@pytest.mark.parametrize("kind", FRONTS)
def test_a_patch_is_named_by_its_row_and_column(kind: str) -> None:
    subject = load(make(kind))
    pixels = torch.randn(1, 3, 32, 32)
    changed = pixels.clone()
    changed[..., 8:16, 16:24] += 1  # the patch of row 1, column 2
    before, after = (
        subject.record({"pixel_values": each}, want=("hidden", "weights")) for each in (pixels, changed)
    )
    apart = np.abs(before.hidden["encoder"][0] - after.hidden["encoder"][0]).max(axis=-1)  # of embeddings
    (place,) = np.nonzero(apart > 1e-6)[0]
    assert before.source.texts[place] == "1,2"
    front = [
        text for text, special in zip(before.source.texts, before.source.special, strict=True) if special
    ]
    assert front == FRONTS[kind] == list(before.source.texts[: len(front)])
    assert before.source.texts[-1] == "3,3"
    assert before.maps[0].query.texts == before.source.texts


def test_positions_that_are_no_patches_are_numbered() -> None:
    model = make("ViT")
    names = PatchNames(model)
    with names.watching(), torch.no_grad():
        model(torch.randn(1, 3, 32, 32))
    assert names.name("encoder.layer", 17).texts[:2] == ("[CLS]", "0,0")
    assert names.name("encoder.layer", 16).texts[:2] == ("0", "1")
    assert not any(module._forward_hooks for module in model.modules())


def test_a_picture_of_another_size_has_another_grid() -> None:
    subject = load(make("DINOv2"))
    for height, width in ((32, 32), (16, 40)):
        recording = subject.record({"pixel_values": torch.randn(1, 3, height, width)})
        assert recording.source.texts[-1] == f"{height // 8 - 1},{width // 8 - 1}"


def test_paths_share_parts_from_the_left() -> None:
    assert count_shared("model.language_model.layers", "model.language_model.embed_tokens") == 2
    assert count_shared("model", "vision") == 0
    assert count_shared("model.layers", "model") == 1
