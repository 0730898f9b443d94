"""Classification: one label for a text, or for two texts together.

In:   rows with a label and a text, or folders named after labels, as IMDb has them.
Out:  loss, accuracy and macro F1. How a network makes one vector of many tokens is its own `pooling`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from glassformer.config import ModelConfig, NetworkConfig
from glassformer.errors import ConfigurationError, InputError
from glassformer.loaded.model import LoadedModel
from glassformer.messages import Message, message
from glassformer.model.generate import at_inference
from glassformer.runlog.samples import Sample
from glassformer.settings import Count, Limits, Settings, Share, read_settings
from glassformer.tasks.answers import check_texts, encode_chunks, open_model
from glassformer.tasks.long import Long, LongTexts, read_long
from glassformer.tasks.scores import compute_accuracy, compute_macro_f1
from glassformer.tasks.sources import SourceSettings, list_files, make_keys
from glassformer.tasks.task import (
    TASKS,
    Measured,
    Network,
    Split,
    Task,
    TaskExamples,
    find_device,
    require_transformer,
)
from glassformer.text.arrow import is_dataset
from glassformer.text.batches import Batch, Indices
from glassformer.text.cache import Arrays, ArrayWriter, Meta
from glassformer.text.encoder import Encoder
from glassformer.text.files import Problems
from glassformer.text.progress import tracking
from glassformer.text.random_numbers import draw_uniform
from glassformer.text.readers import read_labelled_folders, read_numbered_rows
from glassformer.text.sequences import Ids, Sequences, find_frame, in_chunks, pad_rows
from glassformer.text.table import Column, Row

AT_ONCE = 1024  # texts that are tokenised at a time


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
class ClassificationSettings(SourceSettings):
    """The table `[task]` with name = "classification"."""

    path: str  # such as "polarity/{split}.tsv.gz", or a folder with a folder for each label
    label: int | str = 0  # the column with the label
    text: int | str = 1  # the column with the text
    second_text: int | str | None = None  # the column with another text that belongs to it
    also: list[dict[str, Any]] = field(default_factory=list)  # tables of `MoreLabelled`, for training alone
    repeat: Count = 1  # how often the file itself is read in an epoch of training
    labels: list[str] | None = None  # the classes in their order; None: those of the training split, sorted
    max_length: Annotated[int, Limits(least=8)] = 512  # tokens of an example, special ones included
    long: Literal["start", "both ends", "skip", "refuse"] = "start"  # what to keep of longer ones
    label_smoothing: Share = 0.0
    word_dropout: Share = 0.0  # share of words hidden from the network while it learns

    def check(self) -> None:
        SourceSettings.check(self)
        if self.labels is not None and (len(self.labels) < 2 or len(set(self.labels)) < len(self.labels)):
            raise ConfigurationError("tasks.classification.labels", labels=self.labels)
        if self.more() and self.second_text is not None:
            raise ConfigurationError("tasks.classification.also_second_text")

    def more(self) -> list[MoreLabelled]:
        """The other files as settings."""
        return [read_settings(MoreLabelled, table) for table in self.also]

    def read_examples(self, split: Split, problems: Problems) -> Iterator[tuple[Path, int, Row]]:
        """File and line of each row, and its label, text, and second text if there is one."""
        for _ in range(self.repeat if split == "train" else 1):
            yield from self._read_files(split, problems)
        for more in self.more() if split == "train" else ():
            yield from more.read(self, split, problems)

    def list_files(self, split: Split) -> list[Path]:
        """All files that are read for a split."""
        self.require_split(self.path, split)
        paths = self.find_files(self.path, split)
        for more in self.more() if split == "train" else ():
            paths += self.find_files(more.path, split)
        return list_files(paths)

    def _read_files(self, split: Split, problems: Problems) -> Iterator[tuple[Path, int, Row]]:
        folders = [
            path for path in self.find_files(self.path, split) if path.is_dir() and not is_dataset(path)
        ]
        if folders:
            keep = self.choose(self.path, split)
            for folder in folders:
                for row in read_labelled_folders(folder, problems):
                    if keep is None or keep(_join_texts(row)):
                        yield folder, 0, row
            return
        columns: list[Column] = [self.label, self.text]
        if self.second_text is not None:
            columns.append(self.second_text)
        yield from self.read(self.path, split, columns, problems, key=_join_texts)


def _join_texts(row: Row) -> str:
    """The texts of a row without its label: with another label it is in the same split."""
    return "\n".join(row[1:])


class Labelled(TaskExamples):
    """Texts as tokens, framed by special ones, and the number of each one's class."""

    def __init__(self, arrays: Arrays, notes: tuple[Message, ...]) -> None:
        """What `Classification` wrote; `kinds` are segments: 0 in the first text, 1 in the second."""
        starts = np.concatenate(([0], np.cumsum(arrays["lengths"], dtype=np.int64)))
        self.rows = Sequences(arrays["ids"], starts)
        self.kinds = Sequences(arrays["kinds"], starts)
        self.labels = arrays["labels"]
        self.lengths = arrays["lengths"]
        self.keys = arrays["keys"]
        self.notes = notes

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "ids": self.rows.ids,
            "starts": self.rows.starts,
            "kinds": self.kinds.ids,
            "labels": self.labels,
        }

    def count_classes(self, labels: Sequence[str]) -> dict[str, int]:
        counts = np.bincount(self.labels, minlength=len(labels)).tolist()
        return dict(zip(labels, counts, strict=True))


@TASKS.register("classification")
class Classification(Task):
    """A network with the head `classes` learns to sort texts."""

    settings_kind = ClassificationSettings
    style = "pair"
    compares = True
    settings: ClassificationSettings

    def __init__(self, settings: Any, tokenizer: Any, *, seed: int = 0) -> None:
        super().__init__(settings, tokenizer, seed=seed)
        self.labels = self._find_labels()

    @classmethod
    def texts(cls, settings: ClassificationSettings) -> Iterator[str]:
        for _, _, (_, *texts) in settings.read_examples("train", Problems(settings.on_error)):
            yield from texts

    @classmethod
    def source_files(cls, settings: ClassificationSettings, split: Split) -> list[Path]:
        return settings.list_files(split)

    def has_split(self, split: Split) -> bool:
        return self.settings.has_split(self.settings.path, split)

    def describe_held_out(self) -> list[Message]:
        text = self.settings.describe_held_out(self.settings.path)
        return [] if text is None else [text]

    def network_settings(self) -> dict[str, Any]:
        roles = self.tokenizer.roles
        return {
            "vocabulary_size": self.tokenizer.size,
            "shape": "encoder",
            "head": "classes",
            "classes": len(self.labels),
            "segments": 2 if self.settings.second_text is not None else 0,
            "padding_id": roles.get("padding", roles.get("end", 0)),
        }

    def accept(self, config: NetworkConfig) -> None:
        if not isinstance(config, ModelConfig) or config.head != "classes":
            raise ConfigurationError("tasks.classification.wrong_head")
        if config.classes != len(self.labels):
            raise ConfigurationError(
                "tasks.classification.wrong_classes",
                classes=config.classes,
                count=len(self.labels),
                labels=self.labels,
            )
        super().accept(config)

    def read(self, split: Split) -> Labelled:
        files, longest = self.settings.list_files(split), self.longest()

        def build(writer: ArrayWriter) -> Meta:
            return self._write(split, longest, writer)

        also = {"longest": longest, "labels": self.labels}
        arrays, meta = self.load_or_build(split, files, build, also)
        return Labelled(arrays, tuple(map(Message.from_json, meta["notes"])))

    def _write(self, split: Split, longest: int, writer: ArrayWriter) -> Meta:
        """Read, tokenise and frame the texts of a split, some thousand at a time."""
        problems = Problems(self.settings.on_error)
        numbers = {label: number for number, label in enumerate(self.labels)}
        encode = Encoder(self.tokenizer)
        count = cut = 0

        def describe() -> Message:
            return message("tasks.progress.read", path=self.settings.path, split=split, rows=count)

        def rows() -> Iterator[Row]:
            for path, line, row in self.settings.read_examples(split, problems):
                if row[0] in numbers:
                    yield row
                else:
                    reason = message("tasks.classification.unknown_label", label=row[0], labels=self.labels)
                    problems.report(path, line, reason)

        with tracking(describe, self.settings.list_files(split)) as tracker:
            for chunk in in_chunks(rows(), AT_ONCE):
                parts = [encode(texts) for texts in list(zip(*chunk, strict=True))[1:]]
                labels = np.array([numbers[row[0]] for row in chunk], dtype=np.int64)
                cut += self._frame(parts, labels, longest, count, writer)
                writer.append("keys", make_keys([[_join_texts(row)] for row in chunk], 1))
                count += len(chunk)
                tracker.tick()
        notes = problems.notes()
        if not count:
            raise InputError("tasks.classification.empty", path=self.settings.path, split=split)
        if cut:
            code = "tasks.texts_left_out" if self.settings.long == "skip" else "tasks.texts_cut"
            notes += (message(code, count=cut, total=count, longest=longest),)
        return {"notes": [note.to_json() for note in notes]}

    def collate(self, split: Split, indices: Sequence[int] | Indices, epoch: int = 0) -> Batch:
        examples = self.examples(split)
        assert isinstance(examples, Labelled)
        rows = [examples.rows[int(index)] for index in indices]
        ids, real = pad_rows(rows, self.special_id("padding_id"))
        if split == "train" and self.settings.word_dropout:
            ids = self._hide_words(ids, indices, epoch)
        paired = self.settings.second_text is not None
        kinds = pad_rows([examples.kinds[int(index)] for index in indices], 0)[0] if paired else None
        labels = torch.from_numpy(examples.labels[np.asarray(indices)])
        return Batch(ids, labels, len(rows), sum(map(len, rows)), real, segments=kinds)

    def loss(self, network: Network, batch: Batch) -> Tensor:
        logits = _run(network, batch)
        return F.cross_entropy(
            logits, batch.labels, reduction="sum", label_smoothing=self.settings.label_smoothing
        )

    def score_names(self) -> tuple[str, ...]:
        return ("loss", "accuracy", "macro_f1")

    def evaluate(self, network: Network, split: Split, *, limit: int | None = None) -> dict[str, float]:
        def measure(batch: Batch) -> Measured:
            return _run(network, batch), batch.labels

        total, guesses, labels = 0.0, [], []
        for logits, truth in self.measure_batches(network, split, limit, measure):
            total += float(F.cross_entropy(logits, truth, reduction="sum"))
            guesses += logits.argmax(-1).tolist()
            labels += truth.tolist()
        scores = {
            "loss": total / len(labels),
            "accuracy": compute_accuracy(guesses, labels),
            "macro_f1": compute_macro_f1(guesses, labels, len(self.labels)),
        }
        names = [[self.labels[number] for number in numbers] for numbers in (guesses, labels)]
        return scores | self.own_scores(*names)

    def samples(self, network: Network, split: Split, count: int) -> list[Sample]:
        """The classes that are guessed for examples from all over the split."""
        examples = self.examples(split)
        assert isinstance(examples, Labelled)
        indices = np.unique(np.linspace(0, len(examples.lengths) - 1, count).astype(int))
        with at_inference(network):
            batch = self.collate(split, indices).to(find_device(network))
            logits = _run(network, batch)
        guesses = logits.argmax(-1).tolist()
        return [
            Sample(
                self.tokenizer.decode(examples.rows[int(index)].tolist()),
                self.labels[guess],
                self.labels[int(examples.labels[index])],
            )
            for index, guess in zip(indices, guesses, strict=True)
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
            raise ConfigurationError(
                "tasks.classification.few_labels", path=self.settings.path, labels=labels
            )
        return tuple(labels)

    def _frame(
        self, parts: list[list[Ids]], labels: NDArray[np.int64], longest: int, first: int, writer: ArrayWriter
    ) -> int:
        """Write the texts with special tokens around them; how many were too long, and cut or left out."""
        before, after = (np.array(ids, dtype=np.int32) for ids in find_frame(self.tokenizer))
        room = longest - len(before) - len(after) * len(parts)
        rows: list[Ids] = [np.zeros(0, dtype=np.int32)]
        kinds: list[Ids] = [np.zeros(0, dtype=np.int32)]
        kept = []
        cut = 0
        for number, whole in enumerate(zip(*parts, strict=True)):
            texts = list(whole)
            if sum(map(len, texts)) > room:
                cut += 1
                texts = self._shorten(texts, room, first + number)
                if not texts:
                    continue
            rows.append(np.concatenate([before, *(piece for text in texts for piece in (text, after))]))
            second = len(before) + len(texts[0]) + len(after)
            kinds.append((np.arange(len(rows[-1])) >= second).astype(np.int32))
            kept.append(number)
        writer.append("ids", np.concatenate(rows))
        writer.append("kinds", np.concatenate(kinds))
        writer.append("lengths", np.array([len(row) for row in rows[1:]], dtype=np.int64))
        writer.append("labels", labels[kept])
        return cut

    def _shorten(self, texts: list[Ids], room: int, number: int) -> list[Ids]:
        """Two texts lose tokens from the longer one first; none is left where long ones are skipped."""
        if self.settings.long == "refuse":
            raise InputError(
                "tasks.classification.too_long",
                number=number + 1,
                path=self.settings.path,
                count=sum(map(len, texts)),
                room=room,
            )
        if self.settings.long == "skip":
            return []
        share = [room] if len(texts) == 1 else _share_tokens([len(text) for text in texts], room)
        if self.settings.long == "start":
            return [text[:most] for text, most in zip(texts, share, strict=True)]
        return [
            np.concatenate((text[: most - most // 2], text[len(text) - most // 2 :]))
            for text, most in zip(texts, share, strict=True)
        ]

    def _hide_words(self, ids: Tensor, indices: Sequence[int] | Indices, epoch: int) -> Tensor:
        roles = self.tokenizer.roles
        instead = roles.get("mask", roles.get("unknown"))
        if instead is None:
            raise ConfigurationError("tasks.classification.word_dropout")
        rows = ids.numpy()
        chance = draw_uniform((self.seed, epoch, 0), indices, rows.shape[1])
        hidden = (chance < self.settings.word_dropout) & self.is_ordinary(rows)
        return torch.from_numpy(np.where(hidden, instead, rows))


def _run(network: Network, batch: Batch) -> Tensor:
    logits: Tensor = require_transformer(network)(batch.ids, batch.real, segments=batch.segments)
    return logits.float()


def _share_tokens(lengths: Sequence[int], room: int) -> list[int]:
    """How many tokens each of two texts keeps: the shorter one all of its, up to half."""
    first, second = lengths
    if first <= second:
        kept = min(first, max(room // 2, room - second))
        return [kept, room - kept]
    kept = min(second, max(room // 2, room - first))
    return [room - kept, kept]


@dataclass(frozen=True, slots=True)
class Classified:
    """What a classifier makes of a text."""

    label: str  # empty: the text is blank, or was skipped
    probability: float
    probabilities: dict[str, float]  # of every label


@overload
def classify(
    model: Any,
    texts: Iterable[str],
    *,
    tokenizer: Any = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: Literal[False] = False,
) -> list[Classified]: ...


@overload
def classify(
    model: Any,
    texts: Iterable[str],
    *,
    tokenizer: Any = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: Literal[True],
) -> Iterator[Classified]: ...


def classify(
    model: Any,
    texts: Iterable[str],
    *,
    tokenizer: Any = None,
    long: Long | LongTexts = "refuse",
    device: str | torch.device | None = None,
    stream: bool = False,
) -> list[Classified] | Iterator[Classified]:
    """The label of each text, in order; a blank text has an empty one.

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


def _classify(model: LoadedModel, texts: Iterable[str], long: LongTexts) -> Iterator[Classified]:
    for chunk in encode_chunks(model, texts, long):
        chances = iter(model.classify([row for rows in chunk for row in rows]))
        for rows in chunk:
            if not rows:
                yield Classified("", 0.0, {})
                continue
            lengths = np.array([len(row) for row in rows])
            pieces = np.array([next(chances) for _ in rows])  # (piece, class)
            whole = pieces[0] if len(rows) == 1 else lengths @ pieces / lengths.sum()
            names = model.labels or tuple(f"LABEL_{number}" for number in range(len(whole)))
            best = int(np.argmax(whole))
            yield Classified(names[best], float(whole[best]), dict(zip(names, whole.tolist(), strict=True)))
