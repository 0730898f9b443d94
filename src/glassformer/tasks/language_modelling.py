"""Language modelling: every token is predicted from those before it.

In:   running text, cut into windows of equal length wherever they fall.
Out:  loss, perplexity and bits per byte; every byte of a held-out text counts, once.

Windows begin elsewhere in each epoch. Some may be replaced by a random span that is repeated, which teaches
what text alone teaches small networks too slowly: to look for what followed the last time (induction).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.config import ModelConfig, NetworkConfig
from glassformer.deprecated import rename_argument
from glassformer.errors import ConfigurationError
from glassformer.loaded.model import Decode
from glassformer.loaded.native import NativeModel
from glassformer.messages import Message
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.loss import IGNORED
from glassformer.runlog.samples import Sample
from glassformer.settings import Limits, Share
from glassformer.tasks.answers import answer_texts, check_texts, open_model
from glassformer.tasks.corpus import CorpusSettings, Stream, read_pieces, write_stream
from glassformer.tasks.long import Long, LongTexts, read_long
from glassformer.tasks.scores import compute_bits_per_byte, compute_perplexity
from glassformer.tasks.task import (
    TASKS,
    Network,
    Split,
    Task,
    TaskExamples,
    require_transformer,
)
from glassformer.text.batches import Batch, Indices
from glassformer.text.cache import ArrayWriter, Meta
from glassformer.text.files import Problems
from glassformer.text.random_numbers import draw_uniform
from glassformer.text.sequences import Ids, pad_rows

SAMPLE_READ, SAMPLE_WRITTEN = 24, 40  # tokens of a sample
SHORTEST_SPAN = 4  # of a random span that is repeated


@dataclass(frozen=True, slots=True)
class LanguageModellingSettings(CorpusSettings):
    """The table `[task]` with name = "language_modelling"."""

    context: Annotated[int, Limits(least=2 * SHORTEST_SPAN)] = 256  # tokens of a window
    repeats: Share = 0.0  # share of windows that are a repeated random span instead of text
    label_smoothing: Share = 0.0


class Windows(TaskExamples):
    """Pieces of a stream, each predicting the tokens one further on."""

    def __init__(self, stream: Stream, context: int, *, whole: bool, around: int = 0) -> None:
        """`whole`: every token is predicted once and the last window may be short. Otherwise all are full.

        `around` counts what a task will add to each window.
        """
        self.stream = stream
        self.notes = stream.notes
        self.keys = stream.keys
        self.unit = "line"
        self.tokens = len(stream.ids)
        self.whole = whole
        self.around = around
        predicted = len(stream.ids) - 1
        self.context = min(context, predicted)
        if whole:
            self.count = -(-predicted // self.context)
        else:
            self.count = max(1, (predicted - self.context + 1) // self.context)  # leaves room to shift them
        self.lengths = np.full(self.count, self.context + around, dtype=np.int64)
        if whole:
            self.lengths[-1] -= self.count * self.context - predicted

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"ids": self.stream.ids}

    def take(self, index: int, shift: int) -> Ids:
        """One more token than the window is long: the last one is only predicted."""
        start = shift + index * self.context
        return self.stream.ids[start : start + int(self.lengths[index]) - self.around + 1]

    def draw_shift(self, seed: int, epoch: int) -> int:
        """Where the first window begins in this epoch."""
        if self.whole:
            return 0
        spare = len(self.stream.ids) - 1 - self.count * self.context
        return int(np.random.default_rng((seed, epoch)).integers(spare + 1))


class WindowTask(Task):
    """A task whose examples are windows of running text."""

    not_read = frozenset(
        {"folder", "context", "repeats", "label_smoothing", "share", "short", "relation", "paired"}
    )

    @classmethod
    def texts(cls, settings: CorpusSettings) -> Iterator[str]:
        pieces = read_pieces(settings, "train", Problems(settings.on_error))
        return (text for text, _ in pieces if text)

    @classmethod
    def source_files(cls, settings: CorpusSettings, split: Split) -> list[Path]:
        return settings.list_files(split)

    def has_split(self, split: Split) -> bool:
        return bool(self.settings.has_split(self.settings.path, split))

    def describe_held_out(self) -> list[Message]:
        text = self.settings.describe_held_out(self.settings.path)
        return [] if text is None else [text]

    def read_stream(self, split: Split, end_id: int | None) -> Stream:
        """The tokens of a split, from the cache where they are there."""
        files = self.settings.list_files(split)

        def build(writer: ArrayWriter) -> Meta:
            return write_stream(self.settings, split, self.tokenizer, end_id, writer)

        return Stream.from_cache(*self.load_or_build(split, files, build, {"end_id": end_id}))

    def windows(self, split: Split) -> Windows:
        """The examples of a split."""
        windows = self.examples(split)
        assert isinstance(windows, Windows)
        return windows


@TASKS.register("language_modelling")
class LanguageModelling(WindowTask):
    """A decoder learns to continue texts."""

    settings_kind = LanguageModellingSettings
    style = "text"
    settings: LanguageModellingSettings

    def network_settings(self) -> dict[str, Any]:
        roles = self.tokenizer.roles
        end = roles.get("end", 0)
        return {
            "vocabulary_size": self.tokenizer.size,
            "shape": "decoder",
            "head": "language",
            "padding_id": roles.get("padding", end),
            "start_id": roles.get("start", end),
            "end_id": roles.get("end"),
        }

    def accept(self, config: NetworkConfig) -> None:
        if not isinstance(config, ModelConfig) or config.shape != "decoder" or config.head != "language":
            raise ConfigurationError("tasks.language_modelling.wrong_network")
        if config.positions in ("learned", "sinusoidal", "sinusoidal-halves") and (
            self.settings.context > config.max_length
        ):
            raise ConfigurationError(
                "tasks.window_too_long", context=self.settings.context, limit=config.max_length
            )
        super().accept(config)

    def read(self, split: Split) -> Windows:
        end_id = self.tokenizer.roles.get("end", self.tokenizer.roles.get("separator"))
        stream = self.read_stream(split, end_id)
        return Windows(stream, self.settings.context, whole=split != "train")

    def collate(self, split: Split, indices: Sequence[int] | Indices, epoch: int = 0) -> Batch:
        windows = self.windows(split)
        shift = windows.draw_shift(self.seed, epoch)
        wanted = self.settings.repeats if split == "train" else 0.0
        repeated = draw_uniform((self.seed, epoch, 0), indices, 1)[:, 0] < wanted
        rows, answers = [], []
        for index, instead in zip(indices, repeated, strict=True):
            row, unknown = windows.take(int(index), shift), 0
            if instead:
                row, unknown = self._repeat(len(row), epoch, int(index))
            rows.append(row[:-1])
            answers.append(np.concatenate((np.full(unknown, IGNORED), row[1 + unknown :])))
        ids, _ = pad_rows(rows, self.network_settings()["padding_id"])
        labels, _ = pad_rows(answers, IGNORED)
        # No `real`: what stands on the right is never seen by a decoder.
        return Batch(ids, labels, count=int((labels != IGNORED).sum()), tokens=sum(map(len, rows)))

    def loss(self, network: Network, batch: Batch) -> Tensor:
        return self._sum(network, batch, self.settings.label_smoothing)

    def score_names(self) -> tuple[str, ...]:
        return ("loss", "perplexity", "bits_per_byte")

    def evaluate(self, network: Network, split: Split, *, limit: int | None = None) -> dict[str, float]:
        """Bits per byte of a part (`limit`) are those of its tokens at the whole text's bytes per token."""
        windows = self.windows(split)
        loss = self.mean_loss(network, split, limit, partial(self._sum, smoothing=0.0))
        scores = {"loss": loss, "perplexity": compute_perplexity(loss)}
        if windows.whole and self.is_lossless(windows.stream.ids):
            everything = loss * (len(windows.stream.ids) - 1)
            scores["bits_per_byte"] = compute_bits_per_byte(everything, windows.stream.bytes)
        return scores

    def samples(self, network: Network, split: Split, count: int) -> list[Sample]:
        """How texts from all over the split go on, each token the likeliest one."""
        ids = self.windows(split).stream.ids
        read, write = (min(most, network.config.max_length // 2) for most in (SAMPLE_READ, SAMPLE_WRITTEN))
        decode = GenerationSettings(max_new_tokens=write)
        model = NativeModel(network, self.tokenizer, generation=decode)
        starts = np.unique(np.linspace(0, max(0, len(ids) - read - write), count).astype(int))
        texts = [self.tokenizer.decode(ids[start : start + read].tolist()) for start in starts]
        wanted = [
            self.tokenizer.decode(ids[start + read : start + read + write].tolist()) for start in starts
        ]
        written = generate(model, texts, decode=decode, long="truncate")
        return [
            Sample(text, whole.removeprefix(text), target)
            for text, whole, target in zip(texts, written, wanted, strict=True)
        ]

    def is_lossless(self, ids: Ids) -> bool:
        """Whether no token is the unknown one; otherwise bits per byte would leave out what it stands for."""
        unknown = self.tokenizer.roles.get("unknown")
        return (
            unknown is None or unknown == self.tokenizer.roles.get("end") or not bool((ids == unknown).any())
        )

    def _sum(self, network: Network, batch: Batch, smoothing: float) -> Tensor:
        network = require_transformer(network)
        return network.loss(network.decode(batch.ids), batch.labels, smoothing) * batch.count

    def _repeat(self, length: int, epoch: int, index: int) -> tuple[Ids, int]:
        """A random span again and again, and how many of its tokens cannot be predicted: the first time."""
        random = np.random.default_rng((self.seed, epoch, index))
        shortest = min(SHORTEST_SPAN, length // 2)
        span = random.choice(self.ordinary_ids(), int(random.integers(shortest, length // 2 + 1)))
        return np.resize(span, length).astype(np.int32), len(span) - 1


@overload
def generate(
    model: Any,
    texts: Iterable[str],
    *,
    tokenizer: Any = None,
    decode: Decode = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: Literal[False] = False,
) -> list[str]: ...


@overload
def generate(
    model: Any,
    texts: Iterable[str],
    *,
    tokenizer: Any = None,
    decode: Decode = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: Literal[True],
) -> Iterator[str]: ...


@rename_argument("settings", "decode")
def generate(
    model: Any,
    texts: Iterable[str],
    *,
    tokenizer: Any = None,
    decode: Decode = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: bool = False,
) -> list[str] | Iterator[str]:
    """Each text with its continuation, in order.

    `decode` says how to generate, as in `record`; without any, the model generates as its files say.
    `long` says what happens to a text that is too long: "refuse" it; "truncate": only its end is read;
    "skip": the answer is blank. `LongTexts` counts them. `stream=True` gives an iterator, whose texts come as
    soon as they are written.

    >>> gf.generate("zoo/gpt2", ["Once upon a time"], decode={"max_new_tokens": 5})
    ['Once upon a time, I was not a']
    """
    opened = open_model(model, tokenizer, device=device, capability="generates")
    ways = read_long(long, ("truncate", "skip", "refuse"))
    answers = answer_texts(opened, check_texts(texts), opened.read_settings(decode), long=ways, soon=stream)
    return answers if stream else list(answers)
