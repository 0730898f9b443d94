"""A pseudo-language: the English catalogues with every letter accented.

What then is printed in plain letters does not come from a catalogue. Parameters are kept, so that names of
models, options and a user's own words stay readable.
"""

import re
import shutil
from pathlib import Path
from string import Formatter

from glassformer.messages.catalogues import FALLBACK, SHIPPED, read_area

LANGUAGE = "qps"
_PLAIN = "abcdefghijklmnopqrstuvwxyz"
_ACCENTED = "áƀćđéƒǵħíĵķłɱñóƥɋřšťúṽŵẋýž"
_LETTERS = str.maketrans(_PLAIN + _PLAIN.upper(), _ACCENTED + _ACCENTED.upper())
_WORD = re.compile(r"[A-Za-z]{2,}")


def accent(text: str) -> str:
    """A text in the pseudo-language."""
    return text.translate(_LETTERS)


def accent_template(template: str) -> str:
    """A template whose text is accented and whose parameters are as before."""
    parts = []
    for text, name, specification, _ in Formatter().parse(template):
        parts.append(accent(text).replace("{", "{{").replace("}", "}}"))
        if name is None:
            continue
        head, blank, forms = (specification or "").partition("plural ")
        shown = f"{head}{blank}{accent(forms)}" if blank else specification
        parts.append(f"{{{name}:{shown}}}" if shown else f"{{{name}}}")
    return "".join(parts)


def write_catalogues(folder: Path) -> None:
    """The catalogues of the pseudo-language, in a folder for GLASSFORMER_CATALOGUES."""
    target = folder / LANGUAGE
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for path in sorted((SHIPPED / FALLBACK).glob("*.toml")):
        lines = []
        for code, template in read_area(FALLBACK, path.stem).items():
            key = ".".join(f'"{part}"' for part in code.split(".")[1:])
            text = accent_template(template).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            lines.append(f'{key} = "{text}"')
        (target / path.name).write_text("\n".join(lines), encoding="utf-8")


def find_plain_words(text: str, allowed: set[str]) -> list[str]:
    """Words in plain letters that nothing allows, in their order."""
    return list(dict.fromkeys(word for word in _WORD.findall(text) if word.lower() not in allowed))


def words_of(*texts: str) -> set[str]:
    """The words of some texts, to be allowed."""
    return {word.lower() for text in texts for word in _WORD.findall(text)}
