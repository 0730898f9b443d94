"""Positions of an image are named by what they hold: proved by changing one patch of the picture."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from PIL import Image

from glassformer.loaded.opening import load
from glassformer.recorders.transformers.patches import PatchNames, count_shared, show_pixels
from glassformer.recording import Tokens
from glassformer.recording.media import MOST_PIXELS

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


def test_positions_that_are_no_patches_have_no_such_names() -> None:
    model = make("ViT")
    names = PatchNames(model)
    with names.watching(), torch.no_grad():
        model(torch.randn(1, 3, 32, 32))
    assert names.name("encoder.layer", 17).texts[:2] == ("[CLS]", "0,0")
    assert names.name("encoder.layer", 16) is None
    assert not any(module._forward_hooks for module in model.modules())


def test_a_picture_of_another_size_has_another_grid() -> None:
    subject = load(make("DINOv2"))
    for height, width in ((32, 32), (16, 40)):
        recording = subject.record({"pixel_values": torch.randn(1, 3, height, width)})
        assert recording.source.texts[-1] == f"{height // 8 - 1},{width // 8 - 1}"


def test_the_picture_is_the_one_that_the_model_saw() -> None:
    processor = hf.ViTImageProcessorPil(size={"height": 32, "width": 32}, do_resize=False)
    subject = load(make("ViT"), processor)
    pixels = np.random.default_rng(0).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    opaque = np.concatenate((pixels, np.full_like(pixels[..., :1], 255)), axis=-1)
    for given in (pixels, opaque, Image.fromarray(pixels)):
        picture = subject.record(given).source.picture
        assert np.array_equal(picture.pixels, pixels)  # normalising and back loses nothing
        assert (picture.rows, picture.columns, picture.cells.tolist()) == (4, 4, [-1, *range(16)])
    left, top, right, bottom = picture.find_box(1 + 4 * 1 + 2)
    assert (left, top, right, bottom) == (16, 8, 24, 16)  # row 1, column 2, as above


def test_what_was_done_to_the_colours_may_be_unknown() -> None:
    values = torch.linspace(-3, 5, 3 * 32 * 32).reshape(1, 3, 32, 32)
    pixels = load(make("ViT")).record({"pixel_values": values}).source.picture.pixels
    assert (pixels[0, 0, 0], pixels[-1, -1, 2]) == (0, 255)
    assert (np.diff(pixels[..., 1].astype(int).ravel()) >= 0).all()


def test_a_large_picture_is_kept_smaller() -> None:
    pixels = show_pixels(torch.rand(1, 3000, 2000), None)
    assert pixels.shape[0] * pixels.shape[1] <= MOST_PIXELS
    assert abs(pixels.shape[0] / pixels.shape[1] - 1.5) < 0.01


@pytest.mark.parametrize(("places", "grid"), [(16, (4, 4)), (4, (2, 2)), (5, None)])
def test_places_of_patches_in_a_text_have_the_picture(places: int, grid: tuple[int, int] | None) -> None:
    names = PatchNames(make("SigLIP"))
    with names.watching(), torch.no_grad():
        names.model(torch.randn(1, 3, 32, 32))
    ids = [1, *[7] * places, 2]
    text = names.place(Tokens("source", [str(each) for each in ids], ids), token_id=7)
    assert (text.picture and (text.picture.rows, text.picture.columns)) == grid
    if text.picture:
        assert text.picture.cells.tolist() == [-1, *range(places), -1]


def test_a_processor_comes_with_its_folder(tmp_path: Path) -> None:
    make("ViT").save_pretrained(tmp_path)
    hf.ViTImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(tmp_path)
    Image.new("RGB", (50, 20), "red").save(tmp_path / "red.png")
    picture = load(tmp_path).record(tmp_path / "red.png").source.picture
    assert picture.pixels.shape == (32, 32, 3)
    assert (picture.pixels == (255, 0, 0)).all()


def test_paths_share_parts_from_the_left() -> None:
    assert count_shared("model.language_model.layers", "model.language_model.embed_tokens") == 2
    assert count_shared("model", "vision") == 0
    assert count_shared("model.layers", "model") == 1
