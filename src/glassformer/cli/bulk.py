"""Recording many texts: a file with one per line becomes a folder with one bundle each.

In:   a file of texts, a folder, a way to record one.
Out:  FOLDER/00001-3fa9c1d2.bundle … : the number of the line, and a hash of its text.

What exists already is not recorded again, so that an interrupted command continues where it stopped. A line
that cannot be recorded is reported with its number; the others are recorded.
"""

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

from glassformer.cli.inputs import read_texts
from glassformer.cli.output import with_progress
from glassformer.errors import GlassformerError, InputError
from glassformer.messages import Message, message

REPORTED = 5  # failures that are listed


def record_all(texts: Path, folder: Path, record: Callable[[str, Any], Any]) -> None:
    """Record every line, and print how many were recorded."""
    from glassformer.recorders.store import writing_to

    lines = [(number, line) for number, line in read_texts(texts) if line.strip()]
    if not lines:
        raise InputError("cli.bulk.no_texts", path=texts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("cli.bulk.no_folder", folder=folder, error=error.strerror) from error
    made = kept = 0
    failed: list[Message] = []
    for number, text in with_progress(lines, message("cli.bulk.texts"), len(lines)):
        path = folder / name_bundle(number, text)
        if path.exists():
            kept += 1
            continue
        try:
            with writing_to(path) as destination:
                destination.finish(record(text, destination.store))
            made += 1
        except GlassformerError as error:
            failed.append(message("cli.bulk.line", line=number, error=error.message))
    code = "cli.bulk.recorded_more" if kept else "cli.bulk.recorded"
    print(message(code, count=made, folder=folder, kept=kept))
    if failed:
        code = "cli.bulk.failed" if len(failed) <= REPORTED else "cli.bulk.failed_more"
        raise InputError(code, failed=len(failed), total=len(lines), errors=failed[:REPORTED])


def name_bundle(number: int, text: str) -> str:
    """A name that changes with the text: what was recorded from another is not taken for it."""
    return f"{number:05d}-{blake2b(text.encode(), digest_size=4).hexdigest()}.bundle"
