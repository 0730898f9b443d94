"""Running text as one stream of tokens: what language models and masked language models learn from.

In:   files, or some for each split; where their documents end.
Out:  a `Stream`: tokens, the number of bytes that they stand for, and what was left out.

Where one text has all splits its end is dev, and test is what stands before that: neighbouring sentences are
alike, so that sentences drawn from all over the text would be no honest test. Rows of a table are held out
one by one, as everywhere.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import ConfigurationError, InputError
from glassformer.messages import Message, message
from glassformer.settings import Count, Settings, Share, read_settings
from glassformer.tasks.sources import SourceSettings, hash_text, list_files
from glassformer.text.cache import Arrays, ArrayWriter, Meta
from glassformer.text.encoder import Encoder, Ids
from glassformer.text.files import Problems, find_format, read_lines
from glassformer.text.progress import tracking, untracked
from glassformer.text.readers import read_rows
from glassformer.text.tokenizer import Tokenizer

Documents = Literal["file", "line", "blank"]  # what ends a document: its file, a line, or a blank line
TABLES = ("tsv", "csv", "jsonl", "parquet", "arrow")

AT_ONCE = 1 << 19  # characters that are tokenised at a time
COMPARED = 40  # characters of a line from which on it is looked for in other splits


@dataclass(frozen=True, slots=True)
class MoreText(Settings):
    """One table `[[task.also]]`: another file to learn from."""

    path: str  # such as "reviews/{split}.tsv.gz"
    column: int | str | None = None  # as in the table `[task]`
    documents: Documents = "file"
    repeat: Count = 1  # how often it is read in an epoch: more for a small file beside a large one

    def check(self) -> None:
        _check_column(self.path, self.column)


@dataclass(frozen=True, slots=True)
class CorpusSettings(SourceSettings):
    """Which text, and where its documents end."""

    path: str  # such as "novels.{split}.txt.xz"; without {split} the end of the text is held out
    column: int | str | None = None  # with the text, in a table (TSV, JSONL …); each row is a document
    documents: Documents = "file"
    also: list[dict[str, Any]] = field(default_factory=list)  # tables of `MoreText`, for training alone
    # where one file has all splits: the share that is test; 0: there is no test split
    held_out_test: Share = field(default=0.0, kw_only=True)

    def check(self) -> None:
        SourceSettings.check(self)
        _check_column(self.path, self.column)
        self.more()

    def more(self) -> list[MoreText]:
        """The other files as settings."""
        return [read_settings(MoreText, table) for table in self.also]

    def describe_held_out(self, path: str) -> Message | None:
        """The same; where a text is cut nothing is drawn, so that the seed says nothing."""
        if self.column is not None or self.is_divided(path):
            return SourceSettings.describe_held_out(self, path)
        return message("tasks.corpus.held_out", path=path, dev=self.held_out, test=self.held_out_test)

    def list_files(self, split: str) -> list[Path]:
        """All files that are read for a split."""
        self.require_split(self.path, split)
        paths = self.find_files(self.path, split)
        for more in self.more() if split == "train" else ():
            paths += self.find_files(more.path, split)
        return list_files(paths)


def _check_column(path: str, column: int | str | None) -> None:
    if column is None and find_format(Path(path)) in TABLES:
        raise ConfigurationError("tasks.corpus.columns", path=path)


@dataclass(frozen=True, slots=True)
class Stream:
    """A corpus as one long row of tokens, with a token for the end of each document and one in front."""

    ids: Ids
    bytes: int  # of the text, line ends included
    notes: tuple[Message, ...]
    keys: NDArray[np.uint64]  # (line, 1) of its longer lines, see `sources.hash_text`
    lines: int

    @classmethod
    def from_cache(cls, arrays: Arrays, meta: Meta) -> "Stream":
        """What `write_stream` wrote."""
        notes = tuple(map(Message.from_json, meta["notes"]))
        return cls(arrays["ids"], meta["bytes"], notes, arrays["keys"], meta["lines"])


def write_stream(
    settings: CorpusSettings, split: str, tokenizer: Tokenizer, end_id: int | None, writer: ArrayWriter
) -> Meta:
    """Write the tokens of a split. Each token of the text has one before it, so that it can be predicted."""
    problems = Problems(settings.on_error)
    encode = Encoder(tokenizer)
    size = lines = tokens = 0
    pieces: list[str] = []
    ends: list[int] = [0]  # how many of the pieces stand before the end of a document: one end in front
    closed = True  # whether the last token is an end

    def flush() -> None:
        nonlocal tokens, closed
        rows = encode(pieces)
        ids = np.concatenate([np.zeros(0, dtype=np.int32), *rows])
        if end_id is not None and ends:
            starts = np.cumsum([0, *map(len, rows)])
            ids = np.insert(ids, starts[np.unique(ends)], end_id).astype(np.int32)
        writer.append("ids", ids)
        keys = [[hash_text(piece.strip())] for piece in pieces if len(piece) >= COMPARED]
        writer.append("keys", np.array(keys, dtype=np.uint64).reshape(-1, 1))
        tokens += len(ids)
        closed = len(pieces) in ends
        pieces.clear()
        ends.clear()

    def describe() -> Message:
        return message("tasks.progress.tokenise", path=settings.path, split=split, tokens=tokens)

    waiting = 0
    with tracking(describe, settings.list_files(split)) as tracker:
        for text, closes in read_pieces(settings, split, problems):
            size += len(text.encode())
            words = text.rstrip("\r\n") if closes else text  # the end of a document stands for the line end
            lines += bool(text)
            if words:
                pieces.append(words)
                waiting += len(words)
            if closes and (pieces or not closed):
                ends.append(len(pieces))
            if waiting >= AT_ONCE:
                flush()
                waiting = 0
                tracker.tick()
        flush()
    if tokens == (end_id is not None):
        raise InputError("tasks.corpus.empty", path=settings.path, split=split)
    return {"bytes": size, "lines": lines, "notes": [note.to_json() for note in problems.notes()]}


def read_pieces(settings: CorpusSettings, split: str, problems: Problems) -> Iterator[tuple[str, bool]]:
    """Text bit by bit, all bytes of it; True where a document ends with this piece."""
    settings.require_split(settings.path, split)
    if settings.column is not None:
        for _, _, (text,) in settings.read(
            settings.path, split, (settings.column,), problems, key=itemgetter(0)
        ):
            yield f"{text}\n", True
    elif settings.is_divided(settings.path):
        yield from _read_whole(settings, settings.path, split, settings.documents, problems)
    else:
        yield from _read_part(settings, split, problems)
    for more in settings.more() if split == "train" else ():
        for _ in range(more.repeat):
            if more.column is None:
                yield from _read_whole(settings, more.path, split, more.documents, problems)
                continue
            yield "", True  # the text before it ends
            for file in settings.find_files(more.path, split):  # nothing of it is held out
                for (text,) in read_rows(file, (more.column,), problems, settings.table()):
                    yield f"{text}\n", True


def _read_whole(
    settings: CorpusSettings, path: str, split: str, documents: Documents, problems: Problems
) -> Iterator[tuple[str, bool]]:
    for file in settings.find_files(path, split):
        yield from _close((line for _, line in read_lines(file, problems, ends=True)), documents)


def _read_part(settings: CorpusSettings, split: str, problems: Problems) -> Iterator[tuple[str, bool]]:
    """The text of one split, where all files together are divided by the number of characters."""
    files = settings.find_files(settings.path, split)

    def read(about: Problems) -> Iterator[Iterable[str]]:
        return ((line for _, line in read_lines(file, about, ends=True)) for file in files)

    kept = None if all(file.is_file() for file in files) else [*map(list, read(problems))]  # pipes: read once
    with untracked():
        length = sum(len(line) for lines in kept or read(Problems(settings.on_error)) for line in lines)
    ends = {
        "train": int(length * (1 - settings.held_out - settings.held_out_test)),
        "test": int(length * (1 - settings.held_out)),
        "dev": length,
    }
    start = {"train": 0, "test": ends["train"], "dev": ends["test"]}[split]
    end, place = ends[split], 0

    def cut(lines: Iterable[str]) -> Iterator[str]:
        nonlocal place
        for line in lines:
            part = line[max(0, start - place) : max(0, end - place)]
            place += len(line)
            if part:
                yield part
            if place >= end:
                return

    for lines in kept or read(problems):
        yield from _close(cut(lines), settings.documents)
        if place >= end:
            return


def _close(lines: Iterable[str], documents: Documents) -> Iterator[tuple[str, bool]]:
    """The lines of one file; what was read before it belongs to another document."""
    yield "", True
    for line in lines:
        yield line, documents == "line" or (documents == "blank" and not line.strip())
    if documents == "file":
        yield "", True
