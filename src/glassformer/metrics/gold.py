"""Gold data: what people annotated by hand, for metrics to compare with.

In:   CoNLL-U files (plain or .gz); word alignments, one line a sentence pair, with the sentences beside them.
Out:  Sentence and AlignedPair. A broken line is refused with its file and number.
"""

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from glassformer.errors import InputError

_LINK = re.compile(r"(\d+)([-p])(\d+)")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a dependency tree; words are numbered from 0."""

    form: str
    tag: str  # universal part of speech
    head: int  # the word it depends on; -1 for the root
    relation: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its dependency tree."""

    name: str
    text: str  # as printed
    words: tuple[Word, ...]

    @property
    def forms(self) -> tuple[str, ...]:
        return tuple(word.form for word in self.words)


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """Two sentences and which of their words translate each other: links are (source word, target word)."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]  # sure links are possible, too

    def __post_init__(self) -> None:
        object.__setattr__(self, "possible", self.possible | self.sure)
        for link in sorted(self.possible):
            if not (0 <= link[0] < len(self.source) and 0 <= link[1] < len(self.target)):
                raise InputError(
                    f"A link joins words {link[0]} and {link[1]} of sentences of {len(self.source)} and "
                    f"{len(self.target)} words. Wanted words that are there, from 0. "
                    "Look at the order of the two sides."
                )

    def swapped(self) -> "AlignedPair":
        """The same pair read the other way round, for a model that translates the other way."""
        sure, possible = (frozenset((j, i) for i, j in links) for links in (self.sure, self.possible))
        return AlignedPair(self.target, self.source, sure, possible)


def read_conllu(path: str | Path) -> Iterator[Sentence]:
    """Sentences of a CoNLL-U file, one by one; ranges (1-2) and empty nodes (1.1) are passed over."""
    comments: dict[str, str] = {}
    words: list[Word] = []
    number = start = 0
    for number, line in _read_lines(path):
        if line.startswith("#"):
            name, _, value = line[1:].partition("=")
            comments[name.strip()] = value.strip()
        elif line.strip():
            start = start if words else number
            fields = line.split("\t")
            if len(fields) != 10:
                _refuse(path, number, f"{len(fields)} columns", "10, parted by tabs")
            if "-" not in fields[0] and "." not in fields[0]:
                words.append(_read_word(path, number, fields, len(words)))
        elif words:
            yield _finish(path, start, comments, words)
            comments, words = {}, []
    if words:
        yield _finish(path, start, comments, words)


def read_alignments(links: str | Path, source: str | Path, target: str | Path) -> tuple[AlignedPair, ...]:
    """Sentence pairs of three files, lines being number, tab, text; links are i-j (sure), ipj (possible)."""
    lines = [list(_read_lines(path)) for path in (links, source, target)]
    for path, each in zip((source, target), lines[1:], strict=True):
        if len(each) != len(lines[0]):
            _refuse(path, len(each), f"{len(each)} lines", f"{len(lines[0])}, as in {links}")
    pairs = []
    for (number, text), *sentences in zip(*lines, strict=True):
        name, _, written = text.partition("\t")
        for path, (_, sentence) in zip((source, target), sentences, strict=True):
            if sentence.partition("\t")[0] != name:
                _refuse(path, number, f"sentence {sentence[:20]!r}", f"number {name!r}, as in {links}")
        first, second = (tuple(sentence.partition("\t")[2].split()) for _, sentence in sentences)
        found: dict[str, set[tuple[int, int]]] = {"-": set(), "p": set()}
        for link in written.split():
            match = _LINK.fullmatch(link)
            if match is None:
                _refuse(links, number, f"{link!r}", "links such as 3-4 or 3p4")
            found[match[2]].add((int(match[1]), int(match[3])))
        try:
            pairs.append(AlignedPair(first, second, frozenset(found["-"]), frozenset(found["p"])))
        except InputError as error:
            raise InputError(f"{links}, line {number}: {error}") from None
    return tuple(pairs)


def _read_word(path: str | Path, number: int, fields: list[str], known: int) -> Word:
    if fields[0] != str(known + 1):
        _refuse(path, number, f"word {fields[0]!r}", f"word {known + 1}")
    if not fields[6].isdecimal():
        _refuse(path, number, f"head {fields[6]!r}", "a word's number, or 0 for the root")
    return Word(fields[1], fields[3], int(fields[6]) - 1, fields[7])


def _finish(path: str | Path, start: int, comments: dict[str, str], words: list[Word]) -> Sentence:
    for word in words:
        if word.head >= len(words):
            _refuse(
                path, start, f"a head {word.head + 1}", f"at most {len(words)}, the words of the sentence"
            )
    text = comments.get("text") or " ".join(word.form for word in words)
    return Sentence(comments.get("sent_id", f"line {start}"), text, tuple(words))


def _read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Numbered lines without their ends."""
    place = Path(path)
    number = 0
    try:
        with gzip.open(place, "rb") if place.suffix == ".gz" else place.open("rb") as file:
            for number, line in enumerate(file, 1):
                yield number, line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        _refuse(path, number, "bytes that are not UTF-8", "UTF-8 text")
    except (OSError, EOFError) as error:
        raise InputError(
            f"{path} cannot be read ({error}). Wanted a text file, or .gz. Check the path."
        ) from None


def _refuse(path: str | Path, number: int, saw: str, wanted: str) -> NoReturn:
    raise InputError(f"{path}, line {number}: saw {saw}. Wanted {wanted}. Mend the line.")
