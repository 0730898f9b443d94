"""Leases of files that are mapped: whoever wants to write to one waits until this process has let go of it.

In:   the path of a file that is too long to be copied.
Out:  a Lease, or none where the system has no such thing (other than Linux) or the file is another user's.

A mapped file that becomes shorter ends the process that reads it. With a lease, the system holds up the other
one when it opens the file to write, for up to 45 seconds, and we are told.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path


class Lease:
    """A file that nobody opens to write before `release`; OSError where that cannot be."""

    def __init__(self, path: Path) -> None:
        import fcntl  # not on every system

        self._file: int | None = os.open(path, os.O_RDONLY)
        try:
            fcntl.fcntl(self._file, fcntl.F_SETSIG, signal.SIGURG)  # which does nothing; SIGIO ends a process
            fcntl.fcntl(self._file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except BaseException:
            self.release()
            raise

    @property
    def wanted(self) -> bool:
        """Whether somebody waits to write to the file."""
        import fcntl

        with suppress(OSError, TypeError):  # released meanwhile
            return fcntl.fcntl(self._file, fcntl.F_GETLEASE) != fcntl.F_RDLCK  # type: ignore[arg-type]
        return False

    def release(self) -> None:
        """Let others write. Idempotent."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


def take_lease(path: Path) -> Lease | None:
    """A lease of a file; None where there can be none."""
    with suppress(ImportError, AttributeError, OSError):
        return Lease(path)
    return None
