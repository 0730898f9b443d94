"""Arrays that take long to make, kept in files and mapped into memory: tokenised text above all.

In:   what the arrays depend on (content of the data, tokenizer, settings), and a function that makes them.
Out:  read-only arrays, and a small JSON object; made once, then opened from the disk.

The folder is `tokens` in `$GLASSFORMER_CACHE`, or in `glassformer` in the user's folder of caches;
`GLASSFORMER_CACHE=off` keeps nothing. An entry is a folder named after a digest of what it depends on. It is
written beside its place and renamed, so that it is whole or absent; a second process waits for the first.
Every entry has checksums: a damaged one is made again. The entries that were not used for longest are deleted
when all together have more than `LIMIT_GB` (or `$GLASSFORMER_CACHE_GB`) gigabytes, and nothing else.
"""

import hashlib
import json
import mmap
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError

FOLDER, LIMIT = "GLASSFORMER_CACHE", "GLASSFORMER_CACHE_GB"  # variables of the environment
LIMIT_GB = 20.0
META = "meta.json"
ENTRY = re.compile("[0-9a-f]{32}")  # the name of an entry
FORMAT = 1  # of an entry
BLOCK = 1 << 20  # bytes that are copied at a time
UNFINISHED = ".new-"  # what the name of a folder begins with until its entry is whole
ABANDONED = 24 * 3600  # seconds after which an unfinished folder that nobody writes to is deleted

Arrays = dict[str, NDArray[Any]]
Meta = dict[str, Any]


class ArrayWriter:
    """Arrays that grow in files: whatever their size, memory holds one part at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, IO[bytes]] = {}
        self._described: dict[str, dict[str, Any]] = {}
        self._digests: dict[str, Any] = {}

    def append(self, name: str, array: NDArray[Any]) -> None:
        """Add rows to an array; all parts have the same type and the same further axes."""
        if name not in self._files:
            with self._explaining():
                self._files[name] = (self.folder / f"{name}.bin").open("wb")
            self._described[name] = {"dtype": array.dtype.str, "shape": [0, *array.shape[1:]]}
            self._digests[name] = hashlib.sha256()
        described = self._described[name]
        assert described["dtype"] == array.dtype.str
        assert described["shape"][1:] == list(array.shape[1:])
        described["shape"][0] += len(array)
        data = np.ascontiguousarray(array).data
        with self._explaining():
            self._files[name].write(data)
        self._digests[name].update(data)

    def join(self, name: str, parts: Sequence[str]) -> None:
        """Make one array of several with one axis, one behind the other; they are no arrays any more."""
        for part in parts:
            path, dtype = self.folder / f"{part}.bin", np.dtype(self._described.pop(part)["dtype"])
            del self._digests[part]
            with self._explaining():
                self._files.pop(part).close()
            with path.open("rb") as file:
                while data := file.read(BLOCK):
                    self.append(name, np.frombuffer(data, dtype))
            path.unlink()

    def close(self) -> None:
        for file in self._files.values():
            with suppress(OSError):  # what could not be written was said before
                file.close()

    def finish(self, meta: Meta) -> None:
        """Write what is needed to open and to check the arrays."""
        for name, file in self._files.items():
            with self._explaining():
                file.flush()
                os.fsync(file.fileno())
            self._described[name]["sha256"] = self._digests[name].hexdigest()
        self.close()
        content = {"format": FORMAT, "arrays": self._described, "meta": meta}
        text = json.dumps(content, ensure_ascii=False)
        digest = hashlib.sha256(text.encode()).hexdigest()
        with self._explaining():
            (self.folder / META).write_text(f"{digest}\n{text}", encoding="utf-8")

    def _explaining(self) -> AbstractContextManager[None]:
        return _explaining(self.folder.parent)


def load_or_build(key: Mapping[str, Any] | None, build: Callable[[ArrayWriter], Meta]) -> tuple[Arrays, Meta]:
    """The arrays and the JSON object that `build` makes for a key; without a key nothing is kept."""
    folder = find_cache() if key is not None else None
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="glassformer-", ignore_cleanup_errors=True) as place:
            return _build(Path(place), build)  # what is mapped stays until it is released
    limit = find_limit()
    name = hashlib.sha256(json.dumps(key, sort_keys=True, default=str).encode()).hexdigest()[:32]
    entry = folder / name
    with _locked(folder / f"{name}.lock") as locked:
        found = open_entry(entry)
        if found is not None:
            with suppress(OSError):
                os.utime(entry)
            return found
        shutil.rmtree(entry, ignore_errors=True)
        for killed in folder.glob(f"{UNFINISHED}{name}*") if locked else ():
            shutil.rmtree(killed, ignore_errors=True)
        with ExitStack() as stack:
            with _explaining(folder):
                new = tempfile.TemporaryDirectory(
                    prefix=f"{UNFINISHED}{name}-", dir=folder, ignore_cleanup_errors=True
                )
                inner = Path(stack.enter_context(new)) / "entry"
                inner.mkdir()
            _build(inner, build)
            with suppress(OSError):  # where there are no locks another process may have been first
                os.rename(inner, entry)
            found = open_entry(entry)
            if found is None:
                raise InputError("text.cache.failed", folder=folder, variable=FOLDER, reason=entry.name)
    _remove_abandoned(folder)
    _remove_oldest(folder, limit, keep=entry)
    return found


def open_entry(folder: Path) -> tuple[Arrays, Meta] | None:
    """An entry of the cache; None where it is absent or damaged."""
    try:
        digest, _, text = (folder / META).read_text(encoding="utf-8").partition("\n")
        if hashlib.sha256(text.encode()).hexdigest() != digest:
            return None
        content = json.loads(text)
        if content["format"] != FORMAT:
            return None
        arrays = {name: _map(folder / f"{name}.bin", each) for name, each in content["arrays"].items()}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return arrays, content["meta"]


def find_cache() -> Path | None:
    """The folder of the cache, made if needed; None where nothing is to be kept or nothing can be written."""
    chosen = os.environ.get(FOLDER)
    if chosen == "off":
        return None
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = (Path(chosen).expanduser() if chosen else Path(home).expanduser() / "glassformer") / "tokens"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if chosen:
            raise InputError(
                "text.cache.failed", folder=folder, variable=FOLDER, reason=error.strerror
            ) from error
        return None
    return folder if os.access(folder, os.W_OK) else None


def find_limit() -> float:
    """How many bytes all entries together may have."""
    chosen = os.environ.get(LIMIT) or str(LIMIT_GB)
    try:
        gigabytes = float(chosen)
    except ValueError:
        gigabytes = -1.0
    if not gigabytes >= 0:  # nor is it nan
        raise InputError("text.cache.wrong_limit", variable=LIMIT, value=chosen)
    return gigabytes * 1e9


def hash_file(path: Path) -> str:
    """A digest of a file's bytes."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError("text.cannot_read", path=path, reason=error.strerror) from error


def _build(folder: Path, build: Callable[[ArrayWriter], Meta]) -> tuple[Arrays, Meta]:
    writer = ArrayWriter(folder)
    try:
        writer.finish(build(writer))
        found = open_entry(folder)
    finally:
        writer.close()
    assert found is not None
    return found


def _map(path: Path, described: Mapping[str, Any]) -> NDArray[Any]:
    """An array in a file, mapped into memory, after its checksum was compared."""
    dtype, shape = np.dtype(described["dtype"]), tuple(described["shape"])
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size != dtype.itemsize * int(np.prod(shape)):
            raise ValueError("not the size that was written")
        data: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    if hashlib.sha256(data).hexdigest() != described["sha256"]:
        raise ValueError("not the content that was written")
    if size and hasattr(data, "madvise"):
        data.madvise(mmap.MADV_DONTNEED)  # what was read for the checksum need not stay in memory
    return np.frombuffer(data, dtype=dtype).reshape(shape)


@contextmanager
def _explaining(folder: Path) -> Iterator[None]:
    """Say that it is the cache that could not be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise InputError("text.cache.failed", folder=folder, variable=FOLDER, reason=reason) from error


@contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """One process at a time; the lock ends with the process, however it ends.

    False where the system or its disk has no locks: then both make the entry, and one is kept.
    """
    with _explaining(path.parent):
        lock = path.open("w")
    with lock:
        try:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
            locked = True
        except (ImportError, OSError):
            locked = False
        yield locked


def _remove_abandoned(folder: Path) -> None:
    """Delete what killed processes left of entries that nobody asked for again."""
    for path in folder.glob(f"{UNFINISHED}*"):
        with suppress(OSError):  # another process may delete it at this moment
            last = max(each.stat().st_mtime for each in (path, *path.rglob("*")))
            if last < time.time() - ABANDONED:
                shutil.rmtree(path, ignore_errors=True)


def _remove_oldest(folder: Path, limit: float, *, keep: Path) -> None:
    """Delete the entries that were not used for longest while all together have more bytes than allowed."""
    entries = []
    for meta in folder.glob(f"*/{META}"):
        if not ENTRY.fullmatch(meta.parent.name):
            continue  # not ours
        with suppress(OSError):  # another process may delete it at this moment
            size = sum(path.stat().st_size for path in meta.parent.iterdir())
            entries.append((meta.parent.stat().st_mtime, size, meta.parent))
    total = sum(size for _, size, _ in entries)
    for _, size, entry in sorted(entries):
        if total <= limit:
            return
        if entry != keep:
            shutil.rmtree(entry, ignore_errors=True)
            (folder / f"{entry.name}.lock").unlink(missing_ok=True)
            total -= size
