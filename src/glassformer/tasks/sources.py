"""Where the examples of a split come from: files by name, by wildcard, or datasets with splits of their own.

In:   a path as a recipe has it, with `{split}` where each split has files of its own.
Out:  the files of a split; and which rows are dev and test where there is one file for all.

A row is held out by a digest of its text and a seed: whatever else is in the file and wherever the row
stands, it stays in its split, and so do all rows with the same text.
"""

import glob
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import ConfigurationError, InputError
from glassformer.messages import Message, message
from glassformer.settings import CountOrZero, Fraction, Settings, Share
from glassformer.text.files import OnError, Problems
from glassformer.text.readers import read_numbered_rows
from glassformer.text.table import Column, Row, TableFormat

SPLIT = "{split}"  # stands for train, dev or test in a path
NAMES = {"dev": ("dev", "validation", "valid", "val")}  # what else a split may be called
PARTS = ("train", "dev", "test")  # of one file
SPLITS = "dataset_dict.json"  # in a folder of `datasets`: the names of its splits


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings(Settings):
    """How files are read, and what is held out: settings of every task that reads files."""

    folder: str = "."  # that all paths start from
    held_out: Fraction = 0.1  # where one file has all splits: the share that is dev
    held_out_test: Share = 0.1  # and the share that is test; 0: there is no test split
    split_seed: CountOrZero = 0  # with the text of a row it decides which split the row is in
    header: bool | None = None  # TSV, CSV: whether the first row names the columns; None: as it looks
    quotes: bool | None = None  # whether fields may be in quotation marks; None: in CSV yes, in TSV no
    on_error: OnError = "refuse"  # what to do about broken lines

    def check(self) -> None:
        if self.held_out + self.held_out_test >= 1:
            raise ConfigurationError(
                "tasks.sources.shares", held_out=self.held_out, held_out_test=self.held_out_test
            )

    def find_files(self, path: str, split: str) -> list[Path]:
        """The files with the rows of a split, in order; those of the whole where one file has all splits."""
        return find_files(path, self.folder, split)

    def is_divided(self, path: str) -> bool:
        """Whether each split has files of its own."""
        return SPLIT in path or (Path(self.folder).expanduser() / path / SPLITS).is_file()

    def has_split(self, path: str, split: str) -> bool:
        """Whether there is anything to read for a split."""
        if self.is_divided(path):
            try:
                return all(file.exists() for file in self.find_files(path, split))
            except InputError:  # no file matches
                return False
        return split in PARTS and (split != "test" or self.held_out_test > 0)

    def require_split(self, path: str, split: str) -> None:
        """Refuse a split that is not made of one file."""
        if not self.is_divided(path) and not self.has_split(path, split):
            code = "tasks.sources.no_test" if split == "test" else "tasks.sources.unknown_split"
            raise InputError(code, path=path, split=split, known=PARTS)

    def read(
        self,
        path: str,
        split: str,
        columns: Sequence[Column],
        problems: Problems,
        *,
        key: Callable[[Row], str],
        names: tuple[str, ...] = (),
    ) -> Iterator[tuple[Path, int, Row]]:
        """File, line and cells of each row of a split; `key`: the text of a row, `names`: of columns."""
        table = self.table(names)
        keep = self.choose(path, split)
        for file in self.find_files(path, split):
            for number, row in read_numbered_rows(file, columns, problems, table):
                if keep is None or keep(key(row)):
                    yield file, number, row

    def table(self, names: tuple[str, ...] = ()) -> TableFormat:
        """How tables are read."""
        return TableFormat(self.header, self.quotes, names)

    def choose(self, path: str, split: str) -> Callable[[str], bool] | None:
        """Whether a text is in a split; None where all texts of the files are."""
        self.require_split(path, split)
        if self.is_divided(path):
            return None
        return lambda text: self.find_split(text) == split

    def find_split(self, text: str) -> Literal["train", "dev", "test"]:
        """The split that a text is in, where one file has all."""
        digest = hashlib.blake2b(f"{self.split_seed}\n{normalise(text)}".encode(), digest_size=8).digest()
        place = int.from_bytes(digest, "big") / 2**64
        if place < self.held_out:
            return "dev"
        return "test" if place < self.held_out + self.held_out_test else "train"

    def describe_held_out(self, path: str) -> Message | None:
        """How one file is divided; None where each split has files."""
        if self.is_divided(path):
            return None
        return message(
            "tasks.sources.held_out",
            path=path,
            dev=self.held_out,
            test=self.held_out_test,
            seed=self.split_seed,
        )


def find_files(path: str, folder: str, split: str) -> list[Path]:
    """The files of a split; a name without wildcards is one file, whether it exists or not."""
    if SPLIT not in path and (Path(folder).expanduser() / path / SPLITS).is_file():
        path = f"{path}/{SPLIT}"
    names = NAMES.get(split, (split,)) if SPLIT in path else (split,)
    for name in names:
        place = Path(folder).expanduser() / path.replace(SPLIT, name)
        if place.exists():
            return [place]
        if glob.has_magic(str(place)):
            found = sorted(map(Path, glob.glob(str(place), recursive=True)))
            if found:
                return found
    place = Path(folder).expanduser() / path.replace(SPLIT, split)
    if glob.has_magic(str(place)):
        raise InputError("tasks.sources.no_match", path=place) from FileNotFoundError(str(place))
    return [place]


def list_files(paths: Sequence[Path]) -> list[Path]:
    """All files, those inside folders included, sorted within each folder."""
    return [
        file
        for path in paths
        for file in (sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path])
    ]


def normalise(text: str) -> str:
    """A text without what does not make it another one: case, and how many blanks there are."""
    return " ".join(text.casefold().split())


def hash_text(text: str) -> int:
    """A number of 64 bits by which texts are compared."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def make_keys(rows: Sequence[Sequence[str]], width: int) -> NDArray[np.uint64]:
    """(row, width) numbers by which rows of texts are compared, whatever their case and blanks."""
    keys = [[hash_text(normalise(text)) for text in row] for row in rows]
    return np.array(keys, dtype=np.uint64).reshape(-1, width)
