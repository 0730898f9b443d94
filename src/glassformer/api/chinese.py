"""What the server says by itself, in Chinese, with the same names and numbers in it.

In:   a sentence in English as it was raised, anywhere, and its code; why a metric has no value; the stamp
      of a recording.
Out:  the same in Chinese. chinese.toml holds them; one that is not there is quoted behind a few words.
"""

import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from glassformer.messages import Message, literal
from glassformer.recording import Evidence

Room = Literal["sentences", "stamps"]  # of chinese.toml

_NAMES = ("near", "known")  # details that a person may type: they stay as they are
_LONGEST = 1000  # letters of a sentence in a sentence: none of ours has more, and they could go on for ever
_BETWEEN = re.compile(r"(?<=\.) (?=[A-Z])")  # two sentences
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class _Pair:
    texts: tuple[str, ...]  # of the English sentence, around its details
    names: tuple[str, ...]  # of the details, one fewer
    chinese: str

    def match(self, sentence: str) -> dict[str, str] | None:
        """The details of a sentence, by name, each as short as can be; None: it is another sentence.

        No text is looked for twice: a stranger's file can make no pattern try every way to be matched.
        """
        *before, last = self.texts
        stop = len(sentence) - len(last)
        if not before:
            return {} if sentence == last else None
        if not (sentence.startswith(before[0]) and sentence.endswith(last)):
            return None
        start, details = len(before[0]), {}
        for name, text in zip(self.names[:-1], before[1:], strict=True):
            place = sentence.find(text, start, stop)
            if place < 0:
                return None
            details[name] = sentence[start:place]
            start = place + len(text)
        return None if start > stop else details | {self.names[-1]: sentence[start:stop]}


def translate(sentence: str, code: str | None = None) -> str | None:
    """The sentence in Chinese; None where neither it nor its code is known."""
    known = _translate_known(sentence)
    if known is not None or code is None:
        return known
    words = _read()["codes"].get(code)
    return None if words is None else str(words).format(sentence=sentence)


@cache
def translate_all(reasons: str) -> str:
    """Sentences one after the other; one that is not known stays as it is."""
    return translate(reasons) or "".join(translate(each) or each for each in _BETWEEN.split(reasons))


def translate_evidence(evidence: Evidence) -> tuple[Evidence, str]:
    """The stamp of a recording in Chinese, and its line."""
    said = replace(
        evidence,
        kernel=_translate_stamp(evidence.kernel),
        reference=None if evidence.reference is None else _translate_stamp(evidence.reference),
        edits=tuple(map(_translate_stamp, evidence.edits)),
        notes=tuple(map(_translate_stamp, evidence.notes)),
    )
    return said, said.text("zh")


def translate_reason(reason: Message) -> str:
    """Why a value is missing, in Chinese."""
    return translate_all(reason.text("en")) if reason.code == "text.literal" else reason.text("zh")


def _translate_stamp(part: Message) -> Message:
    text = part.text("zh")
    return literal((_translate_known(text, "stamps") or text) if part.code == "text.literal" else text)


def _translate_known(sentence: str, room: Room = "sentences") -> str | None:
    for pair in _pairs(room):
        found = pair.match(sentence)
        if found is not None:
            details = {
                name: text
                if name in _NAMES
                else _translate_detail(text, "stamps" if name == "edit" else room)
                for name, text in found.items()
            }
            return pair.chinese.format_map(details)
    return None


def _translate_detail(text: str, room: Room) -> str:
    """A word of ours, or words between others, or a sentence in a sentence; anything else stays as it is."""
    if len(text) > _LONGEST:
        return text
    known: dict[str, str] = _read()["words"]
    parts = [known.get(part.strip("'")) for part in text.split(" and ")]
    if all(parts):
        return "和".join(part or "" for part in parts)
    return known.get(text) or (_translate_known(text, room) if text else None) or text


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def _pairs(room: Room) -> tuple[_Pair, ...]:
    """What says most comes first: a sentence may be one with details in more than one way."""
    found = [_compile(english, chinese) for english, chinese in _read()[room]]
    return tuple(sorted(found, key=lambda pair: -sum(map(len, pair.texts))))


def _compile(english: str, chinese: str) -> _Pair:
    pieces = _PLACE.split(english)  # text, name, text, name … text
    return _Pair(tuple(pieces[::2]), tuple(pieces[1::2]), chinese)
