"""Files that are written completely or not at all.

In:   a path and bytes.
Out:  the file; an old one is replaced in one step, and a failure leaves nothing behind.
"""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from glassformer.errors import InputError


def write_whole(path: str | Path, data: bytes) -> Path:
    """Write a temporary file in the same folder, then rename it."""
    target = Path(path).expanduser()
    if target.is_dir():
        raise InputError("render.is_a_folder", path=target)
    try:
        handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise _not_writable(target, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mode = os.umask(0)
        os.umask(mode)
        Path(draft).chmod(0o666 & ~mode)
        Path(draft).replace(target)
    except BaseException as error:
        with suppress(OSError):
            Path(draft).unlink()
        if isinstance(error, OSError):
            raise _not_writable(target, error) from error
        raise
    return target


def _not_writable(target: Path, error: OSError) -> InputError:
    return InputError("render.not_writable", path=target, error=error.strerror)
