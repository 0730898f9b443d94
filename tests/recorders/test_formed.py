"""Weights that are formed again: the same bits as in the pass, head by head or all at once, or refused."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from glassformer import bundle
from glassformer.api.cards import estimate_bytes
from glassformer.errors import RecordingError
from glassformer.loaded.opening import load
from glassformer.place import Place
from glassformer.recorders import formed, maps
from glassformer.recorders.formed import FormedLater
from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recorders.statistics.softmax_rows import form_weights
from glassformer.recorders.store import store_temporarily
from glassformer.recording import HeadStatistics, Recording, tile
from their_models import ids_of, make_bert, make_gpt2, make_llama

pytestmark = pytest.mark.numeric
PLACE = Place("decoder", "self", 0)


def form(
    heads: int = 4, key_heads: int = 4, queries: int = 130, keys: int = 130, **words: Any
) -> tuple[Tensor, FormedLater]:
    """Weights of a pass, and the same to be formed again."""
    given = torch.randn(1, queries, heads, 16).transpose(1, 2), torch.randn(1, key_heads, keys, 16)
    scoring = Scoring(0.3, **words)
    weights = given[0] @ given[1].repeat_interleave(heads // key_heads, 1).transpose(2, 3)
    statistics = form_weights(weights[0], scoring, np.ones(queries, bool))
    return weights[0], FormedLater(PLACE, *given, scoring, statistics)


@pytest.mark.parametrize("words", [{}, {"causal": True}, {"key_heads": 2, "causal": True}, {"keys": 700}])
def test_what_is_formed_again_is_what_was_formed(words: dict[str, Any]) -> None:
    weights, later = form(**words)
    assert later.shape == weights.shape
    for head in (3, 0, 0):
        assert np.array_equal(later.read_head(head), weights[head])
    assert np.array_equal(later.read(), weights)
    assert later.read() is later.read()
    assert np.shares_memory(later.read(), later.read_head(1))
    assert not later.read().flags.writeable


def test_a_head_is_formed_alone_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def count(products: Tensor, *given: Any) -> HeadStatistics:
        sizes.append(len(products))
        return form_weights(products, *given)

    monkeypatch.setattr(formed, "form_weights", count)
    _, later = form()
    for head in (2, 2, 1):
        later.read_head(head)
    assert sizes == [1, 1]
    later.read()
    later.read_head(0)
    assert sizes == [1, 1, 4]


def test_what_the_model_changes_later_does_not_matter() -> None:
    queries, keys = torch.randn(1, 2, 100, 8), torch.randn(1, 2, 100, 8)
    weights = queries @ keys.transpose(2, 3)
    statistics = form_weights(weights[0], Scoring(1.0), np.ones(100, bool))
    later = FormedLater(PLACE, queries, keys, Scoring(1.0), statistics)
    queries.zero_()
    keys.zero_()
    assert np.array_equal(later.read(), weights[0])


@pytest.mark.parametrize("name", formed.COMPARED)
def test_what_is_formed_otherwise_is_refused(name: str) -> None:
    _, later = form()
    right = later._statistics
    wrong = getattr(right, name).copy()
    wrong[2, 7] = np.nextafter(wrong[2, 7], wrong.dtype.type(0))  # the last bit of one row
    later._statistics = replace(right, **{name: wrong})
    later.read_head(0)
    for read in (later.read, lambda: later.read_head(2)):
        with pytest.raises(RecordingError, match="not the same to the last bit"):
            read()


def test_a_head_that_is_other_when_it_is_alone_is_taken_from_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def disturb(products: Tensor, *given: Any) -> HeadStatistics:
        found = form_weights(products, *given)
        return replace(found, peak=found.peak / 2) if len(products) == 1 else found

    weights, later = form()
    monkeypatch.setattr(formed, "form_weights", disturb)
    assert np.array_equal(later.read_head(1), weights[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_waits_for_no_threads() -> None:
    weights, later = form(heads=8, queries=500, keys=500)
    expected = weights.numpy()
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(later.read(), expected) and torch.get_num_threads() == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def record(model: Any, **words: Any) -> Recording:
    return load(model).record(ids_of(64), want=("weights", "logits"), **words)


@pytest.mark.parametrize("make", [make_gpt2, make_llama, make_bert])
def test_a_recording_that_leaves_weights_for_later_is_that_which_kept_them(
    make: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model = make()
    kept = record(model)
    monkeypatch.setattr(maps, "FORMED_AGAIN", 64)
    later = record(model)
    stored = record(model, keep=store_temporarily)
    assert all(isinstance(each.peek("dense"), FormedLater) for each in later.maps)
    assert all(isinstance(each.peek("dense"), np.ndarray) for each in (*kept.maps, *stored.maps))
    model.set_attn_implementation("eager")
    with torch.no_grad():
        expected = model(torch.tensor([ids_of(64)]), output_attentions=True).attentions
    for ours, other, theirs in zip(later.maps, kept.maps, expected, strict=True):
        assert repr(ours) == repr(other)
        assert ours.has_weights
        assert np.array_equal(ours.weights(1, slice(3, 9), slice(0, 5)), theirs[0, 1, 3:9, :5])
        assert np.array_equal(tile(ours, 1, 1, 0, 0), tile(other, 1, 1, 0, 0))
        assert np.array_equal(ours.dense, theirs[0])
        assert np.array_equal(ours.weights(), other.weights())
        assert not ours.dense.flags.writeable
    if later.output is not None:
        assert np.array_equal(later.output.logits, kept.output.logits)
    again = record(model)
    for name, each in {"kept": kept, "later": again}.items():
        each.save(tmp_path / name)
    for ours, other in zip(bundle.open(tmp_path / "later").maps, kept.maps, strict=True):
        assert np.array_equal(ours.dense, other.dense)
    assert (tmp_path / "later").stat().st_size == (tmp_path / "kept").stat().st_size


def test_what_weights_are_formed_from_counts_as_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server closes recordings by what they take: of these it would keep any number."""
    monkeypatch.setattr(maps, "FORMED_AGAIN", 64)
    found = record(make_gpt2())
    parts = [each.peek("dense") for each in found.maps]
    queries, keys = parts[0]._queries, parts[0]._keys
    assert [each.memory for each in parts] == [queries.nbytes + keys.nbytes] * len(parts)
    before = estimate_bytes(found)
    parts[0].read()
    assert estimate_bytes(found) - before == parts[0].read().nbytes
    monkeypatch.setattr(FormedLater, "memory", 0)
    assert before - estimate_bytes(found) == len(parts) * (queries.nbytes + keys.nbytes)


def test_weights_that_are_not_the_same_here_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another library of matrix products may give other bits for another layout: nobody could read them."""
    model = make_gpt2()
    kept = record(model)
    monkeypatch.setattr(maps, "FORMED_AGAIN", 64)

    def disturb(products: Tensor, *given: Any) -> HeadStatistics:
        found = form_weights(products, *given)
        return replace(found, peak=found.peak / 2)

    monkeypatch.setattr(formed, "form_weights", disturb)
    found = record(model)
    for ours, other in zip(found.maps, kept.maps, strict=True):
        assert isinstance(ours.peek("dense"), np.ndarray)
        assert np.array_equal(ours.weights(), other.weights())


def test_statistics_with_other_things_form_no_weights_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "FORMED_AGAIN", 64)
    found = load(make_gpt2()).record(ids_of(64), want=("output",), kernel="exact")
    assert not any(each.has_weights for each in found.maps)


def test_a_model_that_has_only_eager_attention_is_given_its_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "FORMED_AGAIN", 64)
    model = make_gpt2()
    monkeypatch.setattr(type(model), "_supports_sdpa", False)
    assert all(isinstance(each.peek("dense"), np.ndarray) for each in record(model).maps)
