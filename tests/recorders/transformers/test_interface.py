"""Calls captured through the attention interface, also with several threads."""

import threading
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from torch import Tensor
from transformers.models.gpt2 import modeling_gpt2

from glassformer.loaded.opening import load
from glassformer.recorders import maps
from glassformer.recorders.many import record_many
from glassformer.recorders.record import find_recorder
from glassformer.recorders.statistics import softmax_rows
from glassformer.recorders.transformers import interface
from glassformer.recorders.transformers.inputs import CHECKED
from glassformer.recorders.transformers.interface import NAMES
from glassformer.recording import Recording
from their_models import ids_of, make_bert, make_gpt2, make_llama
from tolerances import assert_near


def test_two_threads_do_not_mix() -> None:
    models = [make_gpt2(), make_gpt2(n_layer=3)]
    alone = [load(model).record(ids_of(12, seed)) for seed, model in enumerate(models)]
    subjects = [load(model) for model in models]
    subjects.append(subjects[0])  # and one model recorded twice at once
    results: dict[tuple[int, int], Recording] = {}
    barrier = threading.Barrier(len(subjects))

    def work(number: int) -> None:
        barrier.wait()
        for turn in range(5):
            results[number, turn] = subjects[number].record(ids_of(12, number % 2))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(subjects))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 15
    for (number, _), recording in results.items():
        for ours, expected in zip(recording.maps, alone[number % 2].maps, strict=True):
            assert np.array_equal(ours.dense, expected.dense)
    assert not set(NAMES.values()) & set(hf.AttentionInterface._global_mapping)


def test_another_thread_that_only_runs_the_model_is_not_recorded() -> None:
    model = make_gpt2()
    ids = torch.tensor([ids_of(10)])
    with torch.no_grad():
        expected = model(ids).logits
    seen: list[Any] = []
    results: list[Tensor] = []

    def run() -> None:
        with torch.no_grad():
            results.append(model(ids).logits)

    subject = load(model)
    for kernel in ("exact", "fast"):
        capture = interface.Capture(find_recorder(subject).stacks, kernel, seen.append)  # type: ignore
        with interface.capturing(model, capture):
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
    assert not seen
    assert len(results) == 2
    for each in results:
        assert_near(each, expected, layers=2)


def test_another_thread_does_not_disturb_the_numbers_of_layers() -> None:
    model = make_gpt2()
    ids = torch.tensor([ids_of(10)])
    layers: list[int] = []

    def receive(call: Any) -> None:
        layers.append(call.place.layer)
        if len(layers) == 1:  # between two layers, somebody else runs the model
            thread = threading.Thread(target=model, args=(ids,))
            thread.start()
            thread.join()

    capture = interface.Capture(find_recorder(load(model)).stacks, "exact", receive)
    with interface.capturing(model, capture):
        model(ids)
    assert layers == [0, 1]


def test_without_a_mask_function_of_its_own_the_self_check_would_notice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # transformers then drops the mask: a decoder sees the future, and nothing is said.
    monkeypatch.setattr(hf.masking_utils.AttentionMaskInterface, "register", lambda *_: None)
    subject = load(make_gpt2())
    recording = subject.record(ids_of(10))
    assert str(recording.evidence.kernel) == "eager, as the model reports it"
    assert any("weights differed by" in str(note) for note in recording.evidence.notes)
    assert all(not np.triu(each.weights(0), 1).any() for each in recording.maps)


def test_an_argument_that_nobody_knows_is_not_verified() -> None:
    model = make_llama()
    layer = model.model.layers[0].self_attn
    forward = layer.forward

    def with_word(*places: Any, **words: Any) -> Any:
        return forward(*places, **words, novelty=3)

    layer.forward = with_word
    subject = load(model)
    assert "not verified: attention got the argument 'novelty', which is not known here" in map(
        str, subject.record(ids_of(9)).evidence.notes
    )
    assert subject.record(ids_of(9), kernel="fast").evidence.exact is False


@pytest.mark.numeric
@pytest.mark.parametrize("make", [make_gpt2, make_llama, make_bert])
def test_usual_attention_is_computed_here_to_the_last_bit(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    formed: list[Any] = []

    def form(*given: Any) -> Any:
        formed.append(given)
        return softmax_rows.form_weights(*given)

    monkeypatch.setattr(maps, "form_weights", form)
    model, ids = make(), ids_of(64)
    recording = load(model).record(ids, want=("weights", "logits"))
    assert len(formed) == len(recording.maps) > 0
    model.set_attn_implementation("eager")
    with torch.no_grad():
        expected = model(torch.tensor([ids]), output_attentions=True)
    for ours, theirs in zip(recording.maps, expected.attentions, strict=True):
        assert np.array_equal(ours.dense, theirs[0].numpy())
    if "logits" in expected:
        assert np.array_equal(recording.output.logits.squeeze(), expected.logits[0].numpy())


@pytest.mark.numeric
def test_a_model_is_given_the_weights_of_each_text_of_a_batch() -> None:
    model, texts = make_gpt2(), [ids_of(64, 0), ids_of(64, 1)]
    seen: list[Tensor | None] = []
    for block in model.transformer.h:
        block.attn.register_forward_hook(lambda _, __, output: seen.append(output[1]))
    assert len(list(record_many(model, texts))) == len(texts)
    together = [each for each in seen if each is None or len(each) == len(texts)][-len(model.transformer.h) :]
    model.set_attn_implementation("eager")
    with torch.no_grad():
        expected = model(torch.tensor(texts), output_attentions=True).attentions
    for ours, theirs in zip(together, expected, strict=True):
        assert ours is not None
        assert_near(ours, theirs, layers=2)


def test_attention_of_another_kind_is_left_to_its_own_function(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = modeling_gpt2.eager_attention_forward

    def lengthy(module: Any, query: Any, *given: Any, **words: Any) -> Any:
        output, weights = usual(module, query, *given, **words)
        return (output * 2 if query.shape[2] > CHECKED else output), weights

    def early(
        module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: Any, **_: Any
    ) -> Any:
        weights = torch.matmul(query * scaling, key.transpose(2, 3)) + attention_mask
        weights = torch.nn.functional.softmax(weights, dim=-1)
        return torch.matmul(weights, value).transpose(1, 2), weights

    def refuse(*_: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(maps, "form_weights", refuse)
    for other in (lengthy, early):  # other than usual in long texts only; other by its rounding only
        monkeypatch.setattr(modeling_gpt2, "eager_attention_forward", other)
        recording = load(make_gpt2(n_embd=48, n_head=4)).record(ids_of(64))
        assert recording.evidence.largest_error == 0
