"""The people of a server: names, roles, passwords and tokens, in one file that only its owner can read.

In:   the file of `glassformer users`; a name with a password, or a token.
Out:  Person. The file keeps hashes alone: scrypt of passwords, SHA-256 of tokens, which are random and long.

A server reads the file again when it has changed: somebody who is removed from it is out at once.
"""

import base64
import hmac
import logging
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import scrypt, sha256
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from glassformer.api.roles import ROLES, Role
from glassformer.errors import InputError
from glassformer.registry import suggestion

LONGEST_NAME = 64
LONGEST_PASSWORD = 1024  # characters; hashing more would only take time
SHORTEST_PASSWORD = 10
MOST_TOKENS = 20  # of one person
TOKEN = "gft_"  # what tokens begin with, so that a leaked one can be recognised
# Two underlines are no part of a name: they stand between the names of a person and of a run.
_NAME = re.compile(r"[A-Za-z0-9]+(?:(?:_|[.@+-]+)[A-Za-z0-9]+)*")
_COST, _BLOCK, _LANES = 15, 8, 1  # scrypt: 2**15 blocks of 1 KiB, 32 MiB
_MEMORY = 64 << 20  # bytes that it may take

log = logging.getLogger("glassformer.server")


class Person(BaseModel):
    """Somebody who may use a server."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(max_length=LONGEST_NAME, pattern=f"^{_NAME.pattern}$")]
    role: Role = "viewer"
    password: str | None = None  # as `hash_password` writes it
    tokens: Annotated[tuple[str, ...], Field(max_length=MOST_TOKENS)] = ()  # hashes
    added: float = 0.0  # seconds since 1970

    def __repr__(self) -> str:  # hashes stay out of logs
        return f"Person({self.name!r}, {self.role!r})"

    def may(self, role: Role) -> bool:
        """Whether somebody with this role could do no more."""
        return ROLES.index(self.role) >= ROLES.index(role)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    people: tuple[Person, ...] = ()
    removed: tuple[str, ...] = ()  # names of removed people, under which their recordings stay

    def find_removed(self, name: str) -> str | None:
        """The name of a removed person, as it was written; None where nobody was removed."""
        return next((each for each in self.removed if each.lower() == name.lower()), None)


def is_name(text: str) -> bool:
    """Whether a person can be called so."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def hash_password(password: str) -> str:
    """What is kept of a password: the cost of scrypt, a salt and the hash."""
    salt = secrets.token_bytes(16)
    return "$".join(("scrypt", str(_COST), _encode(salt), _encode(_derive(password, salt, _COST))))


def check_password(kept: str | None, password: str) -> bool:
    """Whether it is this password. Takes as long where there is none: time tells nobody who has one."""
    try:
        kind, cost, salt, wanted = (kept or _DUMMY).split("$")
        found = _derive(password[:LONGEST_PASSWORD], _decode(salt), int(cost))
        same = hmac.compare_digest(found, _decode(wanted)) and kind == "scrypt"
    except ValueError:  # damaged by hand
        return False
    return same and kept is not None and len(password) <= LONGEST_PASSWORD


def make_token() -> str:
    """A new token, which is shown once."""
    return TOKEN + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """What is kept of a token. It has 256 random bits: a slow hash would add nothing."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class People:
    """Everybody in a file. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._people: dict[str, Person] = {}  # by name, in small letters
        self._tokens: dict[str, Person] = {}  # by hash
        self._removed: frozenset[str] = frozenset()  # names in small letters
        self._reading = threading.Lock()
        self._stamp = _stamp(path)  # before it is read: a change in between is seen by the next request
        self._read(_read_file(path))

    def find(self, name: str) -> Person | None:
        """The person with a name, in capital or small letters; theirs is as the file writes it."""
        self._refresh()
        return self._people.get(name.lower())

    def find_token(self, token: str) -> Person | None:
        """The person who has a token."""
        self._refresh()
        return self._tokens.get(hash_token(token))

    def was_removed(self, name: str) -> bool:
        """Whether a person of this name was removed."""
        self._refresh()
        return name.lower() in self._removed

    def check(self, name: str, password: str) -> Person | None:
        """The person with a name and a password; as slow for a name that nobody has."""
        person = self.find(name)
        fits = check_password(None if person is None else person.password, password)
        return person if fits else None

    def count(self) -> int:
        """How many there are."""
        self._refresh()
        return len(self._people)

    def _refresh(self) -> None:
        if _stamp(self.path) == self._stamp:
            return
        with self._reading:
            stamp = _stamp(self.path)
            if stamp == self._stamp:  # another thread has read it meanwhile
                return
            try:
                self._read(_read_file(self.path))
            except InputError as error:
                if stamp is None:  # removed: nobody may come in
                    self._read(_File())
                log.error("%s", error)  # damaged: those of before stay
            self._stamp = stamp  # after reading: other threads wait until they know who is out

    def _read(self, file: _File) -> None:
        self._people = {each.name.lower(): each for each in file.people}
        self._tokens = {token: each for each in file.people for token in each.tokens}
        self._removed = frozenset(each.lower() for each in file.removed)


def read_people(path: Path) -> tuple[Person, ...]:
    """Everybody in a file; InputError where it cannot be read."""
    return _read_file(path).people


def find_removed(path: Path, name: str) -> str | None:
    """The name of somebody who was removed from a file, as it was written there; None where nobody was."""
    return _read_file(path).find_removed(name)


def _read_file(path: Path) -> _File:
    try:
        file = _File.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError("api.people.no_file", path=str(path)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError("api.people.unreadable", path=str(path), reason=reason) from error
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))  # not its value, which may be a hash
        raise InputError("api.people.damaged", path=str(path), place=place or "–") from None
    names = [each.name.lower() for each in file.people]
    if len(set(names)) < len(names):
        raise InputError("api.people.twice", path=str(path))
    return file


def change_people(
    path: Path,
    change: Callable[[dict[str, Person]], None],
    *,
    create: bool = False,
    same_person: bool = False,
) -> None:
    """Change a file at once: others see it as it was or as it is, and nobody else can read it.

    What somebody made stays under their name when they are removed, so nobody else can get that name: only
    the `same_person` can come back.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone(path.parent):
        known = _File() if create and not path.exists() else _read_file(path)
        people = {each.name: each for each in known.people}
        change(people)
        for name in people:
            if (former := known.find_removed(name)) is not None and not same_person:
                raise InputError("api.people.removed", name=former)
        there = {each.lower() for each in people}
        gone = (*known.removed, *(each.name for each in known.people))
        removed = tuple(each for each in gone if each.lower() not in there)
        text = _File(people=tuple(people.values()), removed=removed).model_dump_json(indent=1)
        write_private(path, text.encode() + b"\n")


def write_private(path: Path, data: bytes) -> None:
    """Replace a file at once; nobody but its owner can read it."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            _keep_owner(file.fileno(), path)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _keep_owner(handle: int, path: Path) -> None:
    """Give a file that root writes to the owner of the old file, or of the folder: the service reads it."""
    if os.name == "posix" and os.geteuid() == 0:
        known = (path if path.exists() else path.parent).stat()
        os.fchown(handle, known.st_uid, known.st_gid)


def add_person(people: dict[str, Person], name: str, role: Role) -> None:
    """Put a new person among the others."""
    if not is_name(name):
        raise InputError("api.people.wrong_name", name=name[:80], most=LONGEST_NAME)
    taken = next((each for each in people if each.lower() == name.lower()), None)
    if taken is not None:
        raise InputError("api.people.taken", name=taken)
    people[name] = Person(name=name, role=role, added=time.time())


def require_person(people: dict[str, Person], name: str) -> Person:
    """The person with a name; InputError where there is none."""
    for each in people.values():
        if each.name.lower() == name.lower():
            return each
    raise InputError("api.people.unknown", name=name[:80], suggestion=suggestion(name, people))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One at a time changes files of a folder; where the system has no such locks, nobody waits."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _derive(password: str, salt: bytes, cost: int) -> bytes:
    given = password.encode("utf-8", "surrogatepass")
    return scrypt(given, salt=salt, n=1 << cost, r=_BLOCK, p=_LANES, maxmem=_MEMORY, dklen=32)


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _decode(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _stamp(path: Path) -> object:
    with suppress(OSError):
        state = path.stat()
        return state.st_mtime_ns, state.st_size, state.st_ino
    return None


_DUMMY = f"scrypt${_COST}${_encode(bytes(16))}${_encode(bytes(32))}"
