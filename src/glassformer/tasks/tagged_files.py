"""Files of tagged words: CoNLL-U, or one word a line with its tag; sentences end at an empty line.

In:   a path, and which columns have the word and the tag.
Out:  `Sentence`s: words, tags, and before which words there is a space. Broken lines are reported.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.registry import suggestion
from glassformer.text.files import Problems, find_format, read_lines
from glassformer.text.table import Column, looks_like_header

CONLLU = ("conllu", "conll-u")  # ends of names
COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")  # of CoNLL-U
WORDS = ("token", "tokens", "word", "words", "form", "pos", "upos", "ner", "ner_tag", "tag")  # in a header
DOCUMENT = "-DOCSTART-"  # stands between documents in the files of CoNLL-2003
NO_TAG = "_"  # of CoNLL-U


@dataclass(slots=True)
class Sentence:
    """Words and their tags."""

    line: int = 0  # where it begins
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    spaced: list[bool] = field(default_factory=list)  # whether there is a space before each word

    @property
    def pieces(self) -> list[str]:
        """The words with the spaces before them: joined they are the sentence."""
        return [f" {word}" if space else word for word, space in zip(self.words, self.spaced, strict=True)]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def read_tagged(
    path: Path, word: Column | None, tag: Column | None, header: bool | None, problems: Problems
) -> Iterator[Sentence]:
    """The sentences of a file; None: the usual columns (`form` and `upos`; elsewhere the first and the last).

    In CoNLL-U a word of several (`3-4`) and one that was left out (`3.1`) have no tag: they are not read,
    but whether a space is after a word of several is said there, not at the last of them.
    """
    conllu = find_format(path) in CONLLU
    found = _Columns(path, conllu, word, tag, header, problems)
    sentence, spaced = Sentence(), False
    last, after = "", ""  # of a word of several: the number of the last of them, and its own last column
    for number, line in read_lines(path, problems):
        if not line.strip():
            if sentence.words:
                yield sentence
            sentence, spaced, last = Sentence(), False, ""
            continue
        if conllu and line.startswith("#"):
            continue
        cells = line.split("\t") if "\t" in line else line.split()
        if found.skips(cells):
            if conllu and "-" in cells[0]:
                last, after = cells[0].rpartition("-")[2], cells[-1]
            continue
        pair = found.pick(number, cells)
        if pair is None:
            continue
        sentence.line = sentence.line or number
        sentence.words.append(pair[0])
        sentence.tags.append(pair[1])
        sentence.spaced.append(spaced)
        spaced = not (conllu and "SpaceAfter=No" in (after if cells[0] == last else cells[-1]).split("|"))
    if sentence.words:
        yield sentence


class _Columns:
    """Where the word and the tag are, known from the first line on."""

    def __init__(
        self,
        path: Path,
        conllu: bool,
        word: Column | None,
        tag: Column | None,
        header: bool | None,
        problems: Problems,
    ) -> None:
        self.path = path
        self.conllu = conllu
        self.word = word if word is not None else "form" if conllu else 0
        self.tag = tag if tag is not None else "upos" if conllu else -1
        self.header = header
        self.problems = problems
        self.places: tuple[int, int] | None = None
        self.width = len(COLUMNS)
        if conllu:
            self.places = self._find(COLUMNS)

    def skips(self, cells: list[str]) -> bool:
        """Whether a line has no word of the text: a header, a document's start, several words in one."""
        if self.conllu:
            return len(cells) == len(COLUMNS) and not cells[0].isdigit()
        if self.places is None:
            return self._begin(cells)
        return cells[0] == DOCUMENT

    def pick(self, number: int, cells: list[str]) -> tuple[str, str] | None:
        """Word and tag of a line; None, and a report, where it is broken."""
        assert self.places is not None
        if len(cells) != self.width:
            reason = message("text.problem.width", count=len(cells), expected=self.width)
            self.problems.report(self.path, number, reason)
            return None
        word, tag = (cells[place].strip() for place in self.places)
        for name, cell in ((self.word, word), (self.tag, tag)):
            if not cell or (self.conllu and name == self.tag and cell == NO_TAG):
                reason = message("text.problem.empty_column", column=name)
                self.problems.report(self.path, number, reason)
                return None
        return " ".join(word.split()), tag

    def _begin(self, cells: list[str]) -> bool:
        """Look at the first line; whether it is a header."""
        if cells[0] == DOCUMENT:
            return True
        named = any(isinstance(column, str) for column in (self.word, self.tag))
        if named and self.header is False:
            column = next(each for each in (self.word, self.tag) if isinstance(each, str))
            raise InputError("text.name_without_header", path=self.path, column=column)
        self.width = len(cells)
        self.places = self._find(cells)
        if named or self.header:
            return True
        chosen = [cells[place] for place in self.places]
        if self.header is None and looks_like_header(chosen, WORDS):
            self.problems.remark(message("text.header_guessed", path=self.path, cells=chosen))
            return True
        return False

    def _find(self, names: tuple[str, ...] | list[str]) -> tuple[int, int]:
        places = []
        for column in (self.word, self.tag):
            if isinstance(column, str):
                if column not in names:
                    near = suggestion(column, names)
                    raise InputError("text.no_column_name", path=self.path, column=column, suggestion=near)
                places.append(list(names).index(column))
            elif not -len(names) <= column < len(names):
                raise InputError(
                    "text.no_column_number",
                    path=self.path,
                    count=len(names),
                    column=column,
                    row=tuple(names),
                )
            else:
                places.append(column % len(names))
        if places[0] == places[1]:
            raise InputError("tasks.tagging.one_column", path=self.path, row=tuple(names))
        return places[0], places[1]
