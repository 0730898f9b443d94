"""Sentences about what went wrong, in Chinese, with the same names and numbers in them.

In:   a sentence in English as it was raised, anywhere; its code.
Out:  the same in Chinese. chinese.toml holds them; one that is not there is quoted behind a few words.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_NAMES = ("near", "known")  # details that a person may type: they stay as they are
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class _Pair:
    english: re.Pattern[str]
    chinese: str
    letters: int  # of the English sentence, without its details


def translate(sentence: str, code: str | None = None) -> str | None:
    """The sentence in Chinese; None where neither it nor its code is known."""
    known = _translate_known(sentence)
    if known is not None or code is None:
        return known
    words = _read()["codes"].get(code)
    return None if words is None else str(words).format(sentence=sentence)


def _translate_known(sentence: str) -> str | None:
    for pair in _pairs():
        found = pair.english.fullmatch(sentence)
        if found is not None:
            details = {
                name: text if name in _NAMES else _translate_detail(text)
                for name, text in found.groupdict().items()
            }
            return pair.chinese.format_map(details)
    return None


def _translate_detail(text: str) -> str:
    """A word of ours, or words between others, or a sentence in a sentence; anything else stays as it is."""
    known: dict[str, str] = _read()["words"]
    parts = [known.get(part.strip("'")) for part in text.split(" and ")]
    if all(parts):
        return "和".join(part or "" for part in parts)
    return known.get(text) or (_translate_known(text) if text else None) or text


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def _pairs() -> tuple[_Pair, ...]:
    """What says most comes first: a sentence may be one with details in more than one way."""
    found = [_compile(english, chinese) for english, chinese in _read()["sentences"]]
    return tuple(sorted(found, key=lambda pair: -pair.letters))


def _compile(english: str, chinese: str) -> _Pair:
    pieces = _PLACE.split(english)  # text, name, text, name … text
    pattern = "".join(f"(?P<{piece}>.*?)" if at % 2 else re.escape(piece) for at, piece in enumerate(pieces))
    return _Pair(re.compile(pattern, re.DOTALL), chinese, sum(map(len, pieces[::2])))
