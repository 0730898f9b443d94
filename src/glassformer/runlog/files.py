"""Folders by the time of a file in them."""

import stat
from contextlib import suppress
from pathlib import Path


def sort_by_time(folder: Path, name: str) -> tuple[Path, ...]:
    """The folders in a folder that have a file of this name, the one written to last at the end."""
    found = []
    for path in folder.glob("*"):
        with suppress(OSError):  # none, or removed meanwhile
            about = (path / name).stat()
            if stat.S_ISREG(about.st_mode):
                found.append((about.st_mtime, path.name, path))
    return tuple(path for _, _, path in sorted(found))
