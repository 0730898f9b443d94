"""What tasks share whose examples are pictures or sounds.

In:   pixels or waveforms, with a label or words.
Out:  batches whose `ids` are what the encoder looks at or listens to; loss and scores as for texts.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from glassformer.config import ModelConfig, NetworkConfig, Reads
from glassformer.errors import ConfigurationError
from glassformer.loaded.perceiving import scale_pixels
from glassformer.messages import Message
from glassformer.model.frames import frame_mask
from glassformer.model.loss import IGNORED
from glassformer.tasks.media_files import MediaSettings, PictureSettings
from glassformer.tasks.sources import PARTS
from glassformer.tasks.task import Network, Split, Task, TaskExamples, require_transformer
from glassformer.text.batches import Batch, Indices
from glassformer.text.random_numbers import draw_uniform

DISTORTIONS = 5  # numbers that are drawn for each picture: right, down, turn, zoom, inverted


class MediaExamples(TaskExamples):
    """Pictures (example, row, column, channel) or none; the answer of each: a class, or words as tokens."""

    def __init__(
        self,
        answers: Sequence[Any],
        lengths: NDArray[np.int64],
        pixels: NDArray[np.uint8] | None = None,
        notes: tuple[Message, ...] = (),
    ) -> None:
        self.answers = answers
        self.lengths = lengths
        self.pixels = pixels
        self.notes = notes

    def arrays(self) -> dict[str, NDArray[Any]]:
        flat = np.concatenate([np.atleast_1d(np.asarray(answer)) for answer in self.answers])
        seen = {} if self.pixels is None else {"pixels": self.pixels}
        return {"answers": flat, "lengths": self.lengths, **seen}


class MediaTask(Task):
    """A network looks or listens."""

    reads: ClassVar[Reads]
    settings: MediaSettings

    @classmethod
    def source_files(cls, settings: MediaSettings, split: Split) -> list[Path]:
        return settings.list_files(split)

    def has_split(self, split: Split) -> bool:
        return (
            split in PARTS
            if self.settings.is_arrays()
            else self.settings.has_split(self.settings.path, split)
        )

    def describe_held_out(self) -> list[Message]:
        text = self.settings.describe_held_out(self.settings.path)
        return [] if text is None or self.settings.is_arrays() else [text]

    def accept(self, config: NetworkConfig) -> None:
        if not isinstance(config, ModelConfig) or config.reads != self.reads:
            raise ConfigurationError("tasks.media.wrong_network", reads=self.reads)
        super().accept(config)

    @property
    def network_config(self) -> ModelConfig:
        """Of the network, which `accept` has seen."""
        assert isinstance(self.config, ModelConfig)
        return self.config

    def media(self, split: Split) -> MediaExamples:
        """The examples of a split."""
        examples = self.examples(split)
        assert isinstance(examples, MediaExamples)
        return examples

    def show(self, split: Split, indices: Sequence[int] | Indices, epoch: int) -> Tensor:
        """Pictures (B, C, H, W) as the network reads them; in train distorted as the settings say."""
        pixels, settings = self.media(split).pixels, self.settings
        assert pixels is not None
        assert isinstance(settings, PictureSettings)
        taken = pixels[np.asarray(indices)].transpose(0, 3, 1, 2)
        if split != "train" or not (settings.shift or settings.turn or settings.zoom or settings.inverted):
            return torch.from_numpy(scale_pixels(self.network_config, taken)).contiguous()
        drawn = draw_uniform((self.seed, epoch, 1), indices, DISTORTIONS)
        taken = np.where((drawn[:, 4] < settings.inverted)[:, None, None, None], 255 - taken, taken)
        shown = torch.from_numpy(scale_pixels(self.network_config, taken))
        return distort(shown, torch.from_numpy(2 * drawn[:, :4] - 1), settings)


def distort(pictures: Tensor, drawn: Tensor, settings: PictureSettings) -> Tensor:
    """Pictures moved, turned and resized by numbers from -1 to 1 (B, 4): right, down, turn, zoom."""
    side = pictures.shape[-1]
    right, down, turn, zoom = drawn.float().unbind(1)
    angle, scale = turn * settings.turn * torch.pi / 2, 1 + zoom * settings.zoom
    shift = 2 * settings.shift / side
    rows = torch.stack(
        (
            scale * angle.cos(),
            -scale * angle.sin(),
            right * shift,
            scale * angle.sin(),
            scale * angle.cos(),
            down * shift,
        ),
        dim=1,
    ).view(-1, 2, 3)
    grid = F.affine_grid(rows, list(pictures.shape), align_corners=False)
    return F.grid_sample(pictures, grid, padding_mode="border", align_corners=False)


def play(
    sounds: Sequence[NDArray[np.float32]], config: ModelConfig, multiple: int = 1
) -> tuple[Tensor, Tensor | None]:
    """Sounds of any length as one batch, each to the end of a frame, and which frames are real.

    The batch has a `multiple` of frames, but no more than the network has positions for. With a relative
    spectrogram all sounds are padded to the longest, and the silence is real, too, as in `play_sound`.
    """
    real = frame_mask(config, torch.tensor([len(sound) for sound in sounds]))
    frames, relative = real.shape[1], config.spectrogram == "relative"
    wanted = config.longest_sound if relative else min(frames + -frames % multiple, config.longest_sound)
    real = F.pad(real, (0, max(0, wanted - frames)), value=relative) | relative
    padded = np.zeros((len(sounds), real.shape[1] * config.token_samples), np.float32)
    for row, sound in zip(padded, sounds, strict=True):
        row[: len(sound)] = sound
    return torch.from_numpy(padded), None if bool(real.all()) else real


def collate_words(
    rows: Sequence[NDArray[np.int32]], tags: Sequence[int | None], ids: tuple[int, int, int]
) -> tuple[Tensor, Tensor, int]:
    """Targets and labels (B, T) of rows of words, with start, end and padding ids; and how many labels count.

    A tag stands behind the start and is no label: it is given, not guessed.
    """
    start, end, padding = ids
    opened = [[start] if tag is None else [start, tag] for tag in tags]
    longest = max(len(first) + len(row) for first, row in zip(opened, rows, strict=True))
    target = torch.full((len(rows), longest), padding)
    labels = torch.full((len(rows), longest), IGNORED)
    for number, (first, row) in enumerate(zip(opened, rows, strict=True)):
        before, last = len(first), len(first) + len(row)
        target[number, :before] = torch.tensor(first)
        target[number, before:last] = torch.from_numpy(row.astype(np.int64))
        labels[number, before - 1 : last - 1] = torch.from_numpy(row.astype(np.int64))
        labels[number, last - 1] = end
    return target, labels, sum(len(row) + 1 for row in rows)


def sum_word_loss(network: Network, batch: Batch, smoothing: float, memory: Tensor | None = None) -> Tensor:
    """Teacher forcing, as in translation; `memory`: what the encoder made of the batch, if that is known."""
    assert batch.target is not None
    looking = require_transformer(network)
    memory = looking.encode(batch.ids, batch.real) if memory is None else memory
    hidden = looking.decode(batch.target, memory=memory, memory_real=batch.real)
    return looking.loss(hidden, batch.labels, smoothing) * batch.count


def writing_settings(task: Task) -> dict[str, Any]:
    """Settings of a network that writes: those of translation."""
    roles = task.tokenizer.roles
    padding = roles.get("padding", 0)
    return {
        "vocabulary_size": task.tokenizer.size,
        "shape": "encoder-decoder",
        "head": "language",
        "padding_id": padding,
        "start_id": roles.get("start", padding),
        "end_id": roles.get("end"),
    }


def writing_ids(task: Task) -> tuple[int, int, int]:
    """Start, end and padding."""
    start, end = task.special_id("start_id"), task.special_id("end_id")
    if start is None or end is None:
        raise ConfigurationError("tasks.translation.no_end_token")
    return start, end, task.special_id("padding_id")


def make_batch(inputs: Tensor, real: Tensor | None, words: tuple[Tensor, Tensor, int], tokens: int) -> Batch:
    """A batch of a network that writes."""
    target, labels, count = words
    return replace(Batch(inputs, labels, count, count + tokens, real), target=target)
