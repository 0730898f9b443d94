"""Catalogues: the texts of one language by code.

In:   TOML files, one folder for each language, one file for each area of the product.
Out:  a flat mapping from codes ("recorders.unknown_head") to templates ("There is no head {head} …").
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

FALLBACK = "en"  # the language that has every text
SHIPPED = Path(__file__).parent
_AREA = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)


def known_languages() -> tuple[str, ...]:
    """Codes of the languages that have catalogues, English first."""
    return _find_languages(tuple(_folders()))


@lru_cache(maxsize=16)
def _find_languages(folders: tuple[Path, ...]) -> tuple[str, ...]:
    found = {entry.name for folder in folders for entry in folder.iterdir() if any(entry.glob("*.toml"))}
    return (FALLBACK, *sorted(found - {FALLBACK}))


def read_catalogue(language: str) -> Mapping[str, str]:
    """Every text of a language; empty where there are no catalogues for it."""
    areas = {path.stem for folder in _folders() for path in (folder / language).glob("*.toml")}
    return {code: text for area in sorted(areas) for code, text in read_area(language, area).items()}


@lru_cache(maxsize=256)
def read_area(language: str, area: str) -> Mapping[str, str]:
    """The texts of one area; a command reads only the areas that it needs."""
    texts: dict[str, str] = {}
    if not _AREA.fullmatch(area):  # codes may come from anybody's file: never a path, nor too long a name
        return texts
    for path in (folder / language / f"{area}.toml" for folder in _folders()):
        if path.is_file():
            texts.update(_flatten(area, tomllib.loads(path.read_text(encoding="utf-8"))))
    return texts


def find_template(code: str, language: str) -> str | None:
    """The text of a code in a language, or else in English; None where neither knows it."""
    area = code.partition(".")[0]
    return read_area(language, area).get(code) or read_area(FALLBACK, area).get(code)


def _folders() -> list[Path]:
    more = os.environ.get("GLASSFORMER_CATALOGUES", "")
    return [folder for folder in (SHIPPED, *map(Path, filter(None, [more]))) if folder.is_dir()]


def _flatten(prefix: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flatten(f"{prefix}.{key}", value)
        else:
            yield f"{prefix}.{key}", str(value).strip()
