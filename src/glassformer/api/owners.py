"""Whose training runs, searches and atlases are, and who else may see them.

In:   the folder of runs; names of runs, searches and atlases.
Out:  Ownership of each. What was made in a terminal has no owner: of such, only admins decide. Atlases, which
      the operator has put there, are the team's until an admin says otherwise.

Recordings carry their owner in their card (cards.py), jobs in themselves.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, cast
from weakref import WeakValueDictionary

from glassformer.errors import InputError

FILE = ".owners.sqlite"
_WAIT = 10.0  # seconds for another server that writes to the same file

Visibility = Literal["private", "team", "public"]  # public: whoever has the link
Kind = Literal["run", "search", "atlas"]


class Ownership(NamedTuple):
    """Whose something is."""

    owner: str | None = None  # None: nobody's; admins decide
    visibility: Visibility = "private"


PUBLIC = Ownership(None, "public")  # what ships
NOBODY = Ownership()
TEAM = Ownership(None, "team")  # atlases that nobody has said anything about


class Owners:
    """Owners by kind and name, in a file of the folder. Safe to use from several threads and servers."""

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        self._held: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(folder / FILE, timeout=_WAIT, check_same_thread=False)
            with self._database:
                self._database.execute(
                    "CREATE TABLE IF NOT EXISTS owners (kind TEXT, name TEXT, owner TEXT, visibility TEXT, "
                    "PRIMARY KEY (kind, name))"
                )
        except (sqlite3.Error, OSError) as error:
            raise InputError("api.owners_not_opened", path=str(folder / FILE), reason=str(error)) from error

    def find(self, kind: Kind, name: str) -> Ownership:
        """Whose it is."""
        default = TEAM if kind == "atlas" else NOBODY
        return self._read("AND name = ?", kind, name).get(name, default)

    def all(self, kind: Kind) -> dict[str, Ownership]:
        """Whose all of them are, by name."""
        return self._read("", kind)

    def claim(self, kind: Kind, name: str, owner: str) -> bool:
        """Make somebody the owner of something new; False where it has an owner already."""
        with self._lock, self._database:
            text = "INSERT OR IGNORE INTO owners VALUES (?, ?, ?, 'private')"
            return self._database.execute(text, (kind, name, owner)).rowcount == 1

    @contextmanager
    def holding(self, name: str) -> Iterator[None]:
        """One thread at a time begins a run of this name."""
        with self._lock:
            held = self._held.setdefault(name, threading.Lock())
        with held:
            yield

    def share(self, kind: Kind, name: str, visibility: Visibility) -> None:
        """Let others see it, or not any more."""
        with self._lock, self._database:
            self._database.execute(
                "INSERT INTO owners VALUES (?, ?, NULL, ?) "
                "ON CONFLICT (kind, name) DO UPDATE SET visibility = excluded.visibility",
                (kind, name, visibility),
            )

    def remove(self, kind: Kind, name: str) -> None:
        """It is gone: who makes another of this name owns that one."""
        with self._lock, self._database:
            self._database.execute("DELETE FROM owners WHERE kind = ? AND name = ?", (kind, name))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    def _read(self, condition: str, *values: str) -> dict[str, Ownership]:
        text = f"SELECT name, owner, visibility FROM owners WHERE kind = ? {condition}"
        with self._lock:
            rows = self._database.execute(text, values).fetchall()
        return {name: Ownership(owner, cast(Visibility, visibility)) for name, owner, visibility in rows}
