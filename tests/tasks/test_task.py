"""What holds for every task: found by name, exact sums, batches that depend on seed, epoch and index only."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import torch
from torch import Tensor

from glassformer.errors import ConfigurationError
from glassformer.model.loss import IGNORED
from glassformer.tasks.task import TASKS, Task, TaskModule, read_task
from glassformer.text.batches import Batch

School: TypeAlias = Any  # the fixture of conftest.py


@pytest.fixture(params=["translation", "classification", "language_modelling", "masked", "pairs"])
def task(school: School, request: pytest.FixtureRequest, book: Path) -> Task:
    """Each task on the phrase book."""
    text = "".join(f"{one}. {two}!\n" for one, two in school.PAIRS) * 2
    for split in ("train", "dev"):
        (book / f"{split}.txt").write_text(text, encoding="utf-8")
        school.write_rows(book / f"{split}.labels.tsv", [(one.split()[2], one) for one, _ in school.PAIRS])
    corpus = {"folder": str(book), "path": "{split}.txt", "context": 16}
    file = {"path": "{split}.tsv", "languages": ["en", "fr"]}
    masked = {"name": "masked_language_modelling", **corpus, "short": 0.3}
    labels = {"path": "{split}.labels.tsv", "word_dropout": 0.3}
    tables: dict[str, dict[str, Any]] = {
        "translation": {"name": "translation", "folder": str(book), "files": [file]},
        "classification": {"name": "classification", "folder": str(book), **labels},
        "language_modelling": {"name": "language_modelling", **corpus, "repeats": 0.5},
        "masked": masked,
        "pairs": {**masked, "relation": "next-sentence"},
    }
    return school.make_task(tables[request.param], seed=3)


def parts(batch: Batch) -> dict[str, Any]:
    found = {field.name: getattr(batch, field.name) for field in fields(batch)}
    return {name: part.tolist() if isinstance(part, Tensor) else part for name, part in found.items()}


def row(batch: Batch, number: int, padding: int) -> tuple[Any, ...]:
    """One example of a batch without the padding that its neighbours cause."""
    labels = batch.labels[number].tolist()
    answers = labels if isinstance(labels, int) else [label for label in labels if label != IGNORED]
    return [token for token in batch.ids[number].tolist() if token != padding], answers


def test_batches_depend_on_seed_epoch_and_index_alone(task: Task) -> None:
    padding = task.network_settings()["padding_id"]
    indices = [5, 2, 7]
    together = task.collate("train", indices, 1)
    torch.manual_seed(99)
    torch.rand(3)
    assert parts(task.collate("train", indices, 1)) == parts(together)
    for number, index in enumerate(indices):  # nor on the company that it comes in
        alone = task.collate("train", [index], 1)
        assert row(together, number, padding) == row(alone, 0, padding)


def test_no_batch_is_longer_than_planned(task: Task) -> None:
    for index, length in enumerate(task.examples("train").lengths[:20]):
        batch = task.collate("train", [index])
        assert batch.ids.shape[1] <= length


def test_only_what_is_drawn_changes_with_the_epoch(task: Task) -> None:
    drawn = task.settings_kind is not TASKS["translation"].settings_kind
    epochs = [parts(task.collate("train", range(12), epoch)) for epoch in (0, 1)]
    assert (epochs[0] != epochs[1]) == drawn
    held_out = [parts(task.collate("dev", range(4), epoch)) for epoch in (0, 1)]
    assert held_out[0] == held_out[1]


def test_sums_over_parts_are_the_sum_over_the_whole(school: School, task: Task) -> None:
    network = school.make_network(task)
    module = TaskModule(task, network)
    indices = [0, 1, 2, 3, 4, 5]
    whole = task.collate("train", indices)
    pieces = [task.collate("train", part) for part in (indices[:2], indices[2:5], indices[5:])]
    assert sum(piece.count for piece in pieces) == whole.count
    assert sum(piece.tokens for piece in pieces) == whole.tokens
    if whole.relation is not None:
        return  # its share goes by batches
    total = module(whole)
    assert torch.stack([module(piece) for piece in pieces]).sum().item() == pytest.approx(
        total.item(), rel=1e-5
    )
    total.backward()
    gradients = [parameter.grad.clone() for parameter in network.parameters() if parameter.grad is not None]
    network.zero_grad()
    for piece in pieces:
        module(piece).backward()
    again = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
    torch.testing.assert_close(again, gradients, rtol=1e-4, atol=1e-4)


def test_evaluation_leaves_the_network_as_it_was(school: School, task: Task) -> None:
    network = school.make_network(task, dropout=0.5).train()
    module = TaskModule(task, network).train()
    scores = [task.evaluate(network, "dev", limit=5) for _ in range(2)]
    assert scores[0] == scores[1]
    assert set(scores[0]) == set(task.score_names())
    assert all(part.training for part in module.modules())


def test_the_probe_is_small_and_always_the_same(task: Task) -> None:
    assert parts(task.probe()) == parts(task.probe())
    assert 1 <= len(task.probe().ids) <= 8


def test_an_unknown_task_or_setting_offers_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'translation'"):
        read_task({"name": "translations"})
    with pytest.raises(
        ConfigurationError, match=r"has no `name`. Known: captioning, classification, language_modelling"
    ):
        read_task({"path": "x"})
    with pytest.raises(ConfigurationError, match="has no setting 'pth'"):
        read_task({"name": "classification", "pth": "x"})
    assert sorted(TASKS) == [
        "captioning",
        "classification",
        "language_modelling",
        "masked_language_modelling",
        "picture_classification",
        "regression",
        "sound_classification",
        "speech_recognition",
        "tagging",
        "translation",
    ]


@pytest.mark.slow
def test_tasks_do_without_sacrebleu() -> None:
    check = (
        "import sys; sys.modules['sacrebleu'] = sys.modules['sacremoses'] = None; "
        "from glassformer.tasks.task import TASKS; print(list(TASKS))"
    )
    answer = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert "translation" in answer.stdout


def test_data_is_identified_by_its_content(school: School, task: Task) -> None:
    before = task.identity()
    task.accept(school.make_network(task).config)  # read again
    assert task.identity() == before
    for path in Path(task.settings.folder).glob("train*"):
        path.write_text(path.read_text(encoding="utf-8").replace("the cat", "the dog", 1), encoding="utf-8")
    task.accept(school.make_network(task).config)
    assert task.identity() != before  # as many examples as before
