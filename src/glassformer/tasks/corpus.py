"""Running text as one stream of tokens: what language models and masked language models learn from.

In:   a file, or one for each split; where its documents end.
Out:  a `Stream`: tokens, the number of bytes that they stand for, and what was left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from glassformer.errors import ConfigurationError, InputError
from glassformer.messages import Message
from glassformer.settings import Count, Fraction, Settings, read_settings
from glassformer.text.files import OnError, Problems, find_format, read_lines
from glassformer.text.readers import read_rows
from glassformer.text.sequences import Ids, encode_texts
from glassformer.text.tokenizer import Tokenizer

SPLIT = "{split}"  # stands for train, dev or test in a path


Documents = Literal["file", "line", "blank"]  # what ends a document: file, line, or a blank line


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
class CorpusSettings(Settings):
    """Which text, and where its documents end."""

    path: str  # such as "novels.{split}.txt.xz"; without {split} the end of the file is held out
    folder: str = "."  # that the path starts from
    column: int | str | None = None  # with the text, in a TSV, CSV or JSONL file; each row is a document
    documents: Documents = "file"
    also: list[dict[str, Any]] = field(default_factory=list)  # tables of `MoreText`, for training alone
    held_out: Fraction = 0.1  # where one file has all splits: this share of its end is dev and test
    on_error: OnError = "refuse"  # what to do about broken lines

    def check(self) -> None:
        _check_column(self.path, self.column)
        self.more()

    def more(self) -> list[MoreText]:
        """The other files as settings."""
        return [read_settings(MoreText, table) for table in self.also]


def _check_column(path: str, column: int | str | None) -> None:
    if column is None and find_format(Path(path)) in ("tsv", "csv", "jsonl"):
        raise ConfigurationError("tasks.corpus.columns", path=path)


@dataclass(frozen=True, slots=True)
class Stream:
    """A corpus as one long row of tokens, with a token for the end of each document and one in front."""

    ids: Ids
    bytes: int  # of the text, line ends included
    notes: tuple[Message, ...]


def read_stream(settings: CorpusSettings, split: str, tokenizer: Tokenizer, end_id: int | None) -> Stream:
    """The tokens of a split. Every token of the text has one before it, so that each can be predicted."""
    problems = Problems(settings.on_error)
    size = 0
    ends: list[int] = []  # how many pieces there are when a document ends

    def pieces() -> Iterator[str]:
        nonlocal size
        count = 0
        for text, closes in read_pieces(settings, split, problems):
            size += len(text.encode())
            words = text.rstrip("\r\n") if closes else text  # the end of a document stands for the line end
            if words:
                count += 1
                yield words
            if closes:
                ends.append(count)

    sequences = encode_texts(tokenizer, pieces())
    if not len(sequences.ids):
        raise InputError("tasks.corpus.empty", path=settings.path, split=split)
    ids = sequences.ids
    if end_id is not None:
        places = sequences.starts[np.unique([0, *ends])]  # one in front, one behind each document
        ids = np.insert(ids, places, end_id).astype(np.int32)
    return Stream(ids, size, problems.notes())


def read_pieces(settings: CorpusSettings, split: str, problems: Problems) -> Iterator[tuple[str, bool]]:
    """Text bit by bit, all bytes of it; True where a document ends with this piece."""
    yield from _read_file(settings, split, problems)
    for more in settings.more() if split == "train" else ():
        part = replace(settings, path=more.path, column=more.column, documents=more.documents)
        for _ in range(more.repeat):
            yield from _read_file(part, split, problems)


def _read_file(settings: CorpusSettings, split: str, problems: Problems) -> Iterator[tuple[str, bool]]:
    path = find_path(settings.path, settings.folder, split)
    if settings.column is not None:
        for (text,) in read_rows(path, (settings.column,), problems):
            yield f"{text}\n", True
    elif SPLIT in settings.path:
        yield from _close(read_lines(path, problems, ends=True), settings.documents)
    else:
        text = "".join(line for _, line in read_lines(path, problems, ends=True))
        cut = int(len(text) * (1 - settings.held_out))
        part = text[:cut] if split == "train" else text[cut:]
        lines = [f"{line}\n" for line in part.split("\n")]
        lines[-1] = lines[-1][:-1]
        yield from _close(enumerate(filter(None, lines)), settings.documents)


def _close(lines: Iterator[tuple[int, str]] | enumerate[str], documents: str) -> Iterator[tuple[str, bool]]:
    for _, line in lines:
        yield line, documents == "line" or (documents == "blank" and not line.strip())
    if documents == "file":
        yield "", True


def find_path(path: str, folder: str, split: str) -> Path:
    """The file of a split."""
    return Path(folder).expanduser() / path.replace(SPLIT, split)
