"""Regression: a number for a text, or several, or one for two texts together.

In:   rows with numbers and a text.
Out:  loss, mean squared and absolute error, and correlations with the right numbers.

The loss is the squared error in units of the spread of the training numbers, so that neither the learning
rate nor an alarm depends on the unit of the data; `mse` and `mae` are in the unit of the data. Numbers are
float64 from the file to the loss: in float32 a large offset would take their differences away.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import Any, Literal, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.errors import ConfigurationError
from glassformer.loaded.model import LoadedModel
from glassformer.messages import Message, message
from glassformer.model.heads import NumberHead
from glassformer.model.loss import IGNORED
from glassformer.runlog.samples import Sample
from glassformer.tasks.answers import check_texts, encode_chunks, open_model
from glassformer.tasks.long import Long, LongTexts, read_long
from glassformer.tasks.scores import compute_mae, compute_mse, compute_pearson, compute_spearman
from glassformer.tasks.sources import SourceSettings
from glassformer.tasks.task import TASKS, Measured, Network, Split, require_transformer
from glassformer.tasks.text_task import TextSettings, TextTask, run_network
from glassformer.text.batches import Batch
from glassformer.text.table import Column, Row

ROUNDING = 1e-12  # times the largest number: a spread below it is that of rounding errors
SCORES = {"mse": compute_mse, "mae": compute_mae, "pearson": compute_pearson, "spearman": compute_spearman}


@dataclass(frozen=True, slots=True)
class RegressionSettings(TextSettings):
    """The table `[task]` with name = "regression"."""

    values: list[int | str] = field(default_factory=lambda: [0])  # the columns with the numbers
    labels: list[str] | None = None  # what the numbers are called; None: as their columns are

    def check(self) -> None:
        SourceSettings.check(self)
        if not self.values or len(set(self.values)) < len(self.values):
            raise ConfigurationError("tasks.regression.values", values=self.values)
        if self.labels is not None and (
            len(self.labels) != len(self.values) or len(set(self.labels)) < len(self.labels)
        ):
            raise ConfigurationError("tasks.regression.labels", labels=self.labels, count=len(self.values))

    def answer_columns(self) -> list[Column]:
        return list(self.values)

    def names(self) -> tuple[str, ...]:
        """What the numbers are called."""
        if self.labels is not None:
            return tuple(self.labels)
        if len(self.values) == 1 and isinstance(self.values[0], int):
            return ("value",)
        return tuple(each if isinstance(each, str) else f"value {each}" for each in self.values)


@TASKS.register("regression")
class Regression(TextTask):
    """A network with the head `numbers` learns to say numbers of texts."""

    settings_kind = RegressionSettings
    settings: RegressionSettings

    def __init__(self, settings: Any, tokenizer: Any, *, seed: int = 0) -> None:
        super().__init__(settings, tokenizer, seed=seed)
        self.labels = self.settings.names()

    def network_settings(self) -> dict[str, Any]:
        return {**super().network_settings(), "head": "numbers"}

    def prepare(self, network: Network) -> None:
        """Mean and spread of the training numbers, unless the network brings those of other data."""
        head = _head(network)
        if bool((head.scale != 1).any() or (head.center != 0).any()):
            return
        answers = torch.from_numpy(np.array(self.answered("train").answers))
        scale = answers.std(0, correction=0)
        with torch.no_grad():
            head.center.copy_(answers.mean(0))
            head.scale.copy_(torch.where(scale > ROUNDING * answers.abs().amax(0), scale, 1.0))

    def read_answer(self, cells: Row) -> NDArray[Any] | Message:
        numbers = []
        for cell in cells:
            try:
                number = float(cell)
            except ValueError:
                number = nan
            if not isfinite(number):
                return message("tasks.regression.not_a_number", cell=cell)
            numbers.append(number)
        return np.array(numbers)

    def describe_loss(self) -> list[Message]:
        answers = self.answered("train").answers
        rows = zip(
            self.labels,
            answers.mean(0),
            answers.std(0),
            answers.min(0),
            answers.max(0),
            strict=True,
        )
        return [
            message(
                "tasks.regression.numbers",
                name=name,
                mean=float(mean),
                deviation=float(deviation),
                least=float(least),
                most=float(most),
            )
            for name, mean, deviation, least, most in rows
        ]

    def collate(self, split: Split, indices: Any, epoch: int = 0) -> Batch:
        batch = super().collate(split, indices, epoch)
        marks = torch.zeros(len(batch.labels), dtype=torch.long)  # rows that count; padding has another label
        return Batch(
            batch.ids,
            marks,
            batch.count,
            batch.tokens,
            batch.real,
            segments=batch.segments,
            numbers=batch.labels,
        )

    def loss(self, network: Network, batch: Batch) -> Tensor:
        return self._squares(network, batch)[0].sum()

    def score_names(self) -> tuple[str, ...]:
        return ("loss", *SCORES, *(f"{name}.{label}" for name in SCORES for label in self._several()))

    def evaluate(self, network: Network, split: Split, *, limit: int | None = None) -> dict[str, float]:
        """Of several numbers, each score is their mean; `mse.NAME` is that of one."""

        def measure(batch: Batch) -> Measured:
            assert batch.numbers is not None
            squares, found = self._squares(network, batch)
            return squares.double(), found, batch.numbers

        measured = self.measure_batches(network, split, limit, measure)
        losses, found, truth = (torch.cat(parts).double().numpy() for parts in zip(*measured, strict=True))
        scores = {"loss": float(losses.mean())}
        for name, compute in SCORES.items():
            each = [compute(found[:, place], truth[:, place]) for place in range(len(self.labels))]
            scores[name] = float(np.mean(each))
            scores |= {f"{name}.{label}": each[self.labels.index(label)] for label in self._several()}
        answers = [each[:, 0] if len(self.labels) == 1 else each for each in (found, truth)]
        return scores | self.own_scores(*(each.tolist() for each in answers))

    def samples(self, network: Network, split: Split, count: int) -> list[Sample]:
        """The numbers that are said of examples from all over the split."""
        indices, texts, found = self.answer_samples(network, split, count)
        answers = self.answered(split).answers[indices].tolist()
        return [
            Sample(text, self._show(guess), self._show(answer))
            for text, guess, answer in zip(texts, found.tolist(), answers, strict=True)
        ]

    def _show(self, numbers: list[float]) -> str:
        if len(numbers) == 1:
            return f"{numbers[0]:.4g}"
        return ", ".join(f"{name} {number:.4g}" for name, number in zip(self.labels, numbers, strict=True))

    def _several(self) -> tuple[str, ...]:
        return self.labels if len(self.labels) > 1 else ()

    def _squares(self, network: Network, batch: Batch) -> tuple[Tensor, Tensor]:
        """The squared error of each text in units of the spread, the mean of its numbers; and the numbers."""
        assert batch.numbers is not None
        found = run_network(network, batch)
        apart = ((found - batch.numbers) / _head(network).scale).float()
        return apart.square().mean(-1) * (batch.labels != IGNORED), found


def _head(network: Network) -> NumberHead:
    head = require_transformer(network).head
    assert isinstance(head, NumberHead)
    return head


@overload
def predict_numbers(
    model: Any,
    texts: Iterable[str],
    *,
    tokenizer: Any = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: Literal[False] = False,
) -> list[dict[str, float]]: ...


@overload
def predict_numbers(
    model: Any,
    texts: Iterable[str],
    *,
    tokenizer: Any = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: Literal[True],
) -> Iterator[dict[str, float]]: ...


def predict_numbers(
    model: Any,
    texts: Iterable[str],
    *,
    tokenizer: Any = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: bool = False,
) -> list[dict[str, float]] | Iterator[dict[str, float]]:
    """The numbers that a model of regression says of each text, by name, in order; a blank text has none.

    `long` says what happens to a text that is too long: "refuse" it; "truncate": only its start is read;
    "split": the mean over its sentences; "skip": no numbers. `LongTexts` counts them. `stream=True` gives an
    iterator.

    >>> words = gf.build_words(["a", "film", "."])
    >>> config = gf.ModelConfig(vocabulary_size=8, shape="encoder", head="numbers", classes=1, width=32)
    >>> [found] = gf.predict_numbers(gf.Transformer(config), ["A film."], tokenizer=words)
    >>> list(found)
    ['value']
    """
    ways = read_long(long)
    opened = open_model(model, tokenizer, device=device, capability="predicts_numbers")
    found = _predict(opened, check_texts(texts), ways)
    return found if stream else list(found)


def _predict(model: LoadedModel, texts: Iterable[str], long: LongTexts) -> Iterator[dict[str, float]]:
    for chunk in encode_chunks(model, texts, long):
        numbers = iter(model.predict_numbers([row for rows in chunk for row in rows]))
        for rows in chunk:
            if not rows:
                yield {}
                continue
            lengths = np.array([len(row) for row in rows])
            pieces = np.array([next(numbers) for _ in rows])  # (piece, number)
            whole = pieces[0] if len(rows) == 1 else lengths @ pieces / lengths.sum()
            usual = ("value",) if len(whole) == 1 else tuple(f"value {place}" for place in range(len(whole)))
            yield dict(zip(model.labels or usual, whole.tolist(), strict=True))
