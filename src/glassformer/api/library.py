"""Recordings by id: those that ship, files that were opened, and those made meanwhile.

In:   bundle files, and recordings that are still in memory.
Out:  a Recording for an id. What is used is kept open, within a budget of bytes; the least used goes to disk.

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
from glassformer.api.jobs import JobRequest, Shape
from glassformer.errors import ApiError, BundleError
from glassformer.messages import literal
from glassformer.recording import Recording
from glassformer.recording.visible import make_excerpt
from glassformer.schema import ResponseModel, TranslatedMessage, Wording

Origin = Literal["shipped", "file", "made"]

SHIPPED = Path(__file__).with_name("recordings")
MEMORY = 2 << 30  # bytes of recordings that stay in memory
DISK = 16 << 30  # bytes of made recordings; the oldest make room
_EXCERPT = 120  # characters
_PART = ".bundle.part"  # behind the name of a file that is being written, here as in bundles
_STALE = 86_400.0  # seconds after which nobody writes to a part any more: whoever did was killed


class RecordingEntry(ResponseModel):
    """One recording in a list."""

    id: str
    title: Wording
    model: str
    shape: Shape
    source_excerpt: str
    source_tokens: int
    target_tokens: int | None
    origin: Origin
    note: Wording | None
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
        """Whether people see it, and not only a view that made it on the way."""
        return self.card.request is None or self.card.request.listed


class Library:
    """All recordings that a page can show. Safe to use from several threads."""

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
        if self._temporary:  # also where nobody closes us: a widget, a program that ends
            self._clean_up = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._memory, self._disk = memory, disk
        self._places: dict[str, _Stored] = {}
        self._open: OrderedDict[str, tuple[Recording, int]] = OrderedDict()  # least recently used first
        self._lock = threading.RLock()  # of the tables: held for moments only
        self._disk_lock = threading.RLock()  # of opening and writing files; taken before the other
        self.broken: list[str] = []  # why files of the folder were left out
        for path in sorted(shipped.glob("*.bundle")) if shipped is not None else ():
            self._add(bundle.open(path), path, "shipped", read_card(path), own=False)
        if not self._temporary:
            self._sweep()
            for path in sorted(self.folder.glob("*.bundle"), key=_age):
                try:
                    self._add(bundle.open(path), path, "made", read_card(path), own=True)
                except (BundleError, OSError) as error:  # another server may have taken it away meanwhile
                    self.broken.append(str(error))

    def _sweep(self) -> None:
        """Remove what servers that were killed left behind."""
        for part in (*self.folder.glob(f".*{_PART}"), *self.folder.glob(".job-*")):
            if time.time() - _age(part) > _STALE:
                shutil.rmtree(part, ignore_errors=True) if part.is_dir() else _remove_file(part)

    def entries(self) -> tuple[RecordingEntry, ...]:
        """What there is: made ones first, the newest of them on top; then files; then what ships."""
        with self._lock:
            found = [place.entry for place in self._places.values() if place.listed]
        order = ("made", "file", "shipped")
        newest = [entry for entry in reversed(found) if entry.origin == "made"]
        rest = [entry for entry in found if entry.origin != "made"]
        entries = newest + sorted(rest, key=lambda entry: order.index(entry.origin))
        default = self._find_default()
        return tuple(entry.model_copy(update={"default": entry.id == default}) for entry in entries)

    def _find_default(self) -> str | None:
        """The first file that was given to the server, else the first shipped recording, else any."""
        with self._lock:
            listed = [(id, place) for id, place in self._places.items() if place.listed]
        given = [id for id, place in listed if place.entry.origin == "file" and not place.own]
        shipped = [id for id, place in listed if place.entry.origin == "shipped"]
        return next(iter([*given, *shipped, *(id for id, _ in listed)]), None)

    def entry(self, id: str) -> RecordingEntry:
        """What a list says about one recording."""
        return self._find(id).entry

    def request(self, id: str) -> JobRequest | None:
        """What made a recording, where that is known."""
        return self._find(id).card.request

    def preset(self, id: str) -> str | None:
        """The preset that a recording shows, if it ships for one."""
        return self._find(id).card.preset

    def find_preset(self, preset: str) -> str | None:
        """The id of the recording that ships for a preset."""
        with self._lock:
            places = list(self._places.items())
        return next((id for id, place in places if place.card.preset == preset), None)

    def get(self, id: str) -> Recording:
        """The recording, opened if it was not."""
        known = self._look(id)
        if known is None:
            with self._disk_lock:
                known = self._look(id)  # somebody else may have opened it meanwhile
                if known is None:
                    known = self._reopen(id)
                    self._keep(id, known)
        return known

    def _reopen(self, id: str) -> Recording:
        """A recording from its file; one whose file somebody removed, as another server may, is forgotten."""
        place = self._find(id)
        assert place.path is not None  # what is not open is on disk
        try:
            return bundle.open(place.path)
        except (BundleError, OSError):
            if place.path.exists():
                raise
            with self._lock:
                if self._places.get(id) is place:
                    self._forget(id, place)
            self._find(id)  # says that it is gone
            raise

    def open_file(self, path: str | PathLike[str]) -> str:
        """Add a bundle that belongs to somebody: it is read where it is, and never removed."""
        return self._add(bundle.open(path), Path(path), "file", Card(), own=False)

    def adopt(
        self,
        path: str | PathLike[str],
        origin: Origin = "made",
        title: Wording | None = None,
        request: JobRequest | None = None,
    ) -> str:
        """Add a bundle that was written below the library's folder; from now on the file is the library's."""
        given, place, card = Path(path), self.new_path(), Card(title=title, request=request)
        try:
            if not self._temporary:  # before the bundle: whoever sees that one also finds its card
                place.with_suffix(".json").write_text(card.model_dump_json(), encoding="utf-8")
            given.replace(place)
            recording = bundle.open(place)
        except BaseException:
            for each in (given, place):
                _remove_file(each)
            raise
        id = self._add(recording, place, origin, card, own=True)
        with self._lock:
            for other, its in list(self._places.items()):
                if not its.listed and other != id and its.card.request == request:
                    self._forget(other, its)  # of what is in no list, the newest of a kind is enough
        return id

    def receive(self, part: Path) -> str:
        """Add a file that somebody sent: one that cannot be read never gets the name of a bundle."""
        try:
            bundle.open(part)
            return self.adopt(part, "file")
        finally:
            part.unlink(missing_ok=True)

    def add(self, recording: Recording, title: Wording | None = None) -> str:
        """Add a recording that is in memory; it goes to disk when others need the room."""
        return self._add(recording, None, "made", Card(title=title), own=True)

    def path(self, id: str) -> Path:
        """The bundle file of a recording, written now if it was only in memory."""
        with self._disk_lock:
            return self._write(id)

    def remove(self, id: str) -> None:
        """Forget a recording; its file is removed only if it is the library's own."""
        with self._lock:
            place = self._find(id)
            if place.entry.origin == "shipped":
                raise ApiError("api.shipped", status=403, id=id)
            self._forget(id, place)

    def new_path(self) -> Path:
        """A name in the library's folder that no file has."""
        return self.folder / f"{token_hex(8)}.bundle"

    def new_part(self) -> Path:
        """A name for what is on its way: no library takes it for a bundle."""
        return self.folder / f".{token_hex(8)}{_PART}"

    def close(self) -> None:
        """Let go of everything; a folder that was only temporary is removed."""
        with self._disk_lock, self._lock:
            self._open.clear()
            self._places.clear()
            if self._temporary:
                self._clean_up()

    def _find(self, id: str) -> _Stored:
        with self._lock:
            place = self._places.get(id)
        if place is None:
            raise ApiError("api.no_recording", status=404, id=id[:80])
        return place

    def _add(self, recording: Recording, path: Path | None, origin: Origin, card: Card, *, own: bool) -> str:
        name = path.stem if path is not None and not own else recording.model
        id = f"{slugify(name)}-{hash_file(path) if path is not None else token_hex(4)}"
        excerpt = make_excerpt(recording.source.text or " ".join(recording.source.texts[:40]), _EXCERPT)
        label = path.stem if path is not None and origin == "file" and not own else excerpt or recording.model
        entry = RecordingEntry(
            id=id,
            title=TranslatedMessage.of(literal(label)) if card.title is None else card.title,
            model=recording.model,
            shape=find_shape(recording),
            source_excerpt=excerpt,
            source_tokens=len(recording.source),
            target_tokens=None if recording.target is None else len(recording.target),
            origin=origin,
            note=card.note,
            selection=_complete_selection(card.selection, recording),
            parent=None if card.request is None else card.request.parent,
        )
        size = path.stat().st_size if path is not None else 0
        with self._disk_lock:
            with self._lock:
                known = self._places.get(id)
                if known is None:
                    self._places[id] = _Stored(entry, card, path, own, size)
            if known is None:
                self._keep(id, recording)
                self._make_room(id)
            elif own and path is not None and path != known.path:  # the same content again
                _remove_file(path)
        return id

    def _look(self, id: str) -> Recording | None:
        """The recording, if it is open."""
        with self._lock:
            self._find(id)
            if id not in self._open:
                return None
            self._open.move_to_end(id)
            return self._open[id][0]

    def _keep(self, id: str, recording: Recording) -> None:
        """Hold a recording open, and close the least used ones when there are too many bytes."""
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
            with suppress(ApiError):  # it was removed meanwhile
                self._write(other)
            with self._lock:
                self._open.pop(other, None)

    def _write(self, id: str) -> Path:
        """The file of a recording, which is written if there is none; others may look at tables meanwhile."""
        place = self._find(id)
        if place.path is None:
            recording = self._look(id)
            assert recording is not None  # what is not on disk is open
            path = self.new_path()
            bundle.save(recording, path)
            with self._lock:
                place.path, place.size = path, path.stat().st_size
                if self._places.get(id) is not place:  # removed meanwhile
                    _remove_file(path)
            self._make_room(id)
        return place.path

    def _make_room(self, newest: str) -> None:
        """Forget the oldest recordings of our own while they take too much of the disk."""
        with self._lock:
            own = [id for id, place in self._places.items() if place.own and id != newest]
            own.sort(key=lambda id: self._places[id].listed)  # what nobody sees goes first
            used = sum(place.size for place in self._places.values() if place.own)
            for id in own:
                if used <= self._disk:
                    return
                used -= self._places[id].size
                self._forget(id, self._places[id])

    def _forget(self, id: str, place: _Stored) -> None:
        self._open.pop(id, None)
        del self._places[id]
        if place.own and place.path is not None:
            _remove_file(place.path)


def _complete_selection(selection: dict[str, str] | None, recording: Recording) -> dict[str, str] | None:
    """A selection that names its map by place and, for old pages, by index; cards may have either."""
    if selection is None:
        return None
    places = [each.place.address for each in recording.maps]
    index, place = selection.get("map", ""), selection.get("place")
    if place in places:
        return {**selection, "map": str(places.index(place))}
    if index.isdecimal() and int(index) < len(places):
        return {**selection, "place": places[int(index)]}
    return selection


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
