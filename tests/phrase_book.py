"""The table of a translation task over the phrase book, and its pairs."""

from pathlib import Path
from typing import Any, TypeAlias

School: TypeAlias = Any  # the fixture of conftest.py


def table(folder: Path, **words: Any) -> dict[str, Any]:
    file = {"path": "{split}.tsv", "languages": ["en", "fr"]}
    return {"name": "translation", "folder": str(folder), "files": [file], "label_smoothing": 0.0} | words
