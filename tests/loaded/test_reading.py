"""What `record` reads: texts, token ids in every form, and the output of tokenizers."""

from typing import Any

import numpy as np
import pytest
import torch

import glassformer as gf
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.recorders.record import record
from glassformer.recording import Recording
from glassformer.text.builders import build_words
from glassformer.weights.checkpoint import adopt
from live_models import TOKENIZER, make
from our_networks import ENGLISH, TEXT, WORDS, build
from tolerances import assert_near

SENTENCE = "the animal was tired"


IDS = list(TOKENIZER.encode(SENTENCE).ids)


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
    same(gf.record(model, FORMS[form]), gf.record(model, SENTENCE))


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
        assert_near(one.weights(), other.weights(), layers=len(plain.maps))
    with pytest.raises(AssertionError, match="apart"):  # without segments other weights
        assert_near(recordings[0].maps[0].weights(), plain.maps[0].weights(), layers=len(plain.maps))


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


def test_ids_need_no_tokenizer() -> None:
    recording = record(build(), [5, 6, 7], [8, 9])
    assert recording.source.texts == ("5", "6", "7")
    assert recording.target is not None
    assert recording.target.texts == ("2", "8", "9")
    assert recording.model == "Transformer"
    with pytest.raises(InputError, match="without a tokenizer"):
        record(build(), TEXT)
    for read_before in ([5, 6], WORDS.encode(TEXT)):
        with pytest.raises(InputError, match="give both as text"):
            record(build(shape="encoder"), read_before, second_text="x")


def test_a_language_is_named_in_front() -> None:
    recording = load(build(), WORDS).record(TEXT, "le chat", target_language="fr")
    assert recording.source.texts[:2] == (">>fr<<", "the")
    assert recording.source.special[:2].tolist() == [True, False]
    assert recording.source.offsets is not None
    assert recording.source.offsets[1].tolist() == [0, 3]
    with pytest.raises(InputError, match="no token for the language 'de'"):
        load(build(), WORDS).record(TEXT, target_language="de")
    with pytest.raises(InputError, match="leave `source_language` out"):
        load(build(), WORDS).record(TEXT, source_language="en")


def test_a_tokenizer_of_another_size_is_noted() -> None:
    network = build(shape="decoder")
    assert load(network, WORDS).record(TEXT).evidence.notes == ()
    [note] = load(network, build_words(["cat", "dog"])).record("the cat").evidence.notes
    assert f"the model {WORDS.size}: it may belong to another model" in str(note)
    [note] = load(network, build_words([*ENGLISH, *"abcdefgh"])).record("the cat").evidence.notes
    assert "it may belong to another model" in str(note)
    assert load(network).record([5, 6]).evidence.notes == ()


@pytest.mark.parametrize("text", ["", "   ", "</s>"])
def test_an_empty_text_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="The text is empty"):
        load(build(), WORDS).record(text)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (None, "of type NoneType"),
        (7, "of type int"),
        (b"cat", "of type bytes"),
        ({"ids": [1]}, "The inputs are named ids; expected `input_ids`"),
        (["cat"], "Among the token ids is 'cat'"),
        ([1.5], r"Among the token ids is '1\.5'"),
        ([True], "Among the token ids is 'True'"),
        (torch.tensor([[5, 6], [7, 8]]), "There are 2 rows of token ids"),
        ([-1], "Token id -1 is not in any vocabulary"),
        ([2**70], "is not in any vocabulary"),
    ],
)
def test_what_is_neither_text_nor_ids_is_said(inputs: Any, message: str) -> None:
    for subject in (load(build(shape="decoder"), WORDS), load(build(shape="decoder"))):
        with pytest.raises(InputError, match=message):
            subject.record(inputs)


def test_ids_may_be_an_array_and_special() -> None:
    subject = load(build(shape="decoder"), WORDS)
    for ids in ((5, 6), np.array([5, 6]), torch.tensor([5, 6])):
        assert subject.record(ids).source.ids.tolist() == [5, 6]
    end = WORDS.roles["end"]
    assert subject.record([end]).source.ids.tolist() == [end]  # who gives ids means these
