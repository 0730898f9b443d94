"""Masked language modelling: the right share hidden in the right way, two texts told apart, gaps filled."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from glassformer.errors import ConfigurationError, InputError
from glassformer.loaded.native import NativeModel
from glassformer.model.loss import IGNORED
from glassformer.model.transformer import Transformer
from glassformer.tasks.masked_language_modelling import fill
from glassformer.tasks.task import TaskModule

School: TypeAlias = Any  # the fixture of conftest.py


@pytest.fixture
def text(school: School, tmp_path: Path) -> dict[str, Any]:
    """A table for a text that is the same in every split."""
    for split in ("train", "dev"):
        lines = "".join(f"{one}. {two}.\n" for one, two in school.PAIRS)
        (tmp_path / f"{split}.txt").write_text(lines * 6, encoding="utf-8")
    path = {"folder": str(tmp_path), "path": "{split}.txt"}
    return {"name": "masked_language_modelling", **path, "context": 32, "documents": "line"}


def test_fifteen_of_a_hundred_are_hidden_in_three_ways(school: School, text: dict[str, Any]) -> None:
    task = school.make_task(text)
    roles = task.tokenizer.roles
    plain = task.examples("train")
    batches = [task.collate("train", range(len(plain.lengths)), epoch) for epoch in range(12)]
    ids = torch.cat([batch.ids for batch in batches])
    labels = torch.cat([batch.labels for batch in batches])
    guessed = labels != IGNORED
    ordinary = torch.from_numpy(task.is_ordinary(torch.where(guessed, labels, ids).numpy()))
    assert not (guessed & ~ordinary).any()  # no special token is ever asked for
    assert guessed.any(dim=1).all()
    assert guessed.sum() / ordinary.sum() == pytest.approx(0.15, abs=0.01)
    masked = (ids == roles["mask"])[guessed].double().mean()
    same = (ids == labels)[guessed].double().mean()
    assert masked == pytest.approx(0.8, abs=0.03)
    assert same == pytest.approx(0.1, abs=0.03)
    assert not (ids == roles["mask"])[~guessed].any()
    assert (ids[:, 0] == roles["class"]).all()
    assert (ids[:, -1] == roles["separator"]).all()
    places = torch.cat([batch.places + number * batch.labels.numel() for number, batch in enumerate(batches)])
    assert places.tolist() == guessed.flatten().nonzero().squeeze(1).tolist()
    assert sum(batch.count for batch in batches) == len(places)


def test_some_windows_are_short_and_padded(school: School, text: dict[str, Any]) -> None:
    batch = school.make_task(text | {"short": 0.5}).collate("train", range(30))
    assert batch.real is not None
    lengths = batch.real.sum(dim=1)
    assert 5 < int((lengths < 32).sum()) < 25
    assert lengths.min() >= 4
    assert int(batch.real.sum()) == batch.tokens
    assert (batch.labels[~batch.real] == IGNORED).all()


@pytest.mark.parametrize("relation", ["next-sentence", "sentence-order"])
def test_two_texts_follow_one_another_or_do_not(school: School, text: dict[str, Any], relation: str) -> None:
    task = school.make_task(text | {"relation": relation, "share": 0.01})
    windows: Any = task.examples("train")
    batch = task.collate("train", range(60))
    shift = windows.draw_shift(task.seed, 0)
    assert batch.relation is not None
    assert batch.segments is not None
    assert 15 < int(batch.relation.sum()) < 45
    separator = task.tokenizer.roles["separator"]
    whole = torch.where(batch.labels == IGNORED, batch.ids, batch.labels)
    for index, broken in enumerate(batch.relation.tolist()):
        row = whole[index].numpy()
        cut = int((batch.segments[index] == 0).sum())
        assert row[cut - 1] == row[-1] == separator
        first, second = row[1 : cut - 1], row[cut:-1]
        assert min(len(first), len(second)) >= 7  # the cut is in the middle half
        plain = windows.take(index, shift)
        if not broken:
            assert np.concatenate((first, second)).tolist() == plain.tolist()
        elif relation == "sentence-order":
            assert np.concatenate((second, first)).tolist() == plain.tolist()
        else:
            assert first.tolist() == plain[: len(first)].tolist()


def test_some_windows_are_one_text(school: School, text: dict[str, Any]) -> None:
    task = school.make_task(text | {"relation": "next-sentence", "share": 0.01, "paired": 0.25})
    windows: Any = task.examples("train")
    batch = task.collate("train", range(60))
    assert batch.relation is not None
    assert batch.segments is not None
    single = batch.relation == IGNORED
    assert 35 < int(single.sum()) < 55
    assert not batch.segments[single].any()
    assert batch.segments[~single].any(dim=1).all()
    whole = torch.where(batch.labels == IGNORED, batch.ids, batch.labels)
    for index in single.nonzero().flatten().tolist():
        row = whole[index][batch.real[index]] if batch.real is not None else whole[index]
        plain = windows.take(index, windows.draw_shift(task.seed, 0))
        assert row[1:-1].tolist() == plain.tolist()


def test_without_pairs_nothing_is_said_of_the_relation(school: School, text: dict[str, Any]) -> None:
    task = school.make_task(text | {"relation": "next-sentence", "paired": 0.0})
    network = school.make_network(task)
    batch = task.collate("train", range(4))
    without = task.loss(network, replace(batch, relation=None))
    assert task.loss(network, batch).item() == without.item()
    assert math.isnan(task.evaluate(network, "dev")["relation_accuracy"])


@pytest.mark.slow
def test_gaps_are_learnt_and_filled(school: School, text: dict[str, Any]) -> None:
    line = "the quick brown fox jumps over the lazy dog ."
    for split in ("train", "dev"):
        (Path(text["folder"]) / f"{split}.txt").write_text(f"{line}\n" * 60, encoding="utf-8")
    task = school.make_task(text | {"documents": "file"}, {"kind": "wordpiece", "size": 100})
    network = school.make_network(task, norm_position="pre", positions="relative")  # windows begin anywhere
    before = task.evaluate(network, "dev")
    school.learn(task, network, 150)
    after = task.evaluate(network, "dev")
    assert after["loss"] < 0.3 < 3 < before["loss"]
    assert after["accuracy"] > 0.9 > before["accuracy"]
    sentence = f"{line} the [MASK] brown fox jumps [MASK] the lazy dog ."
    found = fill(NativeModel(network, task.tokenizer), [sentence], best=3)[0]
    assert [gap[0].text for gap in found.gaps] == ["quick", "over"]
    assert all(len(gap) == 3 and gap[0].probability > gap[1].probability for gap in found.gaps)
    assert found.text == f"{line} {line}".replace(" .", ".")
    texts = ["the [MASK] brown", sentence, "[MASK] dog ."]
    together = list(fill(NativeModel(network, task.tokenizer), texts))
    alone = [fill(NativeModel(network, task.tokenizer), [text])[0] for text in texts]
    assert [answer.text for answer in together] == [answer.text for answer in alone]


def test_special_tokens_that_are_guessed_are_named(school: School, text: dict[str, Any]) -> None:
    task = school.make_task(text)
    network = school.make_network(task)
    separator = task.tokenizer.roles["separator"]
    with torch.no_grad():
        network.get_parameter("head.bias")[separator] = 1e3
    found = fill(NativeModel(network, task.tokenizer), ["the [MASK] dog"])[0]
    assert found.gaps[0][0].text == "[SEP]"
    assert found.text == "the [SEP] dog"


def test_the_second_head_learns_too(school: School, text: dict[str, Any]) -> None:
    task = school.make_task(text | {"relation": "next-sentence"})
    module = TaskModule(task, school.make_network(task))
    batch = task.collate("train", range(8))
    module(batch).backward()
    network = module.network
    assert isinstance(network, Transformer)
    assert "relation_accuracy" in task.evaluate(network, "dev")
    for name in ("head.pooler.weight", "head.relation.weight", "head.relation.bias"):
        assert network.get_parameter(name).grad.abs().sum() > 0  # type: ignore[union-attr]
    without = task.loss(network, replace(batch, relation=None))
    told = network.relate(network.encode(batch.ids, batch.real, batch.segments))
    assert batch.relation is not None
    assert module(batch).item() == pytest.approx(
        without.item() + batch.count * F.cross_entropy(told, batch.relation).item(), rel=1e-5
    )
    assert "relation_accuracy" not in school.make_task(text).evaluate(network, "dev")


def test_what_cannot_fill_gaps_is_refused(school: School, text: dict[str, Any]) -> None:
    task = school.make_task(text)
    model = NativeModel(school.make_network(task), task.tokenizer)
    with pytest.raises(InputError, match=r"Text 2 has no gap; write \[MASK\]"):
        list(fill(model, ["the [MASK]", "the cat"]))
    with pytest.raises(ConfigurationError, match="set head = 'masked' and segments = 2"):
        school.make_network(school.make_task(text | {"relation": "next-sentence"}), segments=0)
    with pytest.raises(ConfigurationError, match="no separator token"):
        school.make_task(text, {"size": 300, "style": "text"}).collate("train", [0])
    with pytest.raises(ConfigurationError, match=r"share = 1.5 .* \(above 0, below 1\)"):
        school.make_task(text | {"share": 1.5})


@pytest.mark.slow
def test_samples_show_hidden_words_and_what_is_filled_in(school: School, text: dict[str, Any]) -> None:
    line = "the quick brown fox jumps over the lazy dog ."
    for split in ("train", "dev"):
        (Path(text["folder"]) / f"{split}.txt").write_text(f"{line}\n" * 60, encoding="utf-8")
    task = school.make_task(text | {"documents": "file"}, {"kind": "wordpiece", "size": 100})
    network = school.make_network(task, norm_position="pre", positions="relative")
    school.learn(task, network, 150)
    samples = task.samples(network, "dev", 3)
    assert len(samples) == 3
    assert samples == task.samples(network, "dev", 3)
    for sample in samples:
        assert "[MASK]" in sample.input
        assert "[MASK]" not in sample.output + (sample.wanted or "")
        assert set((sample.wanted or "").split()) <= {*line.split(), "dog.", "[SEP]"}
    assert any(sample.output == sample.wanted for sample in samples)  # learnt by heart


def test_samples_of_pairs_show_both_parts(school: School, text: dict[str, Any]) -> None:
    task = school.make_task(text | {"relation": "sentence-order", "paired": 1.0, "context": 24})
    (sample,) = task.samples(school.make_network(task), "dev", 1)
    assert "[SEP]" in sample.input
