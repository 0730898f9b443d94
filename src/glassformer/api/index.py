"""The index of a library: one row for each recording, in SQLite, so that a hundred thousand cost nothing.

In:   rows, each with the entry of the list and where the file is.
Out:  rows by id, pages of the list, sums. Files are neither opened nor read here.

What a library keeps in its folder is in a table of `.index.sqlite` there: the next start compares it with the
folder instead of opening every file. What this process alone shows (files that were named, recordings in
memory, shipped ones) is in a temporary table. The index can be removed at any time; it is made again.
"""

import errno
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from glassformer.api.owners import Visibility
from glassformer.errors import InputError

FILE = ".index.sqlite"
VERSION = 4  # of the tables; another one is made anew
_PART = 20  # rows that are read at a time
_WAIT = 10.0  # seconds for another server that writes to the same index

# run: a probe of a training run; atlas: an example of an atlas. These are never in the list.
Origin = Literal["shipped", "file", "made", "run", "atlas"]
ORIGINS: tuple[Origin, ...] = ("made", "file", "shipped")  # in the order of the list


@dataclass(frozen=True, slots=True)
class Row:
    """What lists and look-ups read of one recording: all of it is short."""

    id: str
    origin: Origin
    entry: str  # RecordingEntry as JSON
    path: str | None  # its name alone where it lies in the folder; None: it is in memory only
    own: bool  # the file is the library's, to be removed with the recording
    kept: bool  # the file lies in the folder of the library: it is there again on the next start
    listed: bool  # False: made by a view for its own use
    size: int  # bytes on disk
    changed: int  # when the file was written, in nanoseconds
    added: float  # seconds since 1970: the order of the list
    preset: str | None
    made_by: str | None  # a hash of the requests that made it
    owner: str | None = None  # whose it is, on a server with users
    visibility: Visibility = "private"
    branch_of: str | None = None  # id of the recording whose text it goes on from, where it is listed
    beside: int = 0  # bytes of its card: of the file beside the bundle, and here

    @property
    def taken(self) -> int:
        """Bytes on disk, the card included."""
        return self.size + self.beside


@dataclass(frozen=True, slots=True)
class FullRow(Row):
    """A row as it is put in. What may be long comes last: SQLite reads a row up to what is asked for."""

    words: str = ""  # what a search looks at, in lower case
    card: str = ""  # Card as JSON


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody whose list is wanted on a server with users; without a name, a visitor."""

    name: str | None


_COLUMNS = tuple(each.name for each in fields(Row))
_SHORT = ", ".join(_COLUMNS)
_ALL = tuple(each.name for each in fields(FullRow))
_TABLE = f"(id TEXT PRIMARY KEY, {', '.join(_ALL[1:])})"
_TABLES = ("main.recordings", "temp.here")


class RecordingIndex:
    """All rows of a library. Safe to use from several threads and by several servers at once."""

    def __init__(self, folder: Path | None) -> None:
        self._lock = threading.RLock()
        self._list_lock = threading.Lock()
        self._last = 0.0
        path = "" if folder is None else str(folder / FILE)  # "": a temporary file of SQLite's own
        try:
            self._database = _open(path)
        except sqlite3.OperationalError as error:  # locked, or not writable: another server may use it
            raise InputError("api.index_not_opened", path=path, reason=str(error)) from error
        except sqlite3.DatabaseError:  # not an index, or a damaged one
            if folder is not None:
                for each in folder.glob(f"{FILE}*"):
                    each.unlink(missing_ok=True)
            self._database = _open(path)
        # Whoever searches a hundred thousand rows must not keep look-ups waiting, which every request makes.
        self._lists = None if folder is None else _connect(path)

    def put(self, row: FullRow) -> bool:
        """Add a row; False where there is one with its id already, which stays."""
        table = "main.recordings" if row.kept else "temp.here"
        marks = ", ".join("?" * len(_ALL))
        with self._writing():
            if self.find(row.id) is not None:
                return False
            self._database.execute(f"INSERT INTO {table} VALUES ({marks})", astuple(row))
        return True

    def find(self, id: str) -> Row | None:
        """The row with an id."""
        return next(self._select("WHERE id = ?", (id,)), None)

    def read_card(self, id: str) -> str | None:
        """The card of a recording; None where there is no such recording."""
        text = " UNION ALL ".join(f"SELECT card FROM {table} WHERE id = ?" for table in _TABLES)
        rows = self._ask(text, (id, id))
        return str(rows[0][0]) if rows else None

    def remove(self, id: str) -> None:
        """Forget a row."""
        with self._writing():
            for table in _TABLES:
                self._database.execute(f"DELETE FROM {table} WHERE id = ?", (id,))

    def set_file(self, id: str, path: Path, size: int, changed: int) -> None:
        """A recording that was in memory has a file now."""
        with self._writing():
            values = (str(path), size, changed, id)
            self._database.execute(
                "UPDATE temp.here SET path = ?, size = ?, changed = ? WHERE id = ?", values
            )

    def set_card(
        self, id: str, card: str, made_by: str | None, visibility: Visibility, beside: int = 0
    ) -> bool:
        """The card of a recording has changed; False where the recording is gone."""
        with self._writing():
            values = (card, made_by, visibility, beside, id)
            text = "SET card = ?, made_by = ?, visibility = ?, beside = ? WHERE id = ?"
            counts = [self._database.execute(f"UPDATE {each} {text}", values).rowcount for each in _TABLES]
            return any(counts)

    def branches(self) -> dict[str, str]:
        """The parent of each recording that branched off from another one, by id; oldest first."""
        found: list[tuple[float, str, str]] = []
        for table in _TABLES:
            with self._reading(table) as database:
                text = f"SELECT added, id, branch_of FROM {table} WHERE branch_of IS NOT NULL"
                found += database.execute(text).fetchall()
        return {id: parent for _, id, parent in sorted(found)}

    def page(
        self,
        origin: Origin | None = None,
        search: str = "",
        start: int = 0,
        count: int | None = None,
        reader: Reader | None = None,
    ) -> list[Row]:
        """The list: made ones first, newest on top; then files; then shipped ones. A part of each origin."""
        most = 1 << 60 if count is None else count
        found: list[Row] = []
        for each in ORIGINS if origin is None else (origin,):
            condition, values = _match(search, each, reader)
            newest = each == "made"
            asked = f"{condition} ORDER BY added {'DESC' if newest else ''}"
            if self._lists is None:  # nothing is in the folder
                found += self._find_rows("temp.here", asked, values, start, most)
                continue
            here = self._find_rows("temp.here", asked, values, 0, start + most)  # few
            skipped = max(0, start - len(here))  # so many come before this page, whatever is here
            kept = self._find_rows("main.recordings", asked, values, skipped, start + most - skipped)
            both = sorted((*here, *kept), key=lambda row: row.added, reverse=newest)
            found += both[start - skipped : start - skipped + most]
        return found

    def _find_rows(
        self, table: str, asked: str, values: tuple[object, ...], start: int, most: int
    ) -> list[Row]:
        """Rows of a table: first their numbers, which are found in the index of the table alone."""
        with self._reading(table) as database:
            text = f"SELECT rowid FROM {table} {asked} LIMIT ? OFFSET ?"
            numbers = [number for (number,) in database.execute(text, (*values, most, start))]
            text = f"SELECT rowid, {_SHORT} FROM {table} WHERE rowid IN (SELECT value FROM json_each(?))"
            rows = {number: row for number, *row in database.execute(text, (json.dumps(numbers),))}
        return [_make_row(rows[each]) for each in numbers]

    def count(self, origin: Origin | None = None, search: str = "", reader: Reader | None = None) -> int:
        """How many recordings the whole list has."""
        condition, values = _match(search, origin, reader)
        total = 0
        for table in _TABLES:
            with self._reading(table) as database:
                found = database.execute(f"SELECT count(*) FROM {table} {condition}", values)
                total += int(found.fetchone()[0])
        return total

    def default(self) -> str | None:
        """The first file that was named at the start, else the first shipped recording, else any."""
        rows = self._ask(
            "SELECT id FROM temp.here WHERE listed = 1 ORDER BY CASE WHEN origin = 'file' THEN 0 "
            "WHEN origin = 'shipped' THEN 1 ELSE 2 END, added LIMIT 1"
        ) or self._ask("SELECT id FROM main.recordings WHERE listed = 1 ORDER BY added LIMIT 1")
        return str(rows[0][0]) if rows else None

    def find_preset(self, preset: str) -> str | None:
        """The id of the recording that shows a preset."""
        rows = self._ask("SELECT id FROM all_recordings WHERE preset = ? ORDER BY added LIMIT 1", (preset,))
        return str(rows[0][0]) if rows else None

    def find_unlisted(self, made_by: str, owner: str | None) -> list[Row]:
        """What views of one person made by the same requests."""
        return list(self._select("WHERE listed = 0 AND made_by = ? AND owner IS ?", (made_by, owner)))

    def kept(self) -> dict[str, tuple[int, int]]:
        """Size and time of every file of the folder that has a row, by name."""
        return {path: (size, changed) for path, size, changed in self._ask(
            "SELECT path, size, changed FROM main.recordings"
        )}  # fmt: skip

    def forget_files(self, paths: Iterable[str]) -> None:
        """Remove the rows of files that are gone, or have changed."""
        with self._writing():
            self._database.executemany(
                "DELETE FROM main.recordings WHERE path = ?", [(path,) for path in paths]
            )

    def own_bytes(self) -> int:
        """Bytes on disk of the library's own recordings."""
        return self._add_up("coalesce(sum(size + beside), 0)", "WHERE own = 1")

    def oldest(self, owner: str | None) -> Iterator[Row]:
        """The library's own recordings, oldest first; those in no list before all others.

        Only those of one owner: nobody's are removed to make room for another's. Remove none while it runs.
        """
        condition = (
            "WHERE own = 1 AND path IS NOT NULL AND owner IS ? ORDER BY listed, added LIMIT ? OFFSET ?"
        )
        start = 0
        while rows := list(self._select(condition, (owner, _PART, start))):
            yield from rows
            start += len(rows)

    def count_owners(self) -> int:
        """How many people have files of the library; those without an owner count as one more."""
        text = "SELECT count(DISTINCT coalesce(owner, '')) FROM all_recordings WHERE own = 1"
        return int(self._ask(text)[0][0])

    def bytes_of(self, owner: str) -> int:
        """Bytes on disk of what one person has."""
        return self._add_up("coalesce(sum(size + beside), 0)", "WHERE own = 1 AND owner = ?", (owner,))

    def next_time(self) -> float:
        """Now, and later than every time before it: rows keep the order in which they came."""
        with self._lock:
            self._last = max(time.time(), self._last + 1e-6)
            return self._last

    def state(self) -> tuple[int, int]:
        """Another one after each change of a row, by this server or by another one."""
        with self._lock:
            return self._ask("PRAGMA data_version")[0][0], self._database.total_changes

    def close(self) -> None:
        """Close the database."""
        with self._list_lock, self._lock, suppress(sqlite3.Error):
            self._database.close()
            if self._lists is not None:
                self._lists.close()

    @contextmanager
    def _reading(self, table: str) -> Iterator[sqlite3.Connection]:
        """A connection for what may take long; what it reads of a table was there at one moment."""
        if self._lists is None or table == "temp.here":
            with self._lock:
                yield self._database
            return
        with self._list_lock:
            self._lists.execute("BEGIN")
            try:
                yield self._lists
            finally:
                self._lists.rollback()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction; OSError where the disk is full, as for other files."""
        try:
            with self._lock, self._database:
                yield
        except sqlite3.OperationalError as error:
            if not lacks_room(error):
                raise
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error

    def _ask(self, text: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._database.execute(text, values).fetchall()

    def _add_up(self, what: str, condition: str, values: tuple[object, ...] = ()) -> int:
        """The sum of a number of each table: of both at once, SQLite would copy every row first."""
        return sum(
            int(self._ask(f"SELECT {what} FROM {table} {condition}", values)[0][0]) for table in _TABLES
        )

    def _select(self, condition: str, values: tuple[object, ...] = ()) -> Iterator[Row]:
        return self._read(f"SELECT {_SHORT} FROM all_recordings {condition}", values)

    def _read(self, text: str, values: tuple[object, ...]) -> Iterator[Row]:
        return map(_make_row, self._ask(text, values))


def lacks_room(error: sqlite3.OperationalError) -> bool:
    """Whether the disk is full, as SQLite says it: its files may also fail to grow (IOERR)."""
    code: int = getattr(error, "sqlite_errorcode", 0)  # errors of the module itself have none
    return code & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def _make_row(found: Iterable[Any]) -> Row:
    row: dict[str, Any] = dict(zip(_COLUMNS, found, strict=True))
    return Row(**{**row, **{name: bool(row[name]) for name in ("own", "kept", "listed")}})


def _connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_WAIT, check_same_thread=False)


def _open(path: str) -> sqlite3.Connection:
    database = _connect(path)
    try:
        database.execute("PRAGMA synchronous = OFF")  # what a power failure damages is made again
        if _read_version(database) != VERSION:
            _create(database)
        database.execute(f"CREATE TABLE temp.here {_TABLE}")
        database.execute(
            "CREATE VIEW temp.all_recordings AS "
            f"SELECT {_SHORT} FROM main.recordings UNION ALL SELECT {_SHORT} FROM temp.here"
        )
    except sqlite3.Error:
        database.close()
        raise
    return database


def _read_version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def _create(database: sqlite3.Connection) -> None:
    """Make the tables in one transaction, unless another server has just made them."""
    with database:
        database.execute("BEGIN IMMEDIATE")
        if _read_version(database) == VERSION:
            return
        database.execute("DROP TABLE IF EXISTS main.recordings")
        database.execute(f"CREATE TABLE main.recordings {_TABLE}")
        database.execute("CREATE INDEX main.by_origin ON recordings (origin, listed, added)")
        database.execute("CREATE INDEX main.by_time ON recordings (listed, added)")
        database.execute("CREATE INDEX main.by_preset ON recordings (preset)")
        database.execute("CREATE INDEX main.by_own ON recordings (own, listed, added, size, beside)")
        database.execute("CREATE INDEX main.by_path ON recordings (path)")
        database.execute("CREATE INDEX main.by_owner ON recordings (owner, own, size, beside)")
        database.execute(f"PRAGMA user_version = {VERSION}")


def _match(search: str, origin: Origin | None, reader: Reader | None) -> tuple[str, tuple[object, ...]]:
    """The condition of a search: every word of it, anywhere in a row that the reader may see."""
    words = search.lower().split()[:8]
    conditions, values = ["listed = 1"], list[object]()
    if origin is not None:
        conditions.append("origin = ?")
        values.append(origin)
    if reader is not None:  # a visitor lists what ships alone: the rest is for those who have a link
        conditions.append(
            "origin = 'shipped'" if reader.name is None else "(owner = ? OR visibility <> 'private')"
        )
        values += [] if reader.name is None else [reader.name]
    for word in words:
        conditions.append("instr(words, ?) > 0")
        values.append(word)
    return f"WHERE {' AND '.join(conditions)}", tuple(values)
