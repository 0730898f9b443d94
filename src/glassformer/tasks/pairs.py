"""Files of sentence pairs, read in one direction or in both, as the examples of a translation task.

In:   tables `[[task.files]]`.
Out:  `Pairs`: token ids of both sides, and in which direction each pair is used.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import ConfigurationError, InputError
from glassformer.messages import Message, message
from glassformer.settings import AtLeastZero, Count, CountOrZero, Limits, Settings, Share, read_settings
from glassformer.tasks.sources import SourceSettings, list_files
from glassformer.tasks.task import Split, TaskExamples
from glassformer.text.batches import Indices
from glassformer.text.cache import Arrays
from glassformer.text.files import Problems
from glassformer.text.readers import read_parallel
from glassformer.text.sequences import Sequences
from glassformer.text.table import Column, Row

Direction = tuple[str, str]  # from which language, into which


@dataclass(frozen=True, slots=True)
class PairFile(Settings):
    """One table `[[task.files]]`: a file with two languages, or two files that belong together."""

    path: str  # such as "en-fr/{split}.tsv.gz"
    languages: list[str]  # of its columns, such as ["en", "fr"]
    second_path: str | None = None  # the other language, where each has a file of its own
    columns: list[int | str] | None = None  # where the two languages are; None: the first two columns
    directions: Literal["both", "forward", "backward"] = "both"
    repeat: Count = 1  # how often it is read in an epoch: more for a small file among large ones

    def check(self) -> None:
        for name, value in (("languages", self.languages), ("columns", self.columns)):
            if value is not None and len(value) != 2:
                raise ConfigurationError("tasks.translation.not_two", name=name, value=value)
        if len({language.strip() for language in self.languages} - {""}) != 2:
            raise ConfigurationError("tasks.translation.languages", languages=self.languages)

    def read(self, settings: SourceSettings, split: Split, problems: Problems) -> Iterator[Row]:
        """Its pairs, in the order of `languages`; those with the same first text are in the same split."""
        if self.second_path is None:
            columns: Sequence[Column] = self.columns or (0, 1)
            names = tuple(self.languages)
            for _, _, row in settings.read(
                self.path, split, columns, problems, key=itemgetter(0), names=names
            ):
                yield row
            return
        keep = settings.choose(self.path, split)
        firsts = settings.find_files(self.path, split)
        seconds = settings.find_files(self.second_path, split)
        if len(firsts) != len(seconds):
            raise InputError(
                "tasks.translation.unequal_files",
                path=self.path,
                count=len(firsts),
                second_path=self.second_path,
                second=len(seconds),
            )
        for first, second in zip(firsts, seconds, strict=True):
            for row in read_parallel(first, second, problems):
                if keep is None or keep(row[0]):
                    yield row

    def list_files(self, settings: SourceSettings, split: Split) -> list[Path]:
        """All files that are read for a split."""
        settings.require_split(self.path, split)
        paths = [path for path in (self.path, self.second_path) if path is not None]
        return list_files([file for path in paths for file in settings.find_files(path, split)])

    def ways(self) -> list[tuple[bool, Direction]]:
        """Whether it is read backwards, and the direction that this makes."""
        first, second = self.languages
        ways = [(False, (first, second)), (True, (second, first))]
        return {"both": ways, "forward": ways[:1], "backward": ways[1:]}[self.directions]


@dataclass(frozen=True, slots=True)
class TranslationSettings(SourceSettings):
    """The table `[task]` with name = "translation"."""

    files: list[dict[str, Any]]  # tables of `PairFile`
    tags: bool = True  # the target language is named in front of the source
    max_length: Annotated[int, Limits(least=3)] = 128  # pairs with more tokens on either side are left out
    label_smoothing: Share = 0.1  # section 5.4 of the paper
    # Each batch goes through the network twice, with other dropout, and what the passes say is drawn together
    # by this weight (R-Drop, Liang et al. 2021, whose α is twice as large: their 5 is 2.5 here); 0: one pass
    consistency: AtLeastZero = 0.0
    word_dropout: Share = 0.0  # share of the tokens that training hides where they are read, on both sides
    scored: CountOrZero = 0  # sentences of each direction to translate and score at every evaluation; 0: none

    def check(self) -> None:
        SourceSettings.check(self)
        if not self.files:
            raise ConfigurationError("tasks.translation.no_files")
        into = list(dict.fromkeys(language for _, language in self.directions()))
        if not self.tags and len(into) > 1:
            raise ConfigurationError("tasks.translation.no_tags", languages=into)

    def pairs(self) -> list[PairFile]:
        """The files as settings."""
        return [read_settings(PairFile, table) for table in self.files]

    def directions(self) -> list[Direction]:
        """All directions, each once."""
        return list(dict.fromkeys(way for file in self.pairs() for _, way in file.ways()))


def tag(language: str) -> str:
    """The token that names a target language."""
    return f">>{language}<<"


class Pairs(TaskExamples):
    """Sentence pairs, each in one direction; a pair that is used in both is tokenised once."""

    def __init__(self, arrays: Arrays, uses: NDArray[np.int64], notes: tuple[Message, ...]) -> None:
        """`uses` (example, 3): number of the pair, 1 where it is read backwards, id of the tag or -1."""
        starts = np.concatenate(([0], np.cumsum(arrays["lengths"], dtype=np.int64)))
        self.texts = Sequences(arrays["ids"], starts)  # all first sides, then all second sides
        self.count = len(self.texts) // 2
        self.uses = uses
        self.keys = arrays["keys"]
        self.notes = notes

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"ids": self.texts.ids, "starts": self.texts.starts, "uses": self.uses}

    def find(self, indices: Sequence[int] | Indices) -> tuple[Indices, Indices, Indices]:
        """For some examples: which text is read, which is written, and the tag that asks for it."""
        pair, back, named = self.uses[np.asarray(indices)].T
        return pair + back * self.count, pair + (1 - back) * self.count, named

    def measure(self, around: int) -> NDArray[np.int64]:
        """Tokens (example,) of the longer side; `around` are the special ones of a source."""
        read, written, named = self.find(np.arange(len(self.uses)))
        lengths = self.texts.lengths
        return np.maximum(lengths[read] + around + (named >= 0), lengths[written] + 1)

    def keep(self, around: int, longest: int) -> None:
        """Leave out what is too long."""
        sizes = self.measure(around)
        fits = sizes <= longest
        if not fits.all():
            left = int((~fits).sum())
            self.notes += (message("tasks.pairs_left_out", count=left, total=len(fits), longest=longest),)
        self.uses, self.lengths = self.uses[fits], sizes[fits]
