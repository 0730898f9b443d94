"""Picture classification: one label for a picture. Sound classification, too, has its scores.

In:   an npz file with images and labels, or a table with the names of files and their labels.
Out:  loss, accuracy and macro F1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from glassformer.config import NetworkConfig
from glassformer.errors import ConfigurationError, InputError
from glassformer.model.generate import at_inference
from glassformer.runlog.samples import Sample
from glassformer.settings import Share
from glassformer.tasks.classification import measure_classes
from glassformer.tasks.media_files import (
    MediaSettings,
    PictureSettings,
    divide_arrays,
    fit_pictures,
    read_arrays,
    read_pictures,
)
from glassformer.tasks.media_task import MediaExamples, MediaTask
from glassformer.tasks.task import TASKS, Network, Split, find_device
from glassformer.tasks.text_task import run_network
from glassformer.text.batches import Batch, Indices
from glassformer.text.files import Problems


@dataclass(frozen=True, slots=True)
class PictureClassificationSettings(PictureSettings):
    """The table `[task]` with name = "picture_classification"."""

    label: int | str = 1  # the column with the label
    label_smoothing: Share = 0.0


class SortingTask(MediaTask):
    """A network without words learns to sort what it sees or hears."""

    words = False
    compares = True
    settings: Any

    @classmethod
    def texts(cls, settings: MediaSettings) -> Iterator[str]:
        del settings
        yield from ()

    def find_numbers(self, names: Sequence[str]) -> list[int]:
        """The numbers of labels; refuses one that train does not have."""
        numbers = {label: number for number, label in enumerate(self.labels)}
        unknown = next((name for name in names if name not in numbers), None)
        if unknown is not None:
            raise InputError("tasks.unknown_label", label=unknown, labels=self.labels)
        return [numbers[name] for name in names]

    def network_settings(self) -> dict[str, Any]:
        return {"reads": self.reads, "shape": "encoder", "head": "classes", "classes": len(self.labels)}

    def accept(self, config: NetworkConfig) -> None:
        super().accept(config)
        if self.network_config.head != "classes":
            raise ConfigurationError("tasks.wrong_head", head="classes")
        if self.network_config.classes != len(self.labels):
            raise ConfigurationError(
                "tasks.wrong_classes",
                classes=self.network_config.classes,
                count=len(self.labels),
                labels=self.labels,
            )

    def count_classes(self, split: Split) -> dict[str, int]:
        counts = np.bincount(np.asarray(self.media(split).answers), minlength=len(self.labels)).tolist()
        return dict(zip(self.labels, counts, strict=True))

    def loss(self, network: Network, batch: Batch) -> Tensor:
        smoothing = self.settings.label_smoothing
        return F.cross_entropy(
            run_network(network, batch), batch.labels, label_smoothing=smoothing, reduction="sum"
        )

    def score_names(self) -> tuple[str, ...]:
        return ("loss", "accuracy", "macro_f1")

    def evaluate(self, network: Network, split: Split, *, limit: int | None = None) -> dict[str, float]:
        return measure_classes(self, network, split, limit)

    def samples(self, network: Network, split: Split, count: int) -> list[Sample]:
        """The classes that are guessed for examples from all over the split, which are named by number."""
        examples = self.media(split)
        indices = np.unique(np.linspace(0, len(examples.lengths) - 1, count).astype(np.int64))
        with at_inference(network):
            found = run_network(network, self.collate(split, indices).to(find_device(network))).argmax(-1)
        return [
            Sample(f"{split} {index}", self.labels[guess], self.labels[examples.answers[index]])
            for index, guess in zip(indices.tolist(), found.tolist(), strict=True)
        ]


@TASKS.register("picture_classification")
class PictureClassification(SortingTask):
    """A network with the head `classes` learns to sort pictures."""

    settings_kind = PictureClassificationSettings
    style = "sequence"
    reads = "picture"
    settings: PictureClassificationSettings

    def __init__(self, settings: Any, tokenizer: Any = None, *, seed: int = 0) -> None:
        super().__init__(settings, tokenizer, seed=seed)
        if settings.is_arrays():
            self._arrays = read_arrays(settings)
            names = {str(label) for label in divide_arrays(settings, self._arrays, "train")[1].tolist()}
        else:
            rows = settings.read_rows("train", [settings.label], Problems(settings.on_error))
            names = {label for _, (label,) in rows}
        if len(names) < 2:
            raise ConfigurationError("tasks.few_labels", path=settings.path, labels=sorted(names))
        self.labels = tuple(sorted(names))

    def read(self, split: Split) -> MediaExamples:
        config, settings = self.network_config, self.settings
        notes: tuple[Any, ...] = ()
        if settings.is_arrays():
            images, labels = divide_arrays(settings, self._arrays, split)
            pixels = fit_pictures(images, config)
            names = [str(label) for label in labels.tolist()]
        else:
            pixels, rows, problems = read_pictures(settings, split, [settings.label], config)
            pixels = pixels if config.color else pixels[..., :1]
            names, notes = [label for (label,) in rows], problems.notes()
        lengths = np.full(len(names), config.grid**2 + int(config.class_token), dtype=np.int64)
        return MediaExamples(self.find_numbers(names), lengths, pixels, notes)

    def collate(self, split: Split, indices: Sequence[int] | Indices, epoch: int = 0) -> Batch:
        examples = self.media(split)
        answers = torch.tensor([examples.answers[int(index)] for index in indices])
        return Batch(
            self.show(split, indices, epoch),
            answers,
            len(answers),
            int(examples.lengths[np.asarray(indices)].sum()),
        )
