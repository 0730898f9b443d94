"""Sessions of people who signed in with a password: a signed cookie that ends, and can be ended before.

In:   a Person; the value of a cookie.
Out:  the value of a cookie; the Person whom it names.

A cookie is "NAME.BEGIN.END.ID.SIGNATURE". The key of the signature depends on the password: a new one ends
all sessions of a person, and so does removing them. A session that was signed out of is remembered until its
end.
"""

import base64
import hmac
import json
import os
import secrets
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from glassformer.api.people import People, Person, write_private

KEY = ".session-key"
ENDED = ".ended-sessions"  # a line of JSON for each: its id and its end
LONGEST = 7 * 86_400  # seconds from signing in until a session ends, however often it is used
_LONGEST_COOKIE = 400  # characters


@dataclass(frozen=True, slots=True)
class Session:
    """What a valid cookie says."""

    person: Person
    id: str
    begin: int
    end: int  # both in seconds since 1970


class Sessions:
    """Makes, reads and ends sessions. In a folder they outlive the server; without one they end with it."""

    def __init__(self, people: People, seconds: int, folder: Path | None = None) -> None:
        self._people = people
        self._seconds = seconds  # that a session lasts after the last visit
        self._folder = folder
        self._lock = threading.Lock()
        self._key = secrets.token_bytes(32) if folder is None else _read_key(folder / KEY)
        self._ended = {} if folder is None else _read_ended(folder / ENDED)

    def begin(self, person: Person) -> str:
        """The cookie of a new session: never one that a browser brought along."""
        now = int(time.time())
        return self._write(person, now, now + self._seconds, secrets.token_hex(16))

    def find(self, cookie: str) -> Session | None:
        """The session of a cookie; None where it is made up, over, or was ended."""
        parts = cookie.split(".")
        if len(cookie) > _LONGEST_COOKIE or not cookie.isascii() or len(parts) != 5:
            return None
        coded, begin, end, id, signature = parts
        if not all(each.isdecimal() and len(each) < 12 for each in (begin, end)):
            return None
        with suppress(ValueError):  # not base64, not UTF-8
            person = self._people.find(base64.urlsafe_b64decode(coded).decode())
            if person is None or not hmac.compare_digest(signature, self._sign(person, begin, end, id)):
                return None
            if int(end) > time.time() and id not in self._ended:
                return Session(person, id, int(begin), int(end))
        return None

    def renew(self, session: Session) -> str | None:
        """The cookie of the same session for another while, where half of its time has passed."""
        now = int(time.time())
        end = min(now + self._seconds, session.begin + LONGEST)
        if session.end - now > self._seconds / 2 or end <= session.end:
            return None
        return self._write(session.person, session.begin, end, session.id)

    def end(self, session: Session) -> None:
        """Sign out: the cookie, and those that were made of it, open nothing any more."""
        last = session.begin + LONGEST + self._seconds
        with self._lock:
            now = time.time()
            self._ended = {id: end for id, end in self._ended.items() if end > now} | {session.id: last}
            if self._folder is not None:
                write_private(self._folder / ENDED, "".join(
                    json.dumps({"id": id, "end": end}) + "\n" for id, end in self._ended.items()
                ).encode())  # fmt: skip

    def _write(self, person: Person, begin: int, end: int, id: str) -> str:
        coded = base64.urlsafe_b64encode(person.name.encode()).decode()
        signature = self._sign(person, str(begin), str(end), id)
        return ".".join((coded, str(begin), str(end), id, signature))

    def _sign(self, person: Person, begin: str, end: str, id: str) -> str:
        key = hmac.digest(self._key, f"{person.added} {person.password}".encode(), sha256)
        return hmac.new(key, json.dumps([person.name, begin, end, id]).encode(), sha256).hexdigest()


def _read_key(path: Path) -> bytes:
    """The key of the signatures, made when there is none."""
    with suppress(FileExistsError):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(32))
    key = path.read_bytes()
    if len(key) < 32:  # a server was killed, or the disk full: begin again
        key = secrets.token_bytes(32)
        write_private(path, key)
    return key


def _read_ended(path: Path) -> dict[str, float]:
    found = {}
    with suppress(OSError):
        for line in path.read_text(encoding="ascii", errors="replace").splitlines():
            with suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                found[str(entry["id"])] = float(entry["end"])
    return found
