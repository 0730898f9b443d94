"""Positions that are not text: named once, watched only where something is to be seen or heard."""

import numpy as np
import torch
import transformers as hf

from glassformer.loaded.opening import load
from glassformer.recorders.transformers.media import MediaNames
from glassformer.recording import Tokens

SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


def make(inputs: dict[str, torch.Tensor]) -> MediaNames:
    torch.manual_seed(0)
    model = hf.ViTModel(hf.ViTConfig(**SIZES, image_size=16, patch_size=8)).eval()
    return MediaNames(load(model), inputs, None)


def count_hooks(names: MediaNames) -> int:
    return sum(len(module._forward_hooks) for module in names.patches.model.modules())


def test_a_text_is_not_watched() -> None:
    for inputs, hooks in (({"input_ids": torch.ones(1, 3)}, 0), ({"pixel_values": torch.ones(1)}, 1)):
        names = make(inputs)
        with names.watching():
            assert count_hooks(names) == hooks
        assert count_hooks(names) == 0


def test_names_are_made_once_and_numbers_are_told() -> None:
    pixels = torch.rand(1, 3, 16, 16)
    names = make({"pixel_values": pixels})
    with names.watching(), torch.no_grad():
        names.patches.model(pixel_values=pixels)
    assert names.name("layers", 5) is names.name("layers", 5)
    assert names.name("layers", 5).picture is not None
    assert names.tell() == []
    assert names.name("other", 3).texts == ("0", "1", "2")
    (note,) = names.tell()
    assert (note.code, note.parameters["stacks"]) == ("recorders.notes.numbered", ("other",))


def test_a_text_without_places_stays_as_it_is() -> None:
    names = make({})
    text = Tokens("source", ["a", "b"], np.array([1, 2]))
    assert names.place(text) is text
