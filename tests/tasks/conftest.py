"""What tests of tasks share: a phrase book small enough to be learnt by heart, and a way to learn it."""

from collections.abc import Sequence
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest
import torch

from glassformer.config import ModelConfig
from glassformer.model.transformer import Transformer
from glassformer.settings import read_settings
from glassformer.tasks.task import Network, Task, TaskModule, build_task, read_task
from glassformer.text.batches import BatchSettings, Loader
from glassformer.text.vocabulary import VocabularySettings, train_vocabulary
from running_text import TEXT

WORDS = {"cat": "chat", "dog": "chien", "boy": "garçon", "horse": "cheval"}
VERBS = {"sees": "voit", "loves": "aime"}
PAIRS = [
    (f"the {one} {verb} the {two}", f"le {WORDS[one]} {VERBS[verb]} le {WORDS[two]}")
    for one, verb, two in product(WORDS, VERBS, WORDS)
]  # 32 of them


class School:
    """Where tasks are made and learnt."""

    PAIRS = PAIRS

    @staticmethod
    def write_rows(path: Path, rows: Sequence[Sequence[str]]) -> Path:
        """A TSV file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        return path

    @staticmethod
    def make_task(table: dict[str, Any], tokenizer: dict[str, Any] | None = None, *, seed: int = 0) -> Task:
        """A task with a vocabulary learnt from its own text."""
        kind, settings = read_task(table)
        vocabulary = read_settings(VocabularySettings, tokenizer or {"size": 350})
        words = train_vocabulary(kind.texts(settings), vocabulary, style=kind.style, tags=kind.tags(settings))
        return build_task(table, words, seed=seed)

    @staticmethod
    def make_network(task: Task, **words: Any) -> Transformer:
        """A tiny network that fits a task, which accepts it."""
        small = {"layers": 1, "width": 32, "heads": 2, "feed_forward": 64, "max_length": 64, "dropout": 0.0}
        torch.manual_seed(0)
        network = Transformer(ModelConfig(**(task.network_settings() | small | words)))
        task.accept(network.config)
        return network

    @staticmethod
    def learn(
        task: Task, network: Network, steps: int, *, rate: float = 1e-2, tokens: int = 1024
    ) -> TaskModule:
        """Train as simply as can be."""
        torch.manual_seed(0)
        module = TaskModule(task, network)
        optimizer = torch.optim.Adam(module.parameters(), lr=rate)
        settings = BatchSettings(tokens=tokens)
        loader = Loader(
            task.examples("train").lengths, partial(task.collate, "train"), settings, seed=task.seed
        )
        for step, (_, batch) in enumerate(islice(loader.start(), steps)):
            optimizer.param_groups[0]["lr"] = rate * min(1.0, (step + 1) / 10, 2 * (1 - step / steps))
            optimizer.zero_grad()
            (module(batch) / batch.count).backward()
            optimizer.step()
        return module


@pytest.fixture
def school() -> School:
    """Helpers, handed over as a fixture because tests are imported one by one."""
    return School()


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A folder with the phrase book as train.tsv and dev.tsv."""
    for split in ("train", "dev"):
        School.write_rows(tmp_path / f"{split}.tsv", PAIRS)
    return tmp_path


@pytest.fixture
def text(tmp_path: Path) -> dict[str, Any]:
    """A table for a text that is the same in every split."""
    for split in ("train", "dev"):
        (tmp_path / f"{split}.txt").write_text(TEXT, encoding="utf-8")
    return {"name": "language_modelling", "folder": str(tmp_path), "path": "{split}.txt", "context": 16}
