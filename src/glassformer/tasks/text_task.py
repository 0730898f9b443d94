"""What tasks share that have one answer for a text, or for two texts together: classification and regression.

In:   rows with an answer (a label, numbers) and a text, or folders named after labels.
Out:  texts as tokens, framed by special ones and cut to the longest length; the answer of each.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glassformer.config import ModelConfig, NetworkConfig
from glassformer.errors import ConfigurationError, InputError
from glassformer.messages import Message, message
from glassformer.model.generate import at_inference
from glassformer.settings import Count, Limits, Share
from glassformer.tasks.sources import SourceSettings, list_files, make_keys
from glassformer.tasks.task import Network, Split, Task, TaskExamples, find_device, require_transformer
from glassformer.text.batches import Batch, Indices
from glassformer.text.cache import Arrays, ArrayWriter, Meta
from glassformer.text.encoder import Encoder
from glassformer.text.files import Problems
from glassformer.text.progress import tracking
from glassformer.text.random_numbers import draw_uniform
from glassformer.text.sequences import Ids, Sequences, find_frame, in_chunks, pad_rows
from glassformer.text.table import Column, Row

AT_ONCE = 1024  # texts that are tokenised at a time


@dataclass(frozen=True, slots=True)
class TextSettings(SourceSettings):
    """What the tables `[task]` of these tasks share."""

    path: str  # such as "polarity/{split}.tsv.gz"
    text: int | str = 1  # the column with the text
    second_text: int | str | None = None  # the column with another text that belongs to it
    repeat: Count = 1  # how often the file itself is read in an epoch of training
    max_length: Annotated[int, Limits(least=8)] = 512  # tokens of an example, special ones included
    long: Literal["start", "both ends", "skip", "refuse"] = "start"  # what to keep of longer ones
    word_dropout: Share = 0.0  # share of words hidden from the network while it learns

    def answer_columns(self) -> list[Column]:
        """Where the answers are."""
        raise NotImplementedError

    def read_examples(self, split: Split, problems: Problems) -> Iterator[tuple[Path, int, Row]]:
        """File and line of each row, and its answers, text, and second text if there is one."""
        for _ in range(self.repeat if split == "train" else 1):
            yield from self.read_files(split, problems)

    def list_files(self, split: Split) -> list[Path]:
        """All files that are read for a split."""
        self.require_split(self.path, split)
        return list_files(self.find_files(self.path, split))

    def read_files(self, split: Split, problems: Problems) -> Iterator[tuple[Path, int, Row]]:
        """The rows of the file itself, once."""
        columns = [*self.answer_columns(), self.text]
        if self.second_text is not None:
            columns.append(self.second_text)
        yield from self.read(self.path, split, columns, problems, key=self.join_texts)

    def join_texts(self, row: Row) -> str:
        """The texts of a row without its answer: with another answer it is in the same split."""
        return "\n".join(row[len(self.answer_columns()) :])


class Answered(TaskExamples):
    """Texts as tokens, framed by special ones, and the answer to each."""

    def __init__(self, arrays: Arrays, notes: tuple[Message, ...]) -> None:
        """What `TextTask` wrote; `kinds` are segments: 0 in the first text, 1 in the second."""
        starts = np.concatenate(([0], np.cumsum(arrays["lengths"], dtype=np.int64)))
        self.rows = Sequences(arrays["ids"], starts)
        self.kinds = Sequences(arrays["kinds"], starts)
        self.answers = arrays["answers"]  # (example,) numbers of classes, or (example, number)
        self.lengths = arrays["lengths"]
        self.keys = arrays["keys"]
        self.notes = notes

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "ids": self.rows.ids,
            "starts": self.rows.starts,
            "kinds": self.kinds.ids,
            "answers": self.answers,
        }


class TextTask(Task):
    """A network with one vector for a text learns one answer."""

    style = "pair"
    compares = True
    settings: TextSettings

    @classmethod
    def texts(cls, settings: TextSettings) -> Iterator[str]:
        answers = len(settings.answer_columns())
        for _, _, row in settings.read_examples("train", Problems(settings.on_error)):
            yield from row[answers:]

    @classmethod
    def source_files(cls, settings: TextSettings, split: Split) -> list[Path]:
        return settings.list_files(split)

    def has_split(self, split: Split) -> bool:
        return self.settings.has_split(self.settings.path, split)

    def describe_held_out(self) -> list[Message]:
        text = self.settings.describe_held_out(self.settings.path)
        return [] if text is None else [text]

    @abstractmethod
    def read_answer(self, cells: Row) -> NDArray[Any] | Message:
        """The answer of a row, given its cells; or what is wrong with them."""

    def network_settings(self) -> dict[str, Any]:
        roles = self.tokenizer.roles
        return {
            "vocabulary_size": self.tokenizer.size,
            "shape": "encoder",
            "classes": len(self.labels),
            "segments": 2 if self.settings.second_text is not None else 0,
            "padding_id": roles.get("padding", roles.get("end", 0)),
        }

    def accept(self, config: NetworkConfig) -> None:
        head = self.network_settings()["head"]
        if not isinstance(config, ModelConfig) or config.head != head:
            raise ConfigurationError("tasks.wrong_head", head=head)
        if config.classes != len(self.labels):
            raise ConfigurationError(
                "tasks.wrong_classes", classes=config.classes, count=len(self.labels), labels=self.labels
            )
        super().accept(config)

    def read(self, split: Split) -> Answered:
        files, longest = self.settings.list_files(split), self.longest()

        def build(writer: ArrayWriter) -> Meta:
            return self._write(split, longest, writer)

        also = {"longest": longest, "labels": self.labels}
        arrays, meta = self.load_or_build(split, files, build, also)
        return Answered(arrays, tuple(map(Message.from_json, meta["notes"])))

    def answered(self, split: Split) -> Answered:
        """The examples of a split."""
        examples = self.examples(split)
        assert isinstance(examples, Answered)
        return examples

    def collate(self, split: Split, indices: Sequence[int] | Indices, epoch: int = 0) -> Batch:
        examples = self.answered(split)
        rows = [examples.rows[int(index)] for index in indices]
        ids, real = pad_rows(rows, self.special_id("padding_id"))
        if split == "train" and self.settings.word_dropout:
            ids = self._hide_words(ids, indices, epoch)
        paired = self.settings.second_text is not None
        kinds = pad_rows([examples.kinds[int(index)] for index in indices], 0)[0] if paired else None
        answers = torch.from_numpy(examples.answers[np.asarray(indices)])
        return Batch(ids, answers, len(rows), sum(map(len, rows)), real, segments=kinds)

    def answer_samples(self, network: Network, split: Split, count: int) -> tuple[Indices, list[str], Tensor]:
        """Examples from all over a split: their numbers, their texts, and what the network gives for them."""
        examples = self.answered(split)
        indices = np.unique(np.linspace(0, len(examples.lengths) - 1, count).astype(np.int64))
        with at_inference(network):
            found = run_network(network, self.collate(split, indices).to(find_device(network)))
        texts = [self.tokenizer.decode(examples.rows[int(index)].tolist()) for index in indices]
        return indices, texts, found.cpu()

    def _write(self, split: Split, longest: int, writer: ArrayWriter) -> Meta:
        """Read, tokenise and frame the texts of a split, some thousand at a time."""
        problems = Problems(self.settings.on_error)
        width = len(self.settings.answer_columns())
        encode = Encoder(self.tokenizer)
        count = cut = 0

        def describe() -> Message:
            return message("tasks.progress.read", path=self.settings.path, split=split, rows=count)

        def rows() -> Iterator[tuple[NDArray[Any], Row]]:
            for path, line, row in self.settings.read_examples(split, problems):
                answer = self.read_answer(row[:width])
                if isinstance(answer, Message):
                    problems.report(path, line, answer)
                else:
                    yield answer, row

        with tracking(describe, self.settings.list_files(split)) as tracker:
            for chunk in in_chunks(rows(), AT_ONCE):
                texts = list(zip(*(row for _, row in chunk), strict=True))[width:]
                answers = np.stack([answer for answer, _ in chunk])
                cut += self._frame([encode(each) for each in texts], answers, longest, count, writer)
                keys = [[self.settings.join_texts(row)] for _, row in chunk]
                writer.append("keys", make_keys(keys, 1))
                count += len(chunk)
                tracker.tick()
        notes = problems.notes()
        if not count or (self.settings.long == "skip" and cut == count):
            raise InputError("tasks.no_rows", path=self.settings.path, split=split)
        if cut:
            code = "tasks.texts_left_out" if self.settings.long == "skip" else "tasks.texts_cut"
            notes += (message(code, count=cut, total=count, longest=longest),)
        return {"notes": [note.to_json() for note in notes]}

    def _frame(
        self, parts: list[list[Ids]], answers: NDArray[Any], longest: int, first: int, writer: ArrayWriter
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
        writer.append("answers", answers[kept])
        return cut

    def _shorten(self, texts: list[Ids], room: int, number: int) -> list[Ids]:
        """Two texts lose tokens from the longer one first; none is left where long ones are skipped."""
        if self.settings.long == "refuse":
            raise InputError(
                "tasks.example_too_long",
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
            raise ConfigurationError("tasks.word_dropout")
        rows = ids.numpy()
        chance = draw_uniform((self.seed, epoch, 0), indices, rows.shape[1])
        hidden = (chance < self.settings.word_dropout) & self.is_ordinary(rows)
        return torch.from_numpy(np.where(hidden, instead, rows))


def run_network(network: Network, batch: Batch) -> Tensor:
    """Logits of classes (text, class) or of tags (text, token, tag), or numbers (text, number)."""
    found: Tensor = require_transformer(network)(batch.ids, batch.real, segments=batch.segments)
    return found if found.dtype == torch.float64 else found.float()


def _share_tokens(lengths: Sequence[int], room: int) -> list[int]:
    """How many tokens each of two texts keeps: the shorter one all of its, up to half."""
    first, second = lengths
    if first <= second:
        kept = min(first, max(room // 2, room - second))
        return [kept, room - kept]
    kept = min(second, max(room // 2, room - first))
    return [room - kept, kept]
