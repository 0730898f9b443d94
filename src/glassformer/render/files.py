"""Files that are whole or not there.

In:   a path and bytes.
Out:  the file; an old one is replaced in one step, and a failure leaves nothing behind.
"""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from glassformer.errors import InputError


def write_whole(path: str | Path, data: bytes) -> Path:
    """Write beside the place, then move there."""
    target = Path(path).expanduser()
    if target.is_dir():
        raise InputError(f"{target} is a folder. Wanted the name of a file. Add one.")
    try:
        handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise _complain(target, error) from error
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
            raise _complain(target, error) from error
        raise
    return target


def _complain(target: Path, error: OSError) -> InputError:
    return InputError(f"{target} cannot be written: {error.strerror}. Choose another folder.")
