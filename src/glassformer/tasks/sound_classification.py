"""Sound classification: one label for a short recording, such as a spoken digit.

In:   an npz file of recordings, or a table with the names of WAV or FLAC files and their labels.
Out:  loss, accuracy and macro F1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from glassformer.errors import ConfigurationError
from glassformer.model.frames import count_frames
from glassformer.settings import Share
from glassformer.tasks.media_files import Recordings, SoundSettings, read_recordings
from glassformer.tasks.media_task import MediaExamples, play
from glassformer.tasks.picture_classification import SortingTask
from glassformer.tasks.task import TASKS, Split
from glassformer.text.batches import Batch, Indices


@dataclass(frozen=True, slots=True)
class SoundClassificationSettings(SoundSettings):
    """The table `[task]` with name = "sound_classification"."""

    label_smoothing: Share = 0.0


@TASKS.register("sound_classification")
class SoundClassification(SortingTask):
    """A network with the head `classes` learns to sort sounds."""

    settings_kind = SoundClassificationSettings
    style = "sequence"
    reads = "sound"
    settings: SoundClassificationSettings

    def __init__(self, settings: Any, tokenizer: Any = None, *, seed: int = 0) -> None:
        super().__init__(settings, tokenizer, seed=seed)
        self._heard: dict[Split, Recordings] = {}
        names = set(read_recordings(settings, "train", settings.rate).labels)
        if len(names) < 2:
            raise ConfigurationError("tasks.few_labels", path=settings.path, labels=sorted(names))
        ordered = [word for word in settings.words or () if word in names]
        self.labels = tuple(ordered if len(ordered) == len(names) else sorted(names))

    def network_settings(self) -> dict[str, Any]:
        return {**super().network_settings(), "sample_rate": self.settings.rate, "pooling": "mean"}

    def read(self, split: Split) -> MediaExamples:
        heard = self._heard[split] = read_recordings(self.settings, split, self.network_config.sample_rate)
        sizes = np.diff(heard.starts)
        lengths = np.array([count_frames(self.network_config, int(size)) for size in sizes], dtype=np.int64)
        return MediaExamples(self.find_numbers(heard.labels), lengths)

    def collate(self, split: Split, indices: Sequence[int] | Indices, epoch: int = 0) -> Batch:
        del epoch  # nothing is drawn
        examples = self.media(split)
        inputs, real = play([self._heard[split].take(int(index)) for index in indices], self.network_config)
        answers = torch.tensor([examples.answers[int(index)] for index in indices])
        return Batch(inputs, answers, len(answers), int(examples.lengths[np.asarray(indices)].sum()), real)
