"""Where the texts of a study come from.

In:   an iterable of texts; or paths of files (plain text, TSV, CSV, JSON lines, Parquet, CoNLL-U), of folders
      of them, or of two parallel files.
Out:  texts, or pairs of texts, one at a time. Damaged lines are counted and listed, never fatal.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.metrics.gold import Sentence, read_blocks, read_tree
from glassformer.text.arrow import is_dataset
from glassformer.text.files import Problems, find_format
from glassformer.text.readers import FORMATS, read_parallel, read_rows
from glassformer.text.table import Column, TableFormat

NAMED = 3  # files that are not read


@dataclass(slots=True)
class TextFiles:
    """Texts of files, read anew by each iteration.

    >>> from pathlib import Path
    >>> _ = Path("texts.txt").write_text("The cat sleeps." + chr(10) + "A dog barks." + chr(10))
    >>> list(gf.TextFiles("texts.txt"))
    ['The cat sleeps.', 'A dog barks.']

    A pair of `columns` gives pairs of texts; so do two `parallel` files, line by line.
    """

    path: str | Path
    columns: Sequence[Column] = (0,)
    parallel: str | Path | None = None  # a second file, whose lines translate those of the first
    trees: bool = False  # sentences of CoNLL-U files as they are, with their trees
    header: bool | None = None  # whether the first row of a table names its columns; None: as it looks
    limit: int | None = None  # no more than the first so many
    problems: Problems = field(default_factory=lambda: Problems("skip"))  # of the last iteration

    def __post_init__(self) -> None:
        if not 1 <= len(self.columns) <= 2:
            raise InputError("study.columns", count=len(self.columns))
        for path in (self.path, self.parallel):
            if path is not None and not Path(path).exists():
                raise InputError("study.no_file", path=path)
        if self.limit is not None and self.limit < 1:
            raise InputError("study.limit", limit=self.limit)

    def __iter__(self) -> Iterator[Any]:
        return islice(self._read(), self.limit)

    def _read(self) -> Iterator[Any]:
        self.problems = Problems("skip")
        if self.parallel is not None:
            yield from ((row[0], row[1]) for row in read_parallel(self.path, self.parallel, self.problems))
            return
        any_text, first = False, None
        for path in list_text_files(Path(self.path), self.problems):
            try:
                for text in self._read_file(path):
                    any_text = True
                    yield text
            except InputError as error:  # the rest of this file cannot be read
                self.problems.report(path, 0, error.message)
                first = first or error
        if first is not None and not any_text:
            raise first

    def _read_file(self, path: Path) -> Iterator[str | tuple[str, str] | Sentence]:
        if _is_conllu(path):
            yield from (tree if self.trees else tree.text for tree in read_trees(path, self.problems))
        else:
            for row in read_rows(path, self.columns, self.problems, TableFormat(self.header)):
                yield row[0] if len(row) == 1 else (row[0], row[1])

    def count(self) -> int:
        """How many there are, by reading them all."""
        return sum(1 for _ in self)


def read_trees(path: Path, problems: Problems) -> Iterator[Sentence]:
    """Sentences of a CoNLL-U file; one that is damaged is left out, up to the blank line behind it."""
    for block in read_blocks(path):
        try:
            sentence = read_tree(path, block)
        except InputError as error:
            where = error.message.parameters
            problems.report(path, where["number"], where["reason"])
            continue
        if sentence.words:
            yield sentence


def list_text_files(path: Path, problems: Problems) -> list[Path]:
    """A file, or the files of a folder that can be read, by name, those of its folders included.

    Others are named in a remark, but for hidden ones.
    """
    if not path.is_dir() or is_dataset(path):
        return [path]
    known, others = list[Path](), list[str]()
    for each in sorted(path.rglob("*")):
        if each.is_file() and (_is_conllu(each) or find_format(each) in FORMATS):
            known.append(each)
        elif each.is_file() and not any(part.startswith(".") for part in each.relative_to(path).parts):
            others.append(str(each.relative_to(path)))
    if not known:
        raise InputError("study.no_files", folder=path, known=(*sorted(FORMATS), "conllu"))
    if others:
        problems.remark(message("study.other_files", count=len(others), folder=path, names=others[:NAMED]))
    return known


def _is_conllu(path: Path) -> bool:
    return find_format(path) == "conllu"
