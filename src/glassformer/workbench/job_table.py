"""Jobs on disk: what waits, runs or has ended is known again after a restart of the server.

In:   the folder of a server; jobs as their states change. Progress and steps are not written.
Out:  the jobs of the server before this one, oldest first.

One server at a time has the table of a folder; another one that shares the folder keeps its jobs in memory. A
disk that cannot be written costs the jobs their place after a restart, and nothing else.
"""

import json
import logging
import sqlite3
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from glassformer.api.effects import EffectsRequest, PatchingRequest
from glassformer.api.jobs import Job, JobRequest, PlayRequest

FILE = ".jobs.sqlite"
LOCK = ".jobs.lock"
VERSION = 1  # of the table; one of another version is made anew
LONGEST = 1 << 20  # characters of a last event that are kept

Request = JobRequest | PlayRequest | EffectsRequest | PatchingRequest
_REQUEST: TypeAdapter[Request] = TypeAdapter(Annotated[Request, Field(discriminator="kind")])
_TABLE = """CREATE TABLE jobs (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, job TEXT NOT NULL, request TEXT NOT NULL,
    starts INTEGER NOT NULL DEFAULT 0, last TEXT NOT NULL DEFAULT '{}'
)"""

log = logging.getLogger("glassformer.workbench")


@dataclass(frozen=True, slots=True)
class KeptJob:
    """One job of the server before this one."""

    job: Job
    request: Request
    starts: int  # how often it was begun and neither ended nor put back
    last: dict[str, Any]  # data of its last event


class JobTable:
    """The table of a folder. Called under the lock of the store."""

    def __init__(self, folder: Path) -> None:
        self._lock = (folder / LOCK).open("w")
        try:
            _take(self._lock.fileno())
            self._database = _open(folder / FILE)
        except BaseException:
            self._lock.close()
            raise
        self._using = threading.Lock()

    def read(self) -> list[KeptJob]:
        """All jobs, oldest first; what cannot be read any more is left out and removed."""
        found = []
        for id, *row in self._ask("SELECT id, job, request, starts, last FROM jobs ORDER BY number"):
            try:
                job, request = Job.model_validate_json(row[0]), _REQUEST.validate_json(row[1])
                found.append(KeptJob(job, request, int(row[2]), json.loads(row[3])))
            except (ValidationError, ValueError):  # of another version of this program
                log.warning("job %s of an earlier server cannot be read and is forgotten", id)
                self.remove(id)
        return found

    def add(self, job: Job, request: Request) -> None:
        """A job waits."""
        values = (job.id, job.model_dump_json(), request.model_dump_json())
        self._ask("INSERT INTO jobs (id, job, request) VALUES (?, ?, ?)", *values)

    def start(self, job: Job) -> None:
        """A job begins to run."""
        self._ask("UPDATE jobs SET job = ?, starts = starts + 1 WHERE id = ?", job.model_dump_json(), job.id)

    def put_back(self, job: Job) -> None:
        """A job that ran waits again, through no fault of its own."""
        self._ask("UPDATE jobs SET job = ?, starts = 0 WHERE id = ?", job.model_dump_json(), job.id)

    def finish(self, job: Job, last: dict[str, Any]) -> None:
        """A job has ended."""
        text = json.dumps(last)
        kept = text if len(text) <= LONGEST else "{}"
        self._ask("UPDATE jobs SET job = ?, last = ? WHERE id = ?", job.model_dump_json(), kept, job.id)

    def remove(self, id: str) -> None:
        """Forget a job."""
        self._ask("DELETE FROM jobs WHERE id = ?", id)

    def close(self) -> None:
        """Let another server have the table."""
        with suppress(sqlite3.Error):
            self._database.close()
        self._lock.close()

    def _ask(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            with self._using, self._database:
                return self._database.execute(text, values).fetchall()
        except sqlite3.Error as error:
            log.warning("the table of jobs could not be used: %s", error)
            return []


def open_table(folder: Path) -> JobTable | None:
    """The table of a folder; None where another server has it, or it cannot be written."""
    try:
        return JobTable(folder)
    except (OSError, sqlite3.Error) as error:
        log.warning("jobs will not survive a restart: the table of jobs cannot be opened (%s)", error)
        return None


def _take(number: int) -> None:
    """OSError where another process has this lock."""
    try:
        import fcntl
    except ImportError:  # not a Unix
        return
    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _open(path: Path) -> sqlite3.Connection:
    try:
        return _connect(path)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:  # not a table, or a damaged one
        for each in path.parent.glob(f"{FILE}*"):
            each.unlink(missing_ok=True)
        return _connect(path)


def _connect(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            with database:
                database.execute("DROP TABLE IF EXISTS jobs")
                database.execute(_TABLE)
                database.execute(f"PRAGMA user_version = {VERSION}")
    except sqlite3.Error:
        database.close()
        raise
    return database
