"""Every attention call is found in its stack, kind and layer."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

from glassformer.loaded.opening import load
from glassformer.recorders.transformers import interface
from their_models import BOTH, SMALL, eager_maps, ids_of, make_bart, make_t5, replaced, sharpen


def test_layers_without_a_number_are_counted_by_call() -> None:
    torch.manual_seed(0)
    settings = {"vocab_size": 40, "dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 48}
    model = sharpen(hf.DistilBertModel(hf.DistilBertConfig(**settings)))
    recording = load(model).record(ids_of(9))
    assert [(each.stack, each.layer, each.kind) for each in recording.maps] == [
        ("encoder", layer, "self") for layer in range(3)
    ]


def test_one_module_used_again_and_again_is_as_many_layers() -> None:
    torch.manual_seed(0)
    model = sharpen(hf.AlbertModel(hf.AlbertConfig(**SMALL, embedding_size=16)))
    recording = load(model).record(ids_of(9), want=("weights", "hidden"))
    assert [each.layer for each in recording.maps] == [0, 1, 2]
    assert not np.allclose(recording.maps[0].dense, recording.maps[2].dense)
    assert recording.hidden["encoder"].shape == (4, 9, 32)


def make_bert_to_bert() -> Any:
    torch.manual_seed(0)
    decoder = hf.BertConfig(**SMALL, is_decoder=True, add_cross_attention=True)
    config = hf.EncoderDecoderConfig.from_encoder_decoder_configs(hf.BertConfig(**SMALL), decoder)
    config.decoder_start_token_id = 1
    return sharpen(hf.EncoderDecoderModel(config))


def make_marian() -> Any:
    torch.manual_seed(0)
    return sharpen(hf.MarianMTModel(hf.MarianConfig(**BOTH)))


@pytest.mark.parametrize("make", [make_bart, make_t5, make_bert_to_bert, make_marian])
def test_cross_attention_is_told_from_self_attention_where_lengths_cannot(make: Callable[[], Any]) -> None:
    model = make()
    source, target = ids_of(9), ids_of(8, 1)
    subject = load(model)
    recording = subject.record(source, target)
    read = [subject.start_id, *target]  # nine tokens on both sides
    reported = eager_maps(model, input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([read]))
    for layer, weights in enumerate(reported.cross_attentions):
        each = recording.map("decoder", "cross", layer)
        assert np.array_equal(each.dense, weights[0].numpy())
        assert (each.query.side, each.key.side) == ("target", "source")
    for layer, weights in enumerate(reported.decoder_attentions):
        assert np.array_equal(recording.map("decoder", layer=layer).dense, weights[0].numpy())
    assert recording.target.ids.tolist() == read


def test_no_layer_is_forgotten_where_only_a_part_uses_the_interface() -> None:
    torch.manual_seed(0)
    decoder = hf.GPT2Config(vocab_size=40, n_embd=32, n_layer=2, n_head=4, add_cross_attention=True)
    config = hf.EncoderDecoderConfig.from_encoder_decoder_configs(hf.BertConfig(**SMALL), decoder)
    model = sharpen(hf.EncoderDecoderModel(config))
    layer = model.decoder.transformer.h[1].attn
    eager = interface.find_eager(layer)

    def around(*_: Any, **__: Any) -> Any:  # as if this module did not know the interface
        return eager

    forward = layer.forward

    def own(*places: Any, **words: Any) -> Any:
        with replaced("get_interface", around, hf.models.gpt2.modeling_gpt2.ALL_ATTENTION_FUNCTIONS):
            return forward(*places, **words)

    layer.forward = own
    config.decoder_start_token_id = 1
    recording = load(model).record(ids_of(9), ids_of(6))
    assert str(recording.evidence.kernel) == "eager, as the model reports it"
    assert len([each for each in recording.maps if (each.stack, each.kind) == ("decoder", "self")]) == 2


def test_pictures_and_words_are_stacks_of_their_own() -> None:
    torch.manual_seed(0)
    text = SMALL | {"num_hidden_layers": 2}
    vision = {
        "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48,
        "image_size": 32, "patch_size": 8,
    }  # fmt: skip
    model = hf.CLIPModel(hf.CLIPConfig(text_config=text, vision_config=vision, projection_dim=16))
    ids = torch.tensor([ids_of(17)])  # as many words as patches: only the path tells them apart
    recording = load(model).record({"input_ids": ids, "pixel_values": torch.randn(1, 3, 32, 32)})
    assert [each.layer for each in recording.maps if each.stack == "text"] == [0, 1]
    assert [each.layer for each in recording.maps if each.stack == "vision"] == [0, 1, 2]
    assert recording.map("text").query.ids.tolist() == ids[0].tolist()
    assert recording.map("vision").query.texts[:2] == ("[CLS]", "0,0")
