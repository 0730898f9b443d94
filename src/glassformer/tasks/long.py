"""Texts that are longer than a model can read: split, truncated, skipped or refused; and counted.

In:   a text, its number, and a function that turns text into token ids.
Out:  the token ids to run: one row; several, where the text is split; none, where it is skipped.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from glassformer.errors import InputError
from glassformer.messages import Message, message

Long = Literal["split", "truncate", "skip", "refuse"]
WAYS: tuple[Long, ...] = get_args(Long)
KEPT = 10  # numbers of texts that are kept for the report; the others are only counted

# A sentence ends at a full stop and its quotation marks, before white space; in Chinese without any.
_END = re.compile(r"""[.!?…]["'”’»)\]]*\s+|[。！？][”’」』）]*\s*""")
_ABBREVIATION = re.compile(r"\b(?:[^\W\d_]|Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|No|vs|Mme|Hr|Nr|bzw)\.\s+$")
_CLAUSE = re.compile(r"[,;:]\s+|[，；：、]\s*")
_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class LongTexts:
    """What to do with texts that are too long, and how many there were.

    "split" runs the sentences of a text one by one and joins the answers, "truncate" reads as much as fits,
    "skip" leaves the answer empty, "refuse" is an error that names the text.

    >>> long = gf.LongTexts("skip")
    >>> gf.translate("zoo/translator", ["We sleep. " * 90, "I sleep."], target_language="fr", long=long)[0]
    ''
    >>> long.count, long.first
    (1, [1])
    """

    how: Long = "refuse"
    count: int = 0
    first: list[int] = field(default_factory=list)  # numbers of the first ones, from 1

    def __post_init__(self) -> None:
        if self.how not in WAYS:
            raise InputError("tasks.unknown_long", seen=repr(self.how), ways=WAYS)

    def note(self, number: int) -> None:
        """Count a text."""
        self.count += 1
        if len(self.first) < KEPT:
            self.first.append(number)

    def report(self, limit: int | None) -> Message | None:
        """How many texts were too long, and what happened to them; None where there was none."""
        if not self.count:
            return None
        more = self.count - len(self.first)
        code = f"tasks.long.{self.how}_more" if more else f"tasks.long.{self.how}"
        return message(code, count=self.count, first=self.first, more=more, limit=limit)


def read_long(long: Long | LongTexts, ways: Sequence[Long] = WAYS) -> LongTexts:
    """The argument `long` of a function, which knows these ways."""
    if cast("str", long) == "start":  # the name that `classify` had for it
        return LongTexts("truncate")
    found = long if isinstance(long, LongTexts) else LongTexts(long)
    if found.how not in ways:
        raise InputError("tasks.unknown_long", seen=repr(found.how), ways=ways)
    return found


def divide(
    text: str,
    number: int,
    encode: Callable[[str], Sequence[int]],
    truncate: Callable[[Sequence[int]], Sequence[int]],
    limit: int | None,
    long: LongTexts,
) -> list[Sequence[int]]:
    """The rows of token ids to run for a text."""
    ids = encode(text)
    if limit is None or len(ids) <= limit:
        return [ids]
    if long.how == "refuse":
        raise InputError("tasks.text_too_long", number=number, count=len(ids), limit=limit)
    long.note(number)
    if long.how == "skip":
        return []
    if long.how == "truncate":
        return [truncate(ids)]
    pieces = split_text(text, lambda piece: len(encode(piece.strip())) <= limit)
    return [encode(piece.strip()) for piece in pieces if piece.strip()]


def split_text(text: str, fits: Callable[[str], bool]) -> list[str]:
    """The sentences of a text; one that does not fit is divided at a comma, a blank, or anywhere.

    Joined, they are the text again.
    """
    ends = [0]
    for found in _END.finditer(text):
        if not _ABBREVIATION.search(text[max(0, found.end() - 12) : found.end()]):
            ends.append(found.end())
    sentences = [text[start:end] for start, end in zip(ends, [*ends[1:], len(text)], strict=True)]
    return [piece for sentence in sentences if sentence for piece in _halve(sentence, fits)]


def _halve(text: str, fits: Callable[[str], bool]) -> list[str]:
    if len(text) < 2 or fits(text):
        return [text]
    middle, quarter = len(text) // 2, len(text) // 4
    place = middle
    for mark in (_CLAUSE, _SPACE):
        ends = [found.end() for found in mark.finditer(text, quarter, len(text) - quarter)]
        if ends:
            place = min(ends, key=lambda end: abs(end - middle))
            break
    return [*_halve(text[:place], fits), *_halve(text[place:], fits)]


def join_texts(texts: Iterable[str]) -> str:
    """Answers to the pieces of a text, as one text: with a blank between them where the script has blanks."""
    joined = ""
    for text in texts:
        blank = " " if joined and text and not (_is_wide(joined[-1]) or _is_wide(text[0])) else ""
        joined += blank + text
    return joined


def _is_wide(letter: str) -> bool:
    """Chinese and Japanese, which have no blanks between words; Korean has."""
    return unicodedata.east_asian_width(letter) in "WF" and not "\uac00" <= letter <= "\ud7a3"
