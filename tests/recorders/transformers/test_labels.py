"""The position that is named by a patch is the one that changes with this patch, whatever the architecture.

The picture is changed in one place, the first block's input is watched by a hook of the test, and the name is
looked up: nothing of what names positions is used to find the position.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.recorders.edits.block import BlockHead
from their_models import make_detr

PATCH, ROW, COLUMN = 8, 1, 2  # pixels of a patch, and the patch that is changed
VISION = {
    "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 48,
    "image_size": 32, "patch_size": PATCH,
}  # fmt: skip
TEXT = {
    "vocab_size": 90, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 48, "max_position_embeddings": 256,
    "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip
IMAGE = 89
ROPE = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}
QWEN = {"image_token_id": IMAGE, "vision_start_token_id": 87, "vision_end_token_id": 88, "video_token_id": 86}
TALL, WIDE = 64, 96  # pixels of the picture of those that take any size
Inputs = Callable[[NDArray[np.uint8]], dict[str, Any]]


def show(pixels: NDArray[np.uint8]) -> dict[str, Any]:
    return {"pixel_values": torch.from_numpy(pixels).permute(2, 0, 1)[None] / 255.0}


def read(ids: list[int]) -> dict[str, Any]:
    tensor = torch.tensor([ids])
    return {"input_ids": tensor, "attention_mask": torch.ones_like(tensor)}


def make_clip() -> tuple[Any, str, Inputs]:
    config = hf.CLIPConfig(text_config=TEXT, vision_config=VISION, projection_dim=16)
    return hf.CLIPModel(config), "vision_model.encoder.layers.0", lambda each: show(each) | read([5, 6, 2])


def make_siglip() -> tuple[Any, str, Inputs]:
    config = hf.SiglipConfig(text_config=TEXT, vision_config=VISION)
    return hf.SiglipModel(config), "vision_model.encoder.layers.0", lambda each: show(each) | read([5, 6, 2])


def make_blip() -> tuple[Any, str, Inputs]:
    text = TEXT | {"encoder_hidden_size": 32, "sep_token_id": 2}
    config = hf.BlipConfig(text_config=text, vision_config=VISION, projection_dim=16)
    model = hf.BlipForConditionalGeneration(config)
    return (
        model,
        "vision_model.encoder.layers.0",
        lambda each: show(each) | {"input_ids": torch.ones(1, 3).long()},
    )


def make_llava() -> tuple[Any, str, Inputs]:
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(**VISION), text_config=hf.LlamaConfig(**TEXT),
        image_token_index=IMAGE, image_seq_length=16,
    )  # fmt: skip
    model = hf.LlavaForConditionalGeneration(config)
    return model, "vision_tower.encoder.layers.0", lambda each: show(each) | read([5, *[IMAGE] * 16, 6])


def make_gemma() -> tuple[Any, str, Inputs]:
    config = hf.Gemma3Config(
        vision_config=hf.SiglipVisionConfig(**VISION).to_dict(),
        text_config=hf.Gemma3TextConfig(**TEXT, head_dim=8, sliding_window=8).to_dict(),
        mm_tokens_per_image=4, image_token_index=IMAGE, boi_token_index=87, eoi_token_index=88,
    )  # fmt: skip
    ids = [5, 87, *[IMAGE] * 4, 88, 6]
    types = {"token_type_ids": torch.tensor([[int(each == IMAGE) for each in ids]])}
    model = hf.Gemma3ForConditionalGeneration(config)
    return model, "vision_tower.encoder.layers.0", lambda each: show(each) | read(ids) | types


def read_as_qwen(pixels: NDArray[np.uint8]) -> dict[str, Any]:
    """By their own processor, which alone knows in which order patches stand."""
    processor = hf.Qwen2VLImageProcessorPil(
        patch_size=PATCH, merge_size=2, temporal_patch_size=2, do_resize=False
    )
    made = dict(processor(images=pixels, return_tensors="pt"))
    count = int(made["image_grid_thw"].prod()) // 4
    words = read([5, 87, *[IMAGE] * count, 88, 6])
    return made | words | {"mm_token_type_ids": (words["input_ids"] == IMAGE).int()}


def make_qwen2() -> tuple[Any, str, Inputs]:
    vision = {
        "depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 4, "patch_size": PATCH, "mlp_ratio": 2,
        "spatial_merge_size": 2, "temporal_patch_size": 2, "in_channels": 3,
    }  # fmt: skip
    config = hf.Qwen2VLConfig(text_config=TEXT | {"rope_parameters": ROPE}, vision_config=vision, **QWEN)
    return hf.Qwen2VLForConditionalGeneration(config), "model.visual.blocks.0", read_as_qwen


def make_qwen25() -> tuple[Any, str, Inputs]:
    vision = {
        "depth": 2, "hidden_size": 32, "out_hidden_size": 32, "num_heads": 4, "patch_size": PATCH,
        "intermediate_size": 48, "spatial_merge_size": 2, "temporal_patch_size": 2, "in_channels": 3,
        "window_size": 32, "fullatt_block_indexes": [1],
    }  # fmt: skip
    config = hf.Qwen2_5_VLConfig(text_config=TEXT | {"rope_parameters": ROPE}, vision_config=vision, **QWEN)
    return hf.Qwen2_5_VLForConditionalGeneration(config), "model.visual.blocks.0", read_as_qwen


MAKERS: dict[str, Callable[[], tuple[Any, str, Inputs]]] = {
    "CLIP": make_clip,
    "SigLIP": make_siglip,
    "BLIP": make_blip,
    "LLaVA": make_llava,
    "Gemma 3": make_gemma,
    "Qwen2-VL": make_qwen2,
    "Qwen2.5-VL": make_qwen25,
    "DETR": lambda: (make_detr(), "model.encoder.layers.0", show),
}


def draw(kind: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """A picture, and the same with another patch; the places of DETR are 32 pixels wide."""
    large = kind.startswith(("Qwen", "DETR"))
    size = (TALL, WIDE) if large else (32, 32)
    plain = np.random.default_rng(0).integers(100, 150, (*size, 3), dtype=np.uint8)
    changed, side = plain.copy(), 32 if kind == "DETR" else PATCH
    part = slice(ROW * side, (ROW + 1) * side), slice(COLUMN * side, (COLUMN + 1) * side)
    changed[part] = np.random.default_rng(1).integers(0, 256, (side, side, 3))
    return plain, changed


def watch(model: Any, path: str, inputs: dict[str, Any]) -> torch.Tensor:
    """What the first block is given (position, width)."""
    seen: list[torch.Tensor] = []

    def keep(_: Any, given: Any, named: dict[str, Any]) -> None:
        seen.append(next(each for each in (*given, *named.values()) if isinstance(each, torch.Tensor)))

    module = next(each for name, each in model.named_modules() if name.endswith(path))
    with module.register_forward_pre_hook(keep, with_kwargs=True), torch.no_grad():
        model(**inputs)
    return seen[0].reshape(-1, seen[0].shape[-1])


@pytest.mark.parametrize("kind", MAKERS)
def test_the_position_that_changes_has_the_name_of_the_patch(kind: str) -> None:
    torch.manual_seed(0)
    model, path, read_picture = MAKERS[kind]()
    model.eval()
    plain, changed = (read_picture(each) for each in draw(kind))
    apart = (watch(model, path, plain) - watch(model, path, changed)).abs().amax(-1)
    recording = load(model).record(changed)
    tokens = recording.maps[0].query
    assert len(tokens) == len(apart)
    assert tokens.texts[int(apart.argmax())] == f"{ROW},{COLUMN}"
    if kind != "DETR":  # whose convolutions see further than one place
        assert int((apart > 0).sum()) == 1
    assert "recorders.notes.numbered" not in {note.code for note in recording.evidence.notes}
    assert tokens.picture is not None
    left, top, right, bottom = tokens.picture.find_box(int(apart.argmax()))  # type: ignore[misc]
    side = 32 if kind == "DETR" else PATCH
    assert (left, top, right, bottom) == (COLUMN * side, ROW * side, (COLUMN + 1) * side, (ROW + 1) * side)


@pytest.mark.parametrize("kind", ["Qwen2-VL", "Qwen2.5-VL"])
def test_the_picture_is_put_together_from_its_patches(kind: str) -> None:
    torch.manual_seed(0)
    model, _, read_picture = MAKERS[kind]()
    _, pixels = draw(kind)
    processor = hf.Qwen2VLImageProcessorPil(patch_size=PATCH, merge_size=2, do_resize=False)
    recording = load(model.eval(), processor).record(read_picture(pixels))
    picture = recording.maps[0].query.picture
    assert picture is not None
    assert np.array_equal(picture.pixels, pixels)
    assert (picture.rows, picture.columns) == (TALL // PATCH, WIDE // PATCH)
    words = recording.source.picture
    assert words is not None
    assert (words.rows, words.columns) == (picture.rows // 2, picture.columns // 2)


def test_windows_of_one_layer_are_one_map() -> None:
    torch.manual_seed(0)
    model, _, read_picture = make_qwen25()
    inputs = read_picture(draw("Qwen2.5-VL")[0])
    recording = load(model.eval()).record(inputs)
    visual = [each for each in recording.maps if each.stack == recording.maps[0].stack]
    assert [each.layer for each in visual] == [0, 1]
    places = np.array([tuple(map(int, text.split(","))) for text in visual[0].query.texts])
    windows = places // 4  # of 32 pixels
    together = (windows[:, None] == windows[None]).all(-1)
    weights = visual[0].weights()
    assert (weights[:, ~together] == 0).all()
    assert (weights[:, together] > 0).all()
    assert (visual[1].weights() > 0).all()
    allowed = visual[0].statistics.allowed[0]
    assert allowed.tolist() == together.sum(1).tolist()
    fast = load(model).record(inputs, want=("statistics",))
    assert np.array_equal(fast.maps[0].statistics.allowed, visual[0].statistics.allowed)
    with pytest.raises(InputError, match="window by window"):
        load(model).record(inputs, edits=[BlockHead(visual[0].stack, "self", 0, 1)])


def test_windows_of_a_large_picture_are_left_out_and_layers_keep_their_numbers() -> None:
    """More patches than are put together: a window is not taken for a layer."""
    torch.manual_seed(0)
    model, _, read_picture = make_qwen25()
    side = 34 * PATCH  # 1,156 patches
    pixels = np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8)
    inputs = read_picture(pixels)
    recording = load(model.eval()).record(inputs, want=("statistics",))
    assert [each.place.address for each in recording.maps] == ["visual.self.1", "language.self.0"]
    assert recording.maps[0].shape == (4, 34 * 34, 34 * 34)
    assert any("of 1 layer of visual" in str(note) for note in recording.evidence.notes)
    with pytest.raises(InputError, match="window by window"):
        load(model).record(inputs, want=("statistics",), edits=[BlockHead("visual", "self", 0, 1)])


def test_objects_look_at_places_of_the_picture() -> None:
    recording = load(make_detr()).record(show(draw("DETR")[0]))
    cross = recording.map("decoder", "cross")
    assert cross.query.texts == tuple(f"object {number}" for number in range(5))
    assert cross.key.texts == ("0,0", "0,1", "0,2", "1,0", "1,1", "1,2")
    assert cross.key.picture is not None
    assert recording.map("decoder", "self").key.texts == cross.query.texts


def test_several_pictures_and_films_have_numbers_and_say_so() -> None:
    torch.manual_seed(0)
    model, _, read_picture = make_qwen2()
    inputs = read_picture(draw("Qwen2-VL")[0])
    grid = torch.tensor([[2, 8, 6]])  # the same patches as two frames
    recording = load(model.eval()).record(inputs | {"image_grid_thw": grid})
    assert recording.maps[0].query.texts[:3] == ("0", "1", "2")
    assert "recorders.notes.numbered" in {note.code for note in recording.evidence.notes}


def test_a_frame_of_speecht5_is_named_by_its_second() -> None:
    torch.manual_seed(0)
    settings = {
        "vocab_size": 90, "hidden_size": 32, "conv_dim": (16,) * 7, "feat_extract_norm": "layer",
        "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4,
    }  # fmt: skip
    for side in ("encoder", "decoder"):
        settings |= {f"{side}_layers": 1, f"{side}_attention_heads": 4, f"{side}_ffn_dim": 32}
    model = hf.SpeechT5ForSpeechToText(hf.SpeechT5Config(**settings)).eval()
    quiet = torch.zeros(1, 16_000)
    click = quiet.clone()
    click[:, 6_000:6_010] = 1
    features = model.speecht5.encoder.prenet.feature_encoder
    with torch.no_grad():
        apart = (features(quiet) - features(click)).abs().amax((0, 1))
    heard = np.flatnonzero(apart.numpy() > 1e-6)
    recording = load(model).record({"input_values": click, "decoder_input_ids": torch.tensor([[2, 5]])})
    middles = [float(recording.source.texts[each]) for each in heard]
    assert abs(np.mean(middles) - 6_005 / 16_000) < 320 / 16_000 / 2  # half of a frame
