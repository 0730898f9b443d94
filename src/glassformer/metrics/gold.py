"""Gold data: what people annotated by hand, for metrics to compare with.

In:   CoNLL-U files (plain, .gz, .xz); word alignments, one line a sentence pair, with sentences beside them.
Out:  Sentence and AlignedPair. A broken line is refused with its file and number.
"""

import gzip
import lzma
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.errors import InputError
from glassformer.messages import Message

_LINK = re.compile(r"(\d{1,9})([-p])(\d{1,9})")
_HEAD = re.compile(r"\d{1,9}")  # longer ones are no number of a word, and Python refuses to read them


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
        source, target = len(self.source), len(self.target)
        for i, j in sorted(self.possible):
            if not (0 <= i < source and 0 <= j < target):
                raise InputError("metrics.gold.wrong_link", first=i, second=j, source=source, target=target)

    def swapped(self) -> "AlignedPair":
        """The same pair read the other way round, for a model that translates the other way."""
        sure, possible = (frozenset((j, i) for i, j in links) for links in (self.sure, self.possible))
        return AlignedPair(self.target, self.source, sure, possible)


def read_conllu(path: str | Path) -> Iterator[Sentence]:
    """Sentences of a CoNLL-U file, one by one; ranges (1-2) and empty nodes (1.1) are passed over.

    >>> from pathlib import Path
    >>> cats, sleep = "1 cats _ _ _ _ 2 nsubj _ _", "2 sleep _ _ _ _ 0 root _ _"
    >>> _ = Path("trees.conllu").write_text("\\n".join([cats, sleep, "", ""]).replace(" ", "\\t"))
    >>> [sentence.forms for sentence in gf.read_conllu("trees.conllu")]
    [('cats', 'sleep')]
    """
    for block in read_blocks(path):
        sentence = read_tree(path, block)
        if sentence.words:
            yield sentence


def read_blocks(path: str | Path) -> Iterator[list[tuple[int, bytes]]]:
    """The numbered lines of each sentence of a CoNLL-U file: blank lines part them, whatever is in them."""
    block: list[tuple[int, bytes]] = []
    for number, line in _read_raw_lines(path):
        if line.strip():
            block.append((number, line))
        elif any(not each.startswith(b"#") for _, each in block):
            yield block
            block = []
    if any(not each.startswith(b"#") for _, each in block):
        yield block


def read_tree(path: str | Path, block: Sequence[tuple[int, bytes]]) -> Sentence:
    """The sentence of some lines; InputError names the line that is broken."""
    comments: dict[str, str] = {}
    words: list[Word] = []
    start = 0
    for number, raw in block:
        line = _decode(path, number, raw)
        if line.startswith("#"):
            name, _, value = line[1:].partition("=")
            comments[name.strip()] = value.strip()
            continue
        start = start if words else number
        fields = line.split("\t")
        if len(fields) != 10:
            raise _wrong_line(path, number, "columns", seen=len(fields))
        if "-" not in fields[0] and "." not in fields[0]:
            words.append(_read_word(path, number, fields, len(words)))
    return _finish(path, start, comments, words)


def read_alignments(links: str | Path, source: str | Path, target: str | Path) -> tuple[AlignedPair, ...]:
    """Sentence pairs of three files, lines being number, tab, text; links are i-j (sure), ipj (possible).

    >>> from pathlib import Path
    >>> for name, line in {"links": "0-0 1p1", "french": "le chat", "english": "the cat"}.items():
    ...     _ = Path(name).write_text(f"1\\t{line}\\n")
    >>> gf.read_alignments("links", "french", "english")[0].source
    ('le', 'chat')
    """
    lines = [list(_read_lines(path)) for path in (links, source, target)]
    for path, each in zip((source, target), lines[1:], strict=True):
        if len(each) != len(lines[0]):
            raise _wrong_line(
                path, len(each), "lines", seen=len(each), wanted=len(lines[0]), links=str(links)
            )
    pairs = []
    for (number, text), *sentences in zip(*lines, strict=True):
        name, _, written = text.partition("\t")
        for path, (_, sentence) in zip((source, target), sentences, strict=True):
            if sentence.partition("\t")[0] != name:
                raise _wrong_line(path, number, "number", seen=sentence[:20], wanted=name, links=str(links))
        first, second = (tuple(sentence.partition("\t")[2].split()) for _, sentence in sentences)
        found: dict[str, set[tuple[int, int]]] = {"-": set(), "p": set()}
        for link in written.split():
            match = _LINK.fullmatch(link)
            if match is None:
                raise _wrong_line(links, number, "link", seen=link)
            found[match[2]].add((int(match[1]), int(match[3])))
        try:
            pairs.append(AlignedPair(first, second, frozenset(found["-"]), frozenset(found["p"])))
        except InputError as error:
            raise _wrong_line(links, number, error.message) from None
    return tuple(pairs)


def _read_word(path: str | Path, number: int, fields: list[str], known: int) -> Word:
    if fields[0] != str(known + 1):
        raise _wrong_line(path, number, "word", seen=fields[0], wanted=known + 1)
    if not _HEAD.fullmatch(fields[6]):
        raise _wrong_line(path, number, "head", seen=fields[6])
    return Word(fields[1], fields[3], int(fields[6]) - 1, fields[7])


def _finish(path: str | Path, start: int, comments: dict[str, str], words: list[Word]) -> Sentence:
    for word in words:
        if word.head >= len(words):
            raise _wrong_line(path, start, "far_head", seen=word.head + 1, most=len(words))
    text = comments.get("text") or " ".join(word.form for word in words)
    return Sentence(comments.get("sent_id", f"line {start}"), text, tuple(words))


def _read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Numbered lines without their ends."""
    return ((number, _decode(path, number, line)) for number, line in _read_raw_lines(path))


def _read_raw_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    place = Path(path)
    unpack: Any = {".gz": gzip.open, ".xz": lzma.open}.get(place.suffix, open)
    try:
        with unpack(place, "rb") as file:
            for number, line in enumerate(file, 1):
                yield number, line.rstrip(b"\r\n")
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise InputError("metrics.gold.unreadable", path=path, error=str(error)) from None


def _decode(path: str | Path, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise _wrong_line(path, number, "bytes") from None


def _wrong_line(path: str | Path, number: int, fault: str | Message, **details: Any) -> InputError:
    reason = fault if isinstance(fault, Message) else Message(f"metrics.gold.{fault}", details)
    return InputError("metrics.gold.wrong_line", path=path, number=number, reason=reason)
