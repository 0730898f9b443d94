"""Catalogues: the texts of one language by code.

In:   TOML files, one folder for each language, one file for each area of the product.
Out:  a flat mapping from codes ("recorders.unknown_head") to templates ("There is no head {head} …").
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

FALLBACK = "en"  # the language that has every text
SHIPPED = Path(__file__).parent


def known_languages() -> tuple[str, ...]:
    """Codes of the languages that have catalogues, English first."""
    found = {entry.name for folder in _folders() for entry in folder.iterdir() if any(entry.glob("*.toml"))}
    return (FALLBACK, *sorted(found - {FALLBACK}))


@cache
def read_catalogue(language: str) -> Mapping[str, str]:
    """Every text of a language; empty where there are no catalogues for it."""
    texts: dict[str, str] = {}
    for folder in _folders():
        for path in sorted((folder / language).glob("*.toml")):
            texts.update(_flatten(path.stem, tomllib.loads(path.read_text(encoding="utf-8"))))
    return texts


def find_template(code: str, language: str) -> str | None:
    """The text of a code in a language, or else in English; None where neither knows it."""
    return read_catalogue(language).get(code) or read_catalogue(FALLBACK).get(code)


def _folders() -> list[Path]:
    more = os.environ.get("GLASSFORMER_CATALOGUES", "")
    return [folder for folder in (SHIPPED, *map(Path, filter(None, [more]))) if folder.is_dir()]


def _flatten(prefix: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flatten(f"{prefix}.{key}", value)
        else:
            yield f"{prefix}.{key}", str(value).strip()
