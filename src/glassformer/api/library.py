"""Recordings by id: shipped ones, files that were opened, and those made by jobs.

In:   bundle files, and recordings that are still in memory.
Out:  a Recording for an id. Recordings stay open within a budget of memory, least recently used closed first.

An id is a name with a hash of the content behind it: it means the same recording on every start, so links and
browsers may remember it.
"""

import shutil
import tempfile
import threading
import time
import weakref
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Literal

from glassformer import bundle
from glassformer.api.cards import Card, estimate_bytes, hash_file, read_card, slugify
from glassformer.api.description import find_shape
from glassformer.api.jobs import JobRequest
from glassformer.config import Shape
from glassformer.errors import ApiError, BundleError
from glassformer.messages import Message, literal
from glassformer.recording import Recording
from glassformer.recording.visible import make_excerpt
from glassformer.schema import MessageField, ResponseModel

Origin = Literal["shipped", "file", "made"]

SHIPPED = Path(__file__).with_name("recordings")
MEMORY = 2 << 30  # bytes of recordings that stay in memory
DISK = 16 << 30  # bytes of made recordings; beyond that the oldest are removed
_EXCERPT = 120  # characters
_PART = ".bundle.part"  # suffix of a file that is being written, as in bundles
_STALE = 86_400.0  # seconds after which the writer of a partial file must have been killed


class RecordingEntry(ResponseModel):
    """One recording in a list."""

    id: str
    title: MessageField
    model: str
    shape: Shape
    source_excerpt: str
    source_tokens: int
    target_tokens: int | None
    origin: Origin
    note: MessageField | None
    selection: dict[str, str] | None = None  # where to open it, as in the page's address
    parent: str | None = None  # id of the recording that it is derived from
    default: bool = False  # the one that a page opens by itself; one of a list at most


@dataclass(slots=True)
class _Stored:
    """Where a recording is: on disk, in memory, or both."""

    entry: RecordingEntry
    card: Card
    path: Path | None
    own: bool  # the file is the library's, to be removed with the recording
    size: int  # bytes on disk

    @property
    def listed(self) -> bool:
        """Whether it is in the list; a view may make recordings for its own use."""
        return self.card.request is None or self.card.request.listed


class Library:
    """All recordings that a page can show. Safe to use from several threads.

    >>> library = gf.Library()
    >>> id = library.add(gf.from_arrays(np.eye(2)[None], ["a", "b"]))
    >>> library.get(id).source.texts
    ('a', 'b')
    >>> library.close()
    """

    def __init__(
        self,
        folder: str | PathLike[str] | None = None,
        *,
        shipped: Path | None = SHIPPED,
        memory: int = MEMORY,
        disk: int = DISK,
    ) -> None:
        self._temporary = folder is None
        self.folder = Path(tempfile.mkdtemp(prefix="glassformer-")) if folder is None else Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._temporary:  # also without close(): a widget, a program that ends
            self._clean_up = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._memory, self._disk = memory, disk
        self._entries: dict[str, _Stored] = {}
        self._open: OrderedDict[str, tuple[Recording, int]] = OrderedDict()  # least recently used first
        self._lock = threading.RLock()  # of the tables; never held during I/O
        self._disk_lock = threading.RLock()  # of opening and writing files; acquired before _lock
        self.broken: list[str] = []  # why files of the folder could not be opened
        for path in sorted(shipped.glob("*.bundle")) if shipped is not None else ():
            self._add(bundle.open(path), path, "shipped", read_card(path), own=False)
        if not self._temporary:
            self._remove_stale()
            for path in sorted(self.folder.glob("*.bundle"), key=_age):
                try:
                    self._add(bundle.open(path), path, "made", read_card(path), own=True)
                except (BundleError, OSError) as error:  # another server may have removed it
                    self.broken.append(str(error))

    def _remove_stale(self) -> None:
        """Remove partial files of servers that were killed."""
        for part in (*self.folder.glob(f".*{_PART}"), *self.folder.glob(".job-*")):
            if time.time() - _age(part) > _STALE:
                shutil.rmtree(part, ignore_errors=True) if part.is_dir() else _remove_file(part)

    def entries(self) -> tuple[RecordingEntry, ...]:
        """The listed recordings: made ones first, newest on top; then files; then shipped ones."""
        with self._lock:
            found = [stored.entry for stored in self._entries.values() if stored.listed]
        order = ("made", "file", "shipped")
        newest = [entry for entry in reversed(found) if entry.origin == "made"]
        rest = [entry for entry in found if entry.origin != "made"]
        entries = newest + sorted(rest, key=lambda entry: order.index(entry.origin))
        default = self._find_default()
        return tuple(entry.model_copy(update={"default": entry.id == default}) for entry in entries)

    def _find_default(self) -> str | None:
        """The first file that was given to the server, else the first shipped recording, else any."""
        with self._lock:
            listed = [(id, stored) for id, stored in self._entries.items() if stored.listed]
        given = [id for id, stored in listed if stored.entry.origin == "file" and not stored.own]
        shipped = [id for id, stored in listed if stored.entry.origin == "shipped"]
        return next(iter([*given, *shipped, *(id for id, _ in listed)]), None)

    def entry(self, id: str) -> RecordingEntry:
        """The list entry of one recording."""
        return self._find(id).entry

    def request(self, id: str) -> JobRequest | None:
        """The request that made a recording, where it is known."""
        return self._find(id).card.request

    def preset(self, id: str) -> str | None:
        """The id of the preset that a shipped recording shows."""
        return self._find(id).card.preset

    def find_preset(self, preset: str) -> str | None:
        """The id of the shipped recording of a preset."""
        with self._lock:
            known = list(self._entries.items())
        return next((id for id, stored in known if stored.card.preset == preset), None)

    def get(self, id: str) -> Recording:
        """The recording; opens its file if needed."""
        known = self._find_open(id)
        if known is None:
            with self._disk_lock:
                known = self._find_open(id)  # another thread may have opened it
                if known is None:
                    known = self._reopen(id)
                    self._keep_open(id, known)
        return known

    def _reopen(self, id: str) -> Recording:
        """A recording from its file; it is forgotten if the file was removed (another server may do so)."""
        stored = self._find(id)
        assert stored.path is not None  # a recording is open or on disk
        try:
            return bundle.open(stored.path)
        except (BundleError, OSError):
            if stored.path.exists():
                raise
            with self._lock:
                if self._entries.get(id) is stored:
                    self._forget(id, stored)
            self._find(id)  # raises: it is gone
            raise

    def open_file(self, path: str | PathLike[str]) -> str:
        """Add a file of the user: it is read where it is, and never removed."""
        return self._add(bundle.open(path), Path(path), "file", Card(), own=False)

    def adopt(
        self,
        path: str | PathLike[str],
        origin: Origin = "made",
        title: Message | None = None,
        request: JobRequest | None = None,
    ) -> str:
        """Add a bundle written below the library's folder; the library owns the file from now on."""
        given, stored, card = Path(path), self.new_path(), Card(title=title, request=request)
        try:
            if not self._temporary:  # before the bundle, so that a visible bundle has its card
                stored.with_suffix(".json").write_text(card.model_dump_json(), encoding="utf-8")
            given.replace(stored)
            recording = bundle.open(stored)
        except BaseException:
            for each in (given, stored):
                _remove_file(each)
            raise
        id = self._add(recording, stored, origin, card, own=True)
        with self._lock:
            for other, its in list(self._entries.items()):
                if not its.listed and other != id and its.card.request == request:
                    self._forget(other, its)  # of unlisted recordings only the newest of a request is kept
        return id

    def receive(self, part: Path) -> str:
        """Add an uploaded file; it gets the name of a bundle only once it could be opened."""
        try:
            bundle.open(part)
            return self.adopt(part, "file")
        finally:
            part.unlink(missing_ok=True)

    def add(self, recording: Recording, title: Message | None = None) -> str:
        """Add a recording that is in memory; it is written to disk when memory runs short."""
        return self._add(recording, None, "made", Card(title=title), own=True)

    def path(self, id: str) -> Path:
        """The bundle file of a recording, written now if it was only in memory."""
        with self._disk_lock:
            return self._write(id)

    def remove(self, id: str) -> None:
        """Forget a recording; its file is removed only if it is the library's own."""
        with self._lock:
            stored = self._find(id)
            if stored.entry.origin == "shipped":
                raise ApiError("api.shipped", status=403, id=id)
            self._forget(id, stored)

    def new_path(self) -> Path:
        """An unused name in the library's folder."""
        return self.folder / f"{token_hex(8)}.bundle"

    def new_partial_path(self) -> Path:
        """A name for a partial file, which no library opens."""
        return self.folder / f".{token_hex(8)}{_PART}"

    def close(self) -> None:
        """Release everything; a temporary folder is removed."""
        with self._disk_lock, self._lock:
            self._open.clear()
            self._entries.clear()
            if self._temporary:
                self._clean_up()

    def _find(self, id: str) -> _Stored:
        with self._lock:
            stored = self._entries.get(id)
        if stored is None:
            raise ApiError("api.no_recording", status=404, id=id[:80])
        return stored

    def _add(self, recording: Recording, path: Path | None, origin: Origin, card: Card, *, own: bool) -> str:
        name = path.stem if path is not None and not own else recording.model
        id = (
            card.id if origin == "shipped" else None
        ) or f"{slugify(name)}-{hash_file(path) if path is not None else token_hex(4)}"
        excerpt = make_excerpt(recording.source.text or " ".join(recording.source.texts[:40]), _EXCERPT)
        label = path.stem if path is not None and origin == "file" and not own else excerpt or recording.model
        entry = RecordingEntry(
            id=id,
            title=literal(label) if card.title is None else card.title,
            model=recording.model,
            shape=find_shape(recording),
            source_excerpt=excerpt,
            source_tokens=len(recording.source),
            target_tokens=None if recording.target is None else len(recording.target),
            origin=origin,
            note=card.note,
            selection=card.selection,
            parent=None if card.request is None else card.request.parent,
        )
        size = path.stat().st_size if path is not None else 0
        with self._disk_lock:
            with self._lock:
                known = self._entries.get(id)
                if known is None:
                    self._entries[id] = _Stored(entry, card, path, own, size)
            if known is None:
                self._keep_open(id, recording)
                self._free_disk(id)
            elif own and path is not None and path != known.path:  # the same content as a known one
                _remove_file(path)
        return id

    def _find_open(self, id: str) -> Recording | None:
        """The recording, if it is open."""
        with self._lock:
            self._find(id)
            if id not in self._open:
                return None
            self._open.move_to_end(id)
            return self._open[id][0]

    def _keep_open(self, id: str, recording: Recording) -> None:
        """Keep a recording open; close the least recently used ones beyond the budget of memory."""
        size = estimate_bytes(recording)
        with self._lock:
            self._open[id] = (recording, size)
            self._open.move_to_end(id)
            left, leaving = sum(each for _, each in self._open.values()), []
            for other, (_, each) in self._open.items():
                if left <= self._memory or other == id:
                    break
                leaving.append(other)
                left -= each
        for other in leaving:
            with suppress(ApiError):  # removed by another thread
                self._write(other)
            with self._lock:
                self._open.pop(other, None)

    def _write(self, id: str) -> Path:
        """The file of a recording, written if there is none; tables stay unlocked during the write."""
        stored = self._find(id)
        if stored.path is None:
            recording = self._find_open(id)
            assert recording is not None  # a recording is open or on disk
            path = self.new_path()
            bundle.save(recording, path)
            with self._lock:
                stored.path, stored.size = path, path.stat().st_size
                if self._entries.get(id) is not stored:  # removed by another thread
                    _remove_file(path)
            self._free_disk(id)
        return stored.path

    def _free_disk(self, newest: str) -> None:
        """Remove the oldest recordings that the library owns, beyond the budget of disk."""
        with self._lock:
            own = [id for id, stored in self._entries.items() if stored.own and id != newest]
            own.sort(key=lambda id: self._entries[id].listed)  # unlisted ones go first
            used = sum(stored.size for stored in self._entries.values() if stored.own)
            for id in own:
                if used <= self._disk:
                    return
                used -= self._entries[id].size
                self._forget(id, self._entries[id])

    def _forget(self, id: str, stored: _Stored) -> None:
        self._open.pop(id, None)
        del self._entries[id]
        if stored.own and stored.path is not None:
            _remove_file(stored.path)


def _age(path: Path) -> float:
    """When a file was written; 0 for one that is gone already."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _remove_file(path: Path) -> None:
    for each in (path, path.with_suffix(".json")):
        with suppress(OSError):
            each.unlink(missing_ok=True)
