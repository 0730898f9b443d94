"""What `record` reads: texts, token ids in every form, and the output of tokenizers."""

from typing import Any

import numpy as np
import pytest
import torch

import glassformer as gf
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.recording import Recording
from glassformer.weights.checkpoint import adopt
from live_models import TOKENIZER, make

TEXT = "the animal was tired"
IDS = list(TOKENIZER.encode(TEXT).ids)
MODELS = {
    "native": lambda: load(adopt(make("GPT2LMHeadModel")), TOKENIZER),
    "transformers": lambda: load(make("GPT2LMHeadModel"), TOKENIZER),
}
FORMS: dict[str, Any] = {
    "list": IDS,
    "tuple": tuple(IDS),
    "array": np.array(IDS),
    "tensor": torch.tensor(IDS),
    "rows": [IDS],
    "one-row array": np.array([IDS]),
    "one-row tensor": torch.tensor([IDS]),
    "mapping": {"input_ids": IDS},
    "tokenizer's lists": {"input_ids": IDS, "attention_mask": [1] * len(IDS)},
    "tokenizer's tensors": {
        "input_ids": torch.tensor([IDS]),
        "attention_mask": torch.ones(1, len(IDS), dtype=torch.long),
    },
}


def same(one: Recording, other: Recording) -> None:
    assert one.source.ids.tolist() == other.source.ids.tolist()
    assert one.source.texts == other.source.texts
    for first, second in zip(one.maps, other.maps, strict=True):
        np.testing.assert_array_equal(first.weights(), second.weights())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("library", MODELS)
def test_every_form_of_token_ids_is_read(library: str, form: str) -> None:
    model = MODELS[library]()
    same(gf.record(model, FORMS[form]), gf.record(model, TEXT))


def test_segments_come_with_a_mapping() -> None:
    network = make("BertModel")
    segments = [0, 0, 1, 1, 1]
    ids = [5, 6, 7, 8, 9]
    recordings = [
        gf.record(model, {"input_ids": ids, "token_type_ids": segments})
        for model in (network, adopt(network))
    ]
    plain = gf.record(network, ids)
    for one, other in zip(recordings[0].maps, recordings[1].maps, strict=True):
        assert np.abs(one.weights() - other.weights()).max() < 1e-5
    assert np.abs(recordings[0].maps[0].weights() - plain.maps[0].weights()).max() > 1e-4


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ([IDS, IDS], "loaded.reading.several_rows"),
        ({"ids": IDS}, "loaded.reading.no_input_ids"),
        ({"input_ids": IDS, "pixel_values": IDS}, "loaded.reading.unknown_input"),
        ({"input_ids": IDS, "attention_mask": [1, 1]}, "loaded.reading.unequal_lengths"),
        ({"input_ids": IDS, "attention_mask": [0, *[1] * (len(IDS) - 1)]}, "loaded.reading.masked_tokens"),
        (3.5, "loaded.reading.not_a_text"),
        ([1.5], "loaded.reading.not_an_id"),
        ([-1], "loaded.reading.impossible_id"),
        ("", "loaded.reading.empty_text"),
    ],
)
def test_what_cannot_be_read_is_refused(inputs: Any, code: str) -> None:
    with pytest.raises(InputError) as error:
        MODELS["native"]().record(inputs)
    assert error.value.message.code == code


def test_without_a_tokenizer_there_is_no_text() -> None:
    with pytest.raises(InputError) as error:
        load(make("GPT2LMHeadModel")).record("the animal")
    assert error.value.message.code == "loaded.cannot.reads_text"
