"""Models of several parts, such as a vision tower and a language model: each has its own tokens and names."""

from typing import Any

import pytest
import torch
import transformers as hf

from glassformer.errors import InputError
from glassformer.loaded.opening import load
from their_models import make_detr
from tolerances import assert_near

VISION = {
    "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48,
    "image_size": 32, "patch_size": 8,
}  # fmt: skip
TEXT = {
    "vocab_size": 90, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 48, "max_position_embeddings": 64,
}  # fmt: skip
GROUPED = TEXT | {"num_key_value_heads": 2}
IMAGE = 89  # the token that stands for a part of an image


def make_llava(count: int) -> tuple[Any, dict[str, Any]]:
    """With a text of so many tokens after those of the image."""
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(**VISION), text_config=hf.LlamaConfig(**GROUPED),
        image_token_index=IMAGE, image_seq_length=16,
    )  # fmt: skip
    ids = torch.tensor([[*[IMAGE] * 16, *range(5, 5 + count)]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    return hf.LlavaForConditionalGeneration(config), {**inputs, "pixel_values": torch.randn(1, 3, 32, 32)}


def make_gemma() -> tuple[Any, dict[str, Any]]:
    config = hf.Gemma3Config(
        vision_config=hf.SiglipVisionConfig(**VISION).to_dict(),
        text_config=hf.Gemma3TextConfig(**GROUPED, head_dim=8, sliding_window=8).to_dict(),
        mm_tokens_per_image=4, image_token_index=IMAGE, boi_token_index=87, eoi_token_index=88,
    )  # fmt: skip
    ids = torch.tensor([[5, 87, *[IMAGE] * 4, 88, 6, 7, 8]])
    inputs = {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "token_type_ids": (ids == IMAGE).long(),
    }
    return hf.Gemma3ForConditionalGeneration(config), {**inputs, "pixel_values": torch.randn(1, 3, 32, 32)}


def make_qwen() -> tuple[Any, dict[str, Any]]:
    rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}
    vision = {
        "depth": 3, "embed_dim": 32, "hidden_size": 32, "num_heads": 4, "patch_size": 4, "mlp_ratio": 2,
        "spatial_merge_size": 2, "temporal_patch_size": 2, "in_channels": 3,
    }  # fmt: skip
    config = hf.Qwen2VLConfig(
        text_config={**GROUPED, "rope_parameters": rope}, vision_config=vision, image_token_id=IMAGE,
        vision_start_token_id=87, vision_end_token_id=88, video_token_id=86,
    )  # fmt: skip
    ids = torch.tensor([[5, 87, *[IMAGE] * 4, 88, 6, 7, 8]])
    return hf.Qwen2VLForConditionalGeneration(config), {
        "input_ids": ids, "attention_mask": torch.ones_like(ids), "mm_token_type_ids": (ids == IMAGE).int(),
        "pixel_values": torch.randn(16, 96), "image_grid_thw": torch.tensor([[1, 4, 4]]),
    }  # fmt: skip


MAKERS = {
    "LLaVA": lambda: make_llava(4),
    "LLaVA, 17": lambda: make_llava(1),
    "Gemma 3": make_gemma,
    "Qwen2-VL": make_qwen,
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_model_of_pictures_and_text_has_the_maps_of_both(kind: str) -> None:
    """With 17 tokens a text is as long as the image: a stack is not known by its length."""
    torch.manual_seed(0)
    model, inputs = MAKERS[kind]()
    model.eval()
    recording = load(model).record(inputs, want=("weights", "output", "hidden"))
    vision, language = dict.fromkeys(each.stack for each in recording.maps)
    assert [len([each for each in recording.maps if each.stack == name]) for name in (vision, language)] == [
        3,
        2,
    ]
    model.set_attn_implementation("eager")
    with torch.no_grad():
        own = model(**inputs, output_attentions=True, output_hidden_states=True)
    ids = [str(each) for each in inputs["input_ids"][0].tolist()]
    for layer, weights in enumerate(own.attentions):
        found = recording.map(language, "self", layer)
        assert_near(found.weights(), weights[0], layers=layer + 4)  # three layers of vision in front
        assert list(found.query.texts) == ids
    first = recording.map(vision, "self", 0)
    notes = {note.code for note in recording.evidence.notes}
    if kind.startswith("LLaVA"):
        assert first.query.texts[:2] == ("[CLS]", "0,0")
        assert recording.source.picture.cells[:17].tolist() == [*range(16), -1]
    if kind == "Gemma 3":  # a place for every four patches
        assert first.query.texts[:2] == ("0,0", "0,1")
        assert recording.source.picture.cells.tolist() == [-1, -1, 0, 1, 2, 3, -1, -1, -1, -1]
    assert "recorders.notes.numbered" not in notes
    assert recording.output.stack == language
    best = own.logits[0].log_softmax(-1).max(-1).values.numpy()
    assert_near(recording.output.log_probabilities[:, 0], best, layers=5)
    assert list(recording.hidden) == [language]
    assert_near(recording.hidden[language][-1], own.hidden_states[-1][0], layers=5)
    assert "recorders.notes.some_checked" in notes


def test_a_part_that_is_not_reported_is_named() -> None:
    torch.manual_seed(0)
    text = TEXT | {"encoder_hidden_size": 32, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    config = hf.BlipConfig(text_config=text | {"sep_token_id": 2}, vision_config=VISION, projection_dim=16)
    subject = load(hf.BlipForConditionalGeneration(config).eval())
    pixels = torch.randn(1, 3, 32, 32)
    recording = subject.record({"pixel_values": pixels, "input_ids": torch.tensor([[5, 6, 7]])})
    assert recording.source.texts[:2] == ("[CLS]", "0,0")  # what the maps are of
    notes = {note.code: str(note) for note in recording.evidence.notes}
    assert "text_decoder" in notes["recorders.notes.unreported"]
    assert recording.output is None
    assert "recorders.notes.output_left_out" in notes
    with pytest.raises(InputError, match=r"cannot run on pixel_values.*input_ids, pixel_values") as error:
        subject.record({"pixel_values": pixels})
    assert error.value.message.code == "record.inputs.cannot_run"


def test_a_model_of_sound_is_told_what_it_reads() -> None:
    torch.manual_seed(0)
    settings = {
        "vocab_size": 90, "hidden_size": 32, "conv_dim": (16, 16), "conv_kernel": (4, 4),
        "conv_stride": (4, 4), "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4,
        "num_mel_bins": 8,
        "speech_decoder_prenet_units": 16, "speech_decoder_postnet_units": 16, "speaker_embedding_dim": 8,
    }  # fmt: skip
    for side in ("encoder", "decoder"):
        settings |= {f"{side}_layers": 2, f"{side}_attention_heads": 4, f"{side}_ffn_dim": 32}
    config = hf.SpeechT5Config(**settings)
    hears = load(hf.SpeechT5ForSpeechToText(config).eval())
    inputs = {"input_values": torch.randn(1, 800), "decoder_input_ids": torch.tensor([[2, 5, 6]])}
    recording = hears.record(inputs)
    assert (len(recording.source), recording.target.texts) == (50, ("2", "5", "6"))
    assert len(recording.source.sound.samples) == 800
    with pytest.raises(InputError, match=r"reads no text.*input_values"):
        hears.record([5, 6, 7])
    speaks = load(hf.SpeechT5ForTextToSpeech(config).eval())
    with pytest.raises(InputError, match=r"decoder_input_values"):
        speaks.record([5, 6, 7])
    frames = {"decoder_input_values": torch.randn(1, 10, 8), "speaker_embeddings": torch.randn(1, 8)}
    recording = speaks.record({"input_ids": torch.tensor([[5, 6, 7]]), **frames})
    assert recording.map("encoder", "self", 0).query.texts == ("5", "6", "7")
    assert recording.map("decoder", "cross", 0).key.texts == recording.source.texts == ("5", "6", "7")
    assert recording.map("decoder", "self", 0).query.texts[:2] == ("0", "1")
    assert "recorders.notes.numbered" in {note.code for note in recording.evidence.notes}
    voice = load(hf.SpeechT5ForSpeechToSpeech(config).eval()).record(
        {"input_values": torch.randn(1, 800), **frames}
    )
    assert len(voice.source.sound.samples) == 800
    assert voice.map("decoder", "cross", 0).key.sound is not None


def test_a_decoder_that_reads_no_tokens_needs_no_target() -> None:
    subject = load(make_detr())
    recording = subject.record({"pixel_values": torch.randn(1, 3, 64, 64)})
    assert recording.map("decoder", "cross").shape == (4, 5, 4)
    assert (recording.output.stack, len(recording.output.ids)) == ("decoder", 5)
    with pytest.raises(InputError, match=r"reads no text.*pixel_values"):
        subject.record([5, 6])
