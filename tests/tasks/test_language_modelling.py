"""Language modelling: every token predicted once, all bytes counted, repeated spans that can be repeated."""

import math
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import torch

from glassformer.errors import ConfigurationError, InputError
from glassformer.loaded.native import NativeModel
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.loss import IGNORED
from glassformer.tasks.answers import stream_answer
from glassformer.tasks.language_modelling import generate
from running_text import TEXT, windows_of

School: TypeAlias = Any  # the fixture of conftest.py


@pytest.mark.parametrize("documents", ["file", "line", "blank"])
def test_held_out_windows_predict_every_token_once(
    school: School, text: dict[str, Any], documents: str
) -> None:
    task = school.make_task(text | {"documents": documents})
    windows = windows_of(task, "dev")
    labels = task.collate("dev", range(len(windows.lengths))).labels
    predicted = labels[labels != IGNORED].tolist()
    assert predicted == windows.stream.ids[1:].tolist()
    end = task.tokenizer.roles["end"]
    assert windows.stream.ids[0] == end
    ends = {"file": 2, "line": 1 + TEXT.count("\n"), "blank": 1 + TEXT.count("\n\n")}[documents]
    if documents == "line":
        ends -= TEXT.count("\n\n")  # an empty line ends nothing new
    assert predicted.count(end) == ends - 1
    words = task.tokenizer.decode(predicted)
    assert (
        words
        == {"file": TEXT, "line": TEXT.replace("\n", ""), "blank": TEXT.replace("\n\n", "\n")}[documents]
    )


def test_bits_per_byte_count_every_byte(school: School, text: dict[str, Any]) -> None:
    task = school.make_task(text)
    network = school.make_network(task)
    torch.nn.init.zeros_(network.embeddings.tokens.weight)  # every token is equally likely
    scores = task.evaluate(network, "dev")
    vocabulary = task.tokenizer.size
    tokens = len(task.tokenizer.encode(TEXT).ids)
    counted = len(windows_of(task, "dev").stream.ids) - 1
    assert counted >= tokens
    assert scores["loss"] == pytest.approx(math.log(vocabulary))
    assert scores["perplexity"] == pytest.approx(vocabulary)
    assert scores["bits_per_byte"] == pytest.approx(counted * math.log2(vocabulary) / len(TEXT.encode()))
    assert task.evaluate(network, "dev", limit=2)["bits_per_byte"] == pytest.approx(scores["bits_per_byte"])


def test_what_is_unknown_has_no_bits_per_byte(school: School, text: dict[str, Any]) -> None:
    (Path(text["folder"]) / "dev.txt").write_text("Tom chases Żółw", encoding="utf-8")
    task = school.make_task(text, {"kind": "characters"})
    assert "bits_per_byte" not in task.evaluate(school.make_network(task), "dev")


def test_training_windows_begin_elsewhere_in_each_epoch(school: School, text: dict[str, Any]) -> None:
    task = school.make_task(text)
    windows = windows_of(task, "train")
    everything = windows.stream.ids.tolist()
    starts = set()
    for epoch in range(8):
        batch = task.collate("train", range(len(windows.lengths)), epoch)
        assert batch.ids.shape == batch.labels.shape == (len(windows.lengths), 16)
        assert batch.real is None
        flat = batch.ids.flatten().tolist()
        shift = windows.draw_shift(task.seed, epoch)
        assert flat == everything[shift : shift + len(flat)]
        assert batch.labels.flatten().tolist() == everything[shift + 1 : shift + len(flat) + 1]
        starts.add(shift)
    assert len(starts) > 3


def test_repeated_spans_are_predicted_from_their_second_time_on(school: School, text: dict[str, Any]) -> None:
    task = school.make_task(text | {"repeats": 0.5, "context": 8})
    batch = task.collate("train", range(8))
    repeated = (batch.labels == IGNORED).any(dim=1)
    assert 0 < int(repeated.sum()) < 8
    for ids, labels in zip(batch.ids[repeated].tolist(), batch.labels[repeated].tolist(), strict=True):
        row = [*ids, labels[-1]]
        span = labels.count(IGNORED) + 1
        assert labels[: span - 1] == [IGNORED] * (span - 1)
        assert row[span:] == row[: len(row) - span]
        assert set(row) <= set(task.ordinary_ids().tolist())
    assert batch.count == int((batch.labels != IGNORED).sum())
    assert not (task.collate("dev", [0, 1]).labels == IGNORED).any()


@pytest.mark.slow
def test_a_short_text_is_learnt_by_heart_and_written_again(school: School, text: dict[str, Any]) -> None:
    line = "Pack my box with five dozen liquor jugs"
    for split in ("train", "dev"):
        (Path(text["folder"]) / f"{split}.txt").write_text(f"{line}\n" * 8, encoding="utf-8")
    task = school.make_task(text | {"context": 32, "documents": "line"}, {"size": 270})
    network = school.make_network(task)
    before = task.evaluate(network, "dev")
    school.learn(task, network, 80)
    after = task.evaluate(network, "dev")
    assert after["bits_per_byte"] < 0.3 < 3 < before["bits_per_byte"]
    model = NativeModel(network, task.tokenizer, generation=GenerationSettings(max_new_tokens=40))
    assert list(generate(model, ["Pack my", "", "Pack my box"])) == [line, "", line]
    assert "".join(stream_answer(model, "Pack my")) == line


def test_what_does_not_fit_is_refused(school: School, text: dict[str, Any]) -> None:
    task = school.make_task(text | {"context": 32})
    with pytest.raises(ConfigurationError, match="context = 32 tokens do not fit a network with max_le"):
        school.make_network(task, max_length=31)
    with pytest.raises(ConfigurationError, match="needs shape = 'decoder'"):
        school.make_network(task, shape="encoder-decoder")
    for wrong in ({"context": 3}, {"repeats": 1.0}, {"held_out": 0.0}, {"path": "a.tsv"}):
        with pytest.raises(ConfigurationError, match=next(iter(wrong)) if "path" not in wrong else "column"):
            school.make_task(text | wrong)
    (Path(text["folder"]) / "empty.txt").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="no text for the split 'empty'"):
        task.examples("empty")
