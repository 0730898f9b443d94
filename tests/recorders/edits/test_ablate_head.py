"""An ablated head is compared with one whose output is replaced by hand, in the model itself."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from torch import Tensor

import glassformer
from edited_models import (
    CROSSING,
    EVERYTHING,
    KINDS,
    SOURCE,
    changing_heads,
    differs,
    find_projection,
    make_subject,
    same_output,
    sharpen,
)
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.edits import AblateHead
from glassformer.recorders.edits.reference_texts import CHINESE, ENGLISH
from tolerances import assert_near

HEAD = 2
TEXTS = ([5, 6, 7], [9, 8, 7, 6, 5], [12, 13])
OTHER = [12, 5, 13, 9, 7, 6]  # as many tokens as SOURCE
HOWS = ("zero", "uniform", "mean", "resample")


def ablate(attention: Any, how: Any) -> AblateHead:
    references = {"mean": TEXTS, "resample": (OTHER,)}
    return AblateHead("decoder", attention, 1, HEAD, how, references.get(how, ()))


def read_head(subject: Any, reads: Any, attention: str) -> Tensor:
    """What the head gives (token, width), read by a hook on what the projection is given."""
    with changing_heads(find_projection(subject, "decoder", attention, 1), None) as seen:
        subject.record(*reads)
    return seen[-1][:, HEAD]


def find_output(subject: Any, reads: Any, attention: str, how: str) -> Any:
    """What the head is expected to give, by definition."""
    if how == "zero":
        return 0.0
    if how == "resample":
        return read_head(subject, (OTHER, *reads[1:]), attention)
    if how == "mean":
        texts: list[Any] = [(each,) for each in TEXTS]
        if len(reads) > 1:  # a decoder reads what the model writes
            texts = [(each, subject.record(each).target.ids.tolist()[1:]) for each in TEXTS]
        return torch.cat([read_head(subject, each, attention) for each in texts]).mean(dim=0)
    plain = subject.record(*reads, want=("weights", "values")).map("decoder", attention, 1)
    seen = np.tril(np.ones(plain.dense.shape[1:])) if attention == "self" else np.ones(plain.dense.shape[1:])
    return torch.from_numpy((seen / seen.sum(-1, keepdims=True)).astype(np.float32) @ plain.values[HEAD])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("attention", ["self", "cross"])
def test_an_ablated_head_gives_what_its_definition_says(kind: str, how: str, attention: str) -> None:
    if attention == "cross" and kind not in CROSSING:
        return
    subject, reads = make_subject(kind)
    expected = find_output(subject, reads, attention, how)

    def change(heads: Tensor) -> Tensor:
        heads[:, :, HEAD] = expected
        return heads

    edit = ablate(attention, how)
    plain = subject.record(*reads, want=EVERYTHING)
    edited = subject.record(*reads, want=EVERYTHING, edits=[edit])
    with changing_heads(find_projection(subject, "decoder", attention, 1), change):
        by_hand = subject.record(*reads, want=EVERYTHING)
    same_output(edited, by_hand)
    differs(edited, plain)
    found, before = edited.map("decoder", attention, 1), plain.map("decoder", attention, 1)
    others = [0, 1, 3]
    assert_near(found.dense[others], before.dense[others])
    if how in ("mean", "resample"):  # the head looks where it did; what it gives is replaced
        assert_near(found.dense[HEAD], before.dense[HEAD])
    assert tuple(map(str, edited.evidence.edits)) == (str(edit),)
    assert (found.relaxed is None) == (how != "zero")
    assert all(each.relaxed is None for each in edited.maps if each is not found)
    assert plain.evidence.edits == ()


@pytest.mark.parametrize("kind", ["GPT-2", "our decoder"])
@pytest.mark.parametrize("how", HOWS)
def test_no_ablation_lets_a_decoder_look_ahead(kind: str, how: str) -> None:
    """What comes after a token changes nothing before it, whatever happens to a head."""
    subject, _ = make_subject(kind)
    one, other = (
        subject.record([*SOURCE[:4], *rest], want=EVERYTHING, edits=[ablate("self", how)])
        for rest in ([8, 12], [14, 5])
    )
    assert_near(one.hidden["decoder"][:, :4], other.hidden["decoder"][:, :4], layers=2)
    assert np.abs(one.hidden["decoder"][-1, 4] - other.hidden["decoder"][-1, 4]).max() > 1e-3


def test_every_key_that_may_be_seen_gets_the_same_weight() -> None:
    for kind in KINDS:
        subject, reads = make_subject(kind)
        edited = subject.record(*reads, edits=[ablate("self", "uniform")])
        weights = edited.map("decoder", "self", 1).dense[HEAD]
        rows = np.tril(np.ones_like(weights))
        assert_near(weights, rows / rows.sum(-1, keepdims=True))


@pytest.mark.slow
def test_a_mean_is_over_shipped_sentences_where_no_texts_are_given() -> None:
    edit = AblateHead("encoder", "self", 1, 0, "mean")
    for text, sentences, name in (("A cat.", ENGLISH, "English"), ("一只猫。", CHINESE, "Chinese")):
        usual = glassformer.record("zoo/bert", text, edits=[edit])
        given = AblateHead("encoder", "self", 1, 0, "mean", sentences)
        same_output(usual, glassformer.record("zoo/bert", text, edits=[given]))
        said = f"mean over the {len(sentences)} {name} reference sentences of Glassformer"
        assert said in str(usual.evidence.edits[0])


def test_bert_of_transformers_is_ablated_as_by_a_hook() -> None:
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 32}
    model = sharpen(hf.BertModel(hf.BertConfig(vocab_size=30, **shape)))
    dense = model.encoder.layer[1].attention.output.dense

    def run(ids: list[int], output: Tensor | None = None) -> tuple[Tensor, Tensor]:
        with torch.no_grad(), changing_heads(dense, None if output is None else put) as seen:
            return model(torch.tensor([ids])).last_hidden_state[0], seen[0][:, 3]

    mean = torch.cat([run(list(text))[1] for text in TEXTS]).mean(dim=0)

    def put(heads: Tensor) -> Tensor:
        heads[:, :, 3] = mean
        return heads

    edit = AblateHead("encoder", "self", 1, 3, "mean", TEXTS)
    edited = load(model).record(SOURCE, want=("hidden",), edits=[edit])
    assert_near(edited.hidden["encoder"][-1], run(SOURCE, mean)[0].numpy(), layers=2)


@pytest.mark.slow
def test_a_head_of_a_model_that_writes_is_ablated_by_the_mean_or_not_at_all() -> None:
    for kind in KINDS:
        subject, reads = make_subject(kind)
        settings = GenerationSettings(max_new_tokens=3, min_new_tokens=3)
        edited = subject.record(reads[0], decode=settings, edits=[ablate("self", "mean")], want=EVERYTHING)
        tokens = edited.target or edited.source
        given = [tokens.ids.tolist()] if edited.target is None else [reads[0], tokens.ids.tolist()[1:]]
        same_output(edited, subject.record(*given, edits=[ablate("self", "mean")], want=EVERYTHING))
        with pytest.raises(InputError) as error:
            subject.record(reads[0], decode=settings, edits=[ablate("self", "resample")])
        assert error.value.message.code == "recorders.edits.needs_whole_text"


def test_a_reference_of_another_length_cannot_be_resampled() -> None:
    for kind in ("GPT-2", "our decoder"):
        subject, reads = make_subject(kind)
        with pytest.raises(InputError) as error:
            subject.record(*reads, edits=[AblateHead("decoder", "self", 1, 0, "resample", [[7, 8, 9]])])
        assert error.value.message.code == "recorders.edits.other_length"
        assert (error.value.message.parameters["seen"], error.value.message.parameters["wanted"]) == (3, 6)


def test_a_model_that_reads_no_text_says_so() -> None:
    subject, reads = make_subject("GPT-2")  # has no tokenizer
    with pytest.raises(InputError) as error:
        subject.record(*reads, edits=[AblateHead("decoder", "self", 1, 0, "mean")])
    assert error.value.message.code == "loaded.cannot.reads_text"


@pytest.mark.parametrize(
    ("how", "reference", "code"),
    [
        ("median", (), "unknown_ablation"),
        ("zero", ("It rained.",), "needless_reference"),
        ("resample", (), "one_reference"),
        ("resample", ("One.", "Two."), "one_reference"),
        ("mean", ("",), "bad_text"),
        ("mean", ([-1],), "bad_text"),
        ("mean", 7, "bad_reference"),
    ],
)
def test_a_reference_is_checked_when_it_is_written_down(how: Any, reference: Any, code: str) -> None:
    with pytest.raises(InputError) as error:
        AblateHead("decoder", "self", 0, 0, how, reference)
    assert error.value.message.code == f"recorders.edits.{code}"
