"""Classification: one label for a text, or for two texts together.

In:   rows with a label and a text, or folders named after labels, as IMDb has them.
Out:  loss, accuracy and macro F1. How a network makes one vector of many tokens is its own `pooling`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from glassformer.errors import ConfigurationError
from glassformer.loaded.model import LoadedModel
from glassformer.messages import Message, message
from glassformer.runlog.samples import Sample
from glassformer.settings import Count, Settings, Share, read_settings
from glassformer.tasks.answers import check_texts, encode_chunks, open_model, perceive_chunks
from glassformer.tasks.class_weights import (
    ClassWeights,
    Factors,
    check_class_weights,
    find_factors,
    weighted_loss,
)
from glassformer.tasks.long import Long, LongTexts, read_long
from glassformer.tasks.scores import compute_accuracy, compute_macro_f1
from glassformer.tasks.sources import SourceSettings, list_files
from glassformer.tasks.task import TASKS, Measured, Network, Split, Task
from glassformer.tasks.text_task import TextSettings, TextTask, run_network
from glassformer.text.arrow import is_dataset
from glassformer.text.batches import Batch
from glassformer.text.cache import ArrayWriter, Meta
from glassformer.text.files import Problems
from glassformer.text.readers import read_labelled_folders, read_numbered_rows
from glassformer.text.table import Column, Row


@dataclass(frozen=True, slots=True)
class MoreLabelled(Settings):
    """One table `[[task.also]]`: another file with labels of the same kind, for training alone.

    A piece of a review says less surely what the review says, but there are many of them.
    """

    path: str  # such as "reviews/{split}.tsv.gz"
    label: int | str = 0  # the column with the label
    text: int | str = 1  # the column with the text
    words: Count | None = None  # longer texts are cut into pieces of so many words; None: they stay whole
    repeat: Count = 1  # how often it is read in an epoch

    def read(
        self, settings: SourceSettings, split: str, problems: Problems
    ) -> Iterator[tuple[Path, int, Row]]:
        """File and line of each piece, and its label and text; nothing of it is held out."""
        for _ in range(self.repeat):
            for path in settings.find_files(self.path, split):
                rows = read_numbered_rows(path, (self.label, self.text), problems, settings.table())
                for number, (label, text) in rows:
                    for piece in cut_words(text, self.words):
                        yield path, number, (label, piece)


def cut_words(text: str, most: int | None) -> Iterator[str]:
    """A text in pieces of `most` words, all of nearly the same length."""
    words = text.split()
    if most is None or len(words) <= most:
        yield text
        return
    count = -(-len(words) // most)
    for place in range(count):
        yield " ".join(words[place * len(words) // count : (place + 1) * len(words) // count])


@dataclass(frozen=True, slots=True)
class ClassificationSettings(TextSettings):
    """The table `[task]` with name = "classification"; the path may be a folder with a folder per label."""

    label: int | str = 0  # the column with the label
    also: list[dict[str, Any]] = field(default_factory=list)  # tables of `MoreLabelled`, for training alone
    labels: list[str] | None = None  # the classes in their order; None: those of the training split, sorted
    label_smoothing: Share = 0.0
    class_weights: ClassWeights = None  # of the training loss: "balanced", or a table label → weight

    def check(self) -> None:
        SourceSettings.check(self)
        if self.labels is not None and (len(self.labels) < 2 or len(set(self.labels)) < len(self.labels)):
            raise ConfigurationError("tasks.classification.labels", labels=self.labels)
        if self.more() and self.second_text is not None:
            raise ConfigurationError("tasks.classification.also_second_text")
        check_class_weights(self.class_weights)

    def more(self) -> list[MoreLabelled]:
        """The other files as settings."""
        return [read_settings(MoreLabelled, table) for table in self.also]

    def answer_columns(self) -> list[Column]:
        return [self.label]

    def read_examples(self, split: Split, problems: Problems) -> Iterator[tuple[Path, int, Row]]:
        yield from TextSettings.read_examples(self, split, problems)
        for more in self.more() if split == "train" else ():
            yield from more.read(self, split, problems)

    def list_files(self, split: Split) -> list[Path]:
        others = [
            file
            for more in (self.more() if split == "train" else ())
            for file in self.find_files(more.path, split)
        ]
        return [*TextSettings.list_files(self, split), *list_files(others)]

    def read_files(self, split: Split, problems: Problems) -> Iterator[tuple[Path, int, Row]]:
        folders = [
            path for path in self.find_files(self.path, split) if path.is_dir() and not is_dataset(path)
        ]
        if not folders:
            yield from TextSettings.read_files(self, split, problems)
            return
        keep = self.choose(self.path, split)
        for folder in folders:
            for row in read_labelled_folders(folder, problems):
                if keep is None or keep(self.join_texts(row)):
                    yield folder, 0, row


@TASKS.register("classification")
class Classification(TextTask):
    """A network with the head `classes` learns to sort texts."""

    settings_kind = ClassificationSettings
    settings: ClassificationSettings

    def __init__(self, settings: Any, tokenizer: Any, *, seed: int = 0) -> None:
        super().__init__(settings, tokenizer, seed=seed)
        self.labels = self._find_labels()
        self._numbers = {label: number for number, label in enumerate(self.labels)}

    def network_settings(self) -> dict[str, Any]:
        return {**super().network_settings(), "head": "classes"}

    def read_answer(self, cells: Row) -> NDArray[Any] | Message:
        (label,) = cells
        if label not in self._numbers:
            return message("tasks.unknown_label", label=label, labels=self.labels)
        return np.array(self._numbers[label])

    def count_classes(self, split: Split) -> dict[str, int]:
        counts = np.bincount(self.answered(split).answers, minlength=len(self.labels)).tolist()
        return dict(zip(self.labels, counts, strict=True))

    @cached_property
    def factors(self) -> Factors | None:
        """What the loss of each class is multiplied with while it learns."""
        return find_factors(self, self.settings.class_weights)

    def describe_loss(self) -> list[Message]:
        return [] if self.factors is None else [self.factors.as_message(self.labels)]

    def loss(self, network: Network, batch: Batch) -> Tensor:
        logits = run_network(network, batch)
        return weighted_loss(logits, batch.labels, self.factors, self.settings.label_smoothing)

    def score_names(self) -> tuple[str, ...]:
        return ("loss", "accuracy", "macro_f1")

    def evaluate(self, network: Network, split: Split, *, limit: int | None = None) -> dict[str, float]:
        return measure_classes(self, network, split, limit)

    def samples(self, network: Network, split: Split, count: int) -> list[Sample]:
        """The classes that are guessed for examples from all over the split."""
        indices, texts, logits = self.answer_samples(network, split, count)
        answers = self.answered(split).answers[indices].tolist()
        return [
            Sample(text, self.labels[guess], self.labels[answer])
            for text, guess, answer in zip(texts, logits.argmax(-1).tolist(), answers, strict=True)
        ]

    def _find_labels(self) -> tuple[str, ...]:
        if self.settings.labels is not None:
            return tuple(self.settings.labels)

        def build(_: ArrayWriter) -> Meta:
            rows = self.settings.read_examples("train", Problems(self.settings.on_error))
            return {"labels": sorted({row[0] for _, _, row in rows})}

        files = self.settings.list_files("train")
        labels = self.load_or_build("train", files, build, {"labels": True})[1]["labels"]
        if len(labels) < 2:
            raise ConfigurationError("tasks.few_labels", path=self.settings.path, labels=labels)
        return tuple(labels)


def measure_classes(task: Task, network: Network, split: Split, limit: int | None) -> dict[str, float]:
    """Loss, accuracy and macro F1 of a network with classes, and the scores of plug-ins."""

    def measure(batch: Batch) -> Measured:
        return run_network(network, batch), batch.labels

    total, guesses, labels = 0.0, [], []
    for logits, truth in task.measure_batches(network, split, limit, measure):
        total += float(F.cross_entropy(logits, truth, reduction="sum"))
        guesses += logits.argmax(-1).tolist()
        labels += truth.tolist()
    scores = {
        "loss": total / len(labels),
        "accuracy": compute_accuracy(guesses, labels),
        "macro_f1": compute_macro_f1(guesses, labels, len(task.labels)),
    }
    names = [[task.labels[number] for number in numbers] for numbers in (guesses, labels)]
    return scores | task.own_scores(*names)


@dataclass(frozen=True, slots=True)
class Classified:
    """What a classifier makes of a text."""

    label: str  # empty: the text is blank, or was skipped
    probability: float
    probabilities: dict[str, float]  # of every label


@overload
def classify(
    model: Any,
    texts: Iterable[Any],
    *,
    tokenizer: Any = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: Literal[False] = False,
) -> list[Classified]: ...


@overload
def classify(
    model: Any,
    texts: Iterable[Any],
    *,
    tokenizer: Any = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: Literal[True],
) -> Iterator[Classified]: ...


def classify(
    model: Any,
    texts: Iterable[Any],
    *,
    tokenizer: Any = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: bool = False,
) -> list[Classified] | Iterator[Classified]:
    """The label of each text, in order; a blank text has an empty one. Some models sort pictures or sounds:
    `texts` are then whatever `record` takes for one.

    `long` says what happens to a text that is too long: "refuse" it; "truncate": classify its start; "split":
    the mean of the probabilities of its sentences; "skip": an empty label. `LongTexts` counts them.
    `stream=True` gives an iterator.

    >>> gf.classify("zoo/sentiment", ["A wonderful film."])[0].label
    'positive'
    """
    ways = read_long(long)
    opened = open_model(model, tokenizer, device=device, capability="classifies")
    found = _classify(opened, check_texts(texts), ways)
    return found if stream else list(found)


def _classify(model: LoadedModel, texts: Iterable[Any], long: LongTexts) -> Iterator[Classified]:
    if model.reads != "text":
        for percepts in perceive_chunks(model, texts):
            yield from (_choose(model, np.array(chances)) for chances in model.classify_percepts(percepts))
        return
    for chunk in encode_chunks(model, texts, long):
        chances = iter(model.classify([row for rows in chunk for row in rows]))
        for rows in chunk:
            if not rows:
                yield Classified("", 0.0, {})
                continue
            lengths = np.array([len(row) for row in rows])
            pieces = np.array([next(chances) for _ in rows])  # (piece, class)
            whole = pieces[0] if len(rows) == 1 else lengths @ pieces / lengths.sum()
            yield _choose(model, whole)


def _choose(model: LoadedModel, chances: NDArray[np.float64]) -> Classified:
    names = model.labels or tuple(f"LABEL_{number}" for number in range(len(chances)))
    best = int(np.argmax(chances))
    return Classified(names[best], float(chances[best]), dict(zip(names, chances.tolist(), strict=True)))
