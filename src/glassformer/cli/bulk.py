"""Recording many texts: a file with one a line becomes a folder with one bundle each.

In:   a subject, a file of texts, a folder.
Out:  FOLDER/00001-3fa9c1d2.bundle … : the number of the line, and a hash of its text.

What is there already is not recorded again, so that a run which was stopped goes on where it was. A line that
cannot be recorded is said with its number, and the others go on.
"""

import sys
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from glassformer.cli.verb import read_texts
from glassformer.errors import GlassformerError, InputError


def record_all(subject: Any, texts: Path, folder: Path, record: Callable[[str], Any]) -> None:
    """Record every line, and say how it went."""
    from glassformer.recorders.destination import heading_for

    lines = list(_list_texts(texts))
    if not lines:
        raise InputError(f"There is no text in {texts}. Wanted one a line. Add some.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}. Choose another folder.") from error
    made = kept = 0
    failed: list[str] = []
    for place, (number, text) in enumerate(lines, 1):
        path = folder / name_bundle(number, text)
        _tell(f"{place} of {len(lines)}")
        if path.exists():
            kept += 1
            continue
        try:
            with heading_for(path, subject) as destination:
                destination.finish(record(text))
            made += 1
        except GlassformerError as error:
            failed.append(f"line {number}: {error}")
    _tell("")
    print(f"{made} recorded into {folder}" + (f", {kept} were there already" if kept else "") + ".")
    if failed:
        more = f" … and {len(failed) - 5} more" if len(failed) > 5 else ""
        raise InputError(
            f"{len(failed)} of {len(lines)} texts were not recorded: {'; '.join(failed[:5])}{more}"
        )


def name_bundle(number: int, text: str) -> str:
    """A name that changes with the text: what was recorded from another is not taken for it."""
    return f"{number:05d}-{blake2b(text.encode(), digest_size=4).hexdigest()}.bundle"


def _list_texts(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers from 1."""
    for number, line in read_texts(path):
        if line.strip():
            yield number, line


def _tell(words: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[2K{words}", end="", file=sys.stderr, flush=True)
