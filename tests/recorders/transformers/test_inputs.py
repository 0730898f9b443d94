"""Texts, ids, pictures and sound as inputs of a model of transformers."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from their_models import (
    BOTH,
    SMALL,
    TEXT,
    eager_maps,
    ids_of,
    make_bart,
    make_bert,
    make_gpt2,
    make_llama,
    sharpen,
)


def test_a_text_brings_its_tokens(tokenizer: Any) -> None:
    model = make_bert(num_labels=3, id2label={0: "bad", 1: "so so", 2: "good"})
    subject = load(model, tokenizer, name="critic")
    assert isinstance(subject, LoadedModel)
    recording = subject.record(TEXT, want=("weights", "hidden", "output"))
    assert recording.model == "critic"
    assert recording.source.texts == ("[CLS]", *TEXT.split(), "[SEP]")
    assert recording.source.special.tolist() == [True] + [False] * 10 + [True]
    assert TEXT[slice(*recording.source.offsets[2])] == "cat"
    assert recording.maps[0].query is recording.source
    assert set(recording.output.vocabulary.values()) == {"bad", "so so", "good"}
    assert recording.hidden["encoder"].shape == (4, 12, 32)
    assert str(recording.evidence.reference) == "eager output_attentions"
    assert recording.evidence.largest_error == 0.0
    assert recording.evidence.versions["transformers"] == hf.__version__


def test_a_second_text_is_another_segment(tokenizer: Any) -> None:
    subject = load(make_bert(), tokenizer)
    pair = subject.record("the cat", second_text="a dog", want=("weights",))
    reported = eager_maps(
        subject.network,
        input_ids=torch.tensor([[1, 5, 6, 2, 9, 12, 2]]),
        token_type_ids=torch.tensor([[0, 0, 0, 0, 1, 1, 1]]),
    )
    assert np.array_equal(pair.maps[2].dense, reported.attentions[2][0].numpy())


def test_a_target_is_read_behind_the_start_token(tokenizer: Any) -> None:
    subject = load(make_bart(), tokenizer)
    recording = subject.record("the cat sat", "a dog saw", want=("weights", "output", "hidden"))
    assert recording.target.texts == ("[SEP]", "a", "dog", "saw")  # the configuration starts with id 2
    assert recording.map("decoder", "cross", 1).key is recording.source
    assert recording.output.ids.shape[0] == 4
    assert {stack: states.shape for stack, states in recording.hidden.items()} == {
        "encoder": (3, 5, 32), "decoder": (4, 4, 32),
    }  # fmt: skip


def test_sound_is_counted_in_seconds() -> None:
    torch.manual_seed(0)
    config = hf.WhisperConfig(**BOTH, num_mel_bins=20, max_source_positions=30, max_target_positions=40)
    model = sharpen(hf.WhisperForConditionalGeneration(config))
    inputs = {"input_features": torch.randn(1, 20, 60), "decoder_input_ids": torch.tensor([[2, 7, 8]])}
    recording = load(model).record(inputs)
    assert recording.source.texts[:2] == ("0.00", "0.02")  # Whisper's frames are of 20 ms
    assert recording.map("decoder", "cross", 0).shape == (4, 3, 30)
    assert recording.target.ids.tolist() == [2, 7, 8]


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="65 tokens, but GPT2LMHeadModel has positions for 64"):
        load(make_gpt2()).record(ids_of(65))
    torch.manual_seed(0)
    model = hf.RobertaModel(hf.RobertaConfig(**SMALL | {"max_position_embeddings": 20, "pad_token_id": 1}))
    with pytest.raises(
        InputError, match=r"could not look up an embedding.*more tokens than the model has positions"
    ):  # two of its positions are never used
        load(model).record(ids_of(20))


def test_a_rotary_model_reads_on_and_says_so() -> None:
    recording = load(make_llama(max_position_embeddings=8)).record(ids_of(12))
    assert "the text has 12 tokens, and the model was made for 8" in map(str, recording.evidence.notes)


def test_a_foreign_tokenizer_is_refused(tokenizer: Any) -> None:
    with pytest.raises(InputError, match=r"Token id 10 is not in the vocabulary.*Does this tokenizer belong"):
        load(make_bert(vocab_size=10), tokenizer).record("the mat")
    [note] = load(make_bert(vocab_size=40), tokenizer).record("the mat").evidence.notes
    assert str(note) == "the tokenizer has 14 tokens and the model 40: it may belong to another model"
    assert load(make_bert(vocab_size=15), tokenizer).record("the mat").evidence.notes == ()


@pytest.mark.parametrize(
    ("inputs", "words", "message"),
    [
        ("the cat", {}, "was loaded without a tokenizer"),
        ([], {}, "The text is empty"),
        ([7], {"target": [8]}, "has one stack and no target side"),
        ([7], {"source_language": "de"}, "leave `source_language` out"),
        ([7], {"edits": ["cut"]}, "'cut' is not an edit; use AblateHead"),
        ({"input_ids": "seven"}, {}, "is a str; give a tensor"),
        ({"input_ids": torch.tensor([[7], [8]])}, {}, "Give a batch of one"),
        ({"input_ids": torch.tensor([[7]])}, {"second_text": "no"}, "A mapping holds all"),
        ({"inputs_embeds": torch.full((1, 2, 32), torch.nan)}, {}, "holds NaN or infinity"),
        ({}, {}, r"takes none of the inputs \(\); name them .* as input_ids"),
        ({"ids": torch.tensor([[7]])}, {}, r"takes none of the inputs \(ids\)"),
        (
            {"input_ids": torch.tensor([[7, 8]]), "attention_mask": torch.tensor([[1]])},
            {},
            "has 1 numbers, and there are 2",
        ),
        ({"input_ids": torch.tensor([[7]]), "attention_mask": torch.tensor([[0]])}, {}, "hides every token"),
        ([7], {"decode": "greedy"}, "'greedy' does not say how to generate; give GenerationSettings"),
    ],
)
def test_bad_requests_are_said_in_a_sentence(inputs: Any, words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(make_gpt2()).record(inputs, **words)
