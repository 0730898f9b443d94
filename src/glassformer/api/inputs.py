"""Pictures and sounds that people send for a run: files that have not been decoded yet.

In:   the bytes of a file, and whose it is.
Out:  an id, by which a request to run a model names the file; the file, for its owner alone.

Only a worker process opens such a file. It is removed when its job has ended, whatever its result. A file
that no job has asked for is removed after an hour, when the next one is sent; of these one person may have
`MOST_FILES`, with `MOST_BYTES` together.
"""

import logging
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex

from glassformer.errors import ApiError

log = logging.getLogger("glassformer.server")

FOLDER = ".inputs"  # below that of the library
MOST_BYTES = 256 << 20  # bytes of one person's files that no job has asked for; the oldest beyond are removed
MOST_FILES = 100  # the same, as a number of files
KEPT = 3600.0  # seconds
WAITS = 7 * 86_400.0  # seconds that a file is kept for a job that waits, or that a killed server has lost


class InputStore:
    """The files in a folder. Their names hold all that is known of them, so they survive a restart."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER

    def new_path(self, owner: str | None) -> Path:
        """Where a new file of this person goes."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        return self.folder / f"{token_hex(16)}.{_name(owner)}"

    def limit(self, owner: str | None) -> None:
        """Remove old files, and the oldest ones of a person who has too many or too large ones.

        The newest file and those of jobs stay. It reads the whole folder: do not call it on the event loop.
        """
        now = time.time()
        unclaimed = list[tuple[Path, float, int]]()
        for path, added, size in self._list():
            if now - added > KEPT:
                path.unlink(missing_ok=True)
            elif added <= now and path.suffix == f".{_name(owner)}":
                unclaimed.append((path, added, size))
        total = 0
        for number, (path, _, size) in enumerate(sorted(unclaimed, key=lambda each: -each[1])):
            total += size
            if number and (total > MOST_BYTES or number >= MOST_FILES):
                path.unlink(missing_ok=True)

    def find(self, id: str, owner: str | None) -> Path:
        """The file of this id; ApiError where this person has none."""
        path = self.folder / f"{id}.{_name(owner)}"
        if not (id.isascii() and id.isalnum()) or not path.is_file():
            raise ApiError("api.no_input", status=404, id=id[:80])
        return path

    def claim(self, id: str, owner: str | None) -> None:
        """Keep a file for a job that may have to wait; nothing happens where the job has ended already."""
        last = time.time() + WAITS
        with suppress(ApiError, FileNotFoundError):
            os.utime(self.find(id, owner), (last, last))

    def remove(self, id: str, owner: str | None) -> None:
        """Remove a file, if it is still there. A failure is only logged: its job has ended anyway."""
        try:
            self.find(id, owner).unlink(missing_ok=True)
        except ApiError:
            pass
        except OSError as error:
            log.warning("the input %s cannot be removed: %s", id, error.strerror)

    def _list(self) -> Iterator[tuple[Path, float, int]]:
        """Each file, the time at which it was sent, and its size in bytes."""
        with os.scandir(self.folder) as listed:
            for each in listed:
                with suppress(FileNotFoundError):  # a job has ended meanwhile
                    status = each.stat()
                    yield Path(each.path), status.st_mtime, status.st_size


def _name(owner: str | None) -> str:
    """A person as part of a file's name."""
    return "all" if owner is None else blake2b(owner.encode(), digest_size=16).hexdigest()
