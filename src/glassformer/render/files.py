"""Files that are written completely or not at all.

In:   a path; bytes.
Out:  the file; an old one is replaced in one step, and a failure leaves nothing behind.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from glassformer.errors import InputError


def write_whole(path: str | Path, data: bytes) -> Path:
    """Write a file at once."""
    try:
        with open_whole(path) as file:
            file.write(data)
    except OSError as error:
        raise InputError("render.not_writable", path=path, error=error.strerror) from error
    return Path(path).expanduser()


@contextmanager
def open_whole(path: str | Path) -> Iterator[BinaryIO]:
    """A temporary file in the same folder, which gets its name when all is written."""
    target = Path(path).expanduser()
    if target.exists() and not target.is_file():
        raise InputError("render.not_a_file", path=target)
    try:
        handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InputError("render.not_writable", path=target, error=error.strerror) from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        mode = os.umask(0)
        os.umask(mode)
        Path(draft).chmod(0o666 & ~mode)
        Path(draft).replace(target)
    finally:
        Path(draft).unlink(missing_ok=True)
