"""A folder of a server as one file, and back: recordings, the queue, whatever else lies there.

In:   a folder, also of a server that runs; or a file that was made of one.
Out:  a tar file whose last member lists every other one with its SHA-256; or a folder, whole or not at all.

Bundles are never changed once they are written, so copying them one by one is safe; databases are copied by
SQLite itself. What is being written, locks and what can be made again are left out.
"""

import hashlib
import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from glassformer.api.index import FILE as INDEX
from glassformer.errors import InputError

LIST = "glassformer-backup.json"  # the last member
VERSION = 1
_BLOCK = 1 << 20
_LONGEST_LIST = 1 << 30  # bytes


def back_up(folder: Path, file: Path) -> int:
    """Write a folder into a file that appears once it is complete; how many files it holds."""
    if not folder.is_dir():
        raise InputError("api.backup.no_folder", folder=str(folder))
    if file.exists():
        raise InputError("api.backup.exists", path=str(file))
    if file.resolve().is_relative_to(folder.resolve()):
        raise InputError("api.backup.inside", path=str(file), folder=str(folder))
    part = file.with_name(f".{file.name}.part")
    listed: dict[str, str] = {}
    try:
        raw = part.open("xb")
    except FileExistsError as error:  # another one's, which stays
        raise InputError("api.backup.under_way", path=str(file), part=str(part)) from error
    try:
        with raw:
            os.fchmod(raw.fileno(), 0o600)  # recordings are somebody's texts
            with tarfile.open(fileobj=raw, mode="w") as tar:
                for path in _find_files(folder):
                    _add(tar, folder, path, listed)
                text = json.dumps({"version": VERSION, "files": listed}).encode()
                member = tarfile.TarInfo(LIST)
                member.size = len(text)
                tar.addfile(member, io.BytesIO(text))
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    return len(listed)


def restore(file: Path, folder: Path) -> int:
    """Make a folder of a file; InputError, and no folder, where a byte of it is wrong."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("api.backup.not_empty", folder=str(folder))
    folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.absolute().parent))
    try:
        found = _unpack(file, part)
        if folder.exists():
            folder.rmdir()
        part.rename(folder)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise InputError("api.backup.damaged", path=str(file), reason=str(error)) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return found


def _find_files(folder: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".job-", ".git")))
        for name in sorted(names):
            skipped = name.endswith((".part", ".lock", "-wal", "-shm", "-journal")) or name == INDEX
            if not skipped:
                yield Path(here) / name
        yield from (Path(here) / name for name in folders if (Path(here) / name).is_symlink())


def _add(tar: tarfile.TarFile, folder: Path, path: Path, listed: dict[str, str]) -> None:
    """One file; one that has gone meanwhile is left out."""
    name = path.relative_to(folder).as_posix()
    try:
        if path.is_symlink():
            if path.resolve().is_relative_to(folder.resolve()):  # others lead to what is not ours
                tar.add(path, name, recursive=False)
                listed[name] = f"-> {os.readlink(path)}"
        elif path.suffix == ".sqlite":
            with tempfile.NamedTemporaryFile() as copy:
                _copy_database(path, Path(copy.name))
                _add_open(tar, name, copy.file, path, listed)
        elif path.is_file():
            with path.open("rb") as opened:
                _add_open(tar, name, opened, path, listed)
    except FileNotFoundError:
        return


def _add_open(tar: tarfile.TarFile, name: str, opened: IO[bytes], path: Path, listed: dict[str, str]) -> None:
    """A file as far as it goes now: a log may grow while it is copied."""
    opened.seek(0, os.SEEK_END)
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = opened.tell(), int(path.stat().st_mtime), 0o600
    opened.seek(0)
    reader = _Hashing(opened)
    tar.addfile(member, reader)
    listed[name] = reader.hash.hexdigest()


class _Hashing:
    """A file that is read, and the hash of what was read."""

    def __init__(self, opened: IO[bytes]) -> None:
        self.opened = opened
        self.hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self.opened.read(size)
        self.hash.update(data)
        return data


def _copy_database(path: Path, copy: Path) -> None:
    """A database as it stands at one moment, also while a server writes to it."""
    try:
        with (
            closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
    except sqlite3.DatabaseError as error:
        raise InputError("api.backup.not_copied", path=str(path), reason=str(error)) from error


def _unpack(file: Path, folder: Path) -> int:
    seen: dict[str, str] = {}
    listed: dict[str, Any] | None = None
    with tarfile.open(file, "r:") as tar:
        for member in tar:
            if listed is not None or member.name in seen:
                raise tarfile.ReadError("something follows the list, or is there twice")
            if member.name == LIST:
                if member.size > _LONGEST_LIST or (opened := tar.extractfile(member)) is None:
                    raise tarfile.ReadError("the list is too long")
                listed = _read_list(opened.read())
                continue
            tar.extract(member, folder, filter="data")  # nothing outside the folder, no device, no link out
            seen[member.name] = f"-> {member.linkname}" if member.issym() else _hash(folder / member.name)
    if listed is None:
        raise tarfile.ReadError("its end is missing")
    if seen != listed:
        wrong = sorted(name for name in {*seen, *listed} if seen.get(name) != listed.get(name))
        raise tarfile.ReadError(f"{wrong[0]} differs from what was written")
    return len(seen)


def _read_list(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
        if found["version"] == VERSION and isinstance(found["files"], dict):
            return found["files"]
    except (ValueError, KeyError, TypeError):
        pass
    raise tarfile.ReadError("its list cannot be read")


def _hash(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
