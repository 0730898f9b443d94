"""Recordings by id: those that ship, files that were opened, and those made meanwhile.

In:   bundle files, and recordings that are still in memory.
Out:  a Recording for an id. What is used is kept open, within a budget of bytes; the least used goes to disk.

An id is a name with a hash of the content behind it: it means the same recording on every start, so links and
browsers may remember it.
"""

import re
import shutil
import tempfile
import threading
import tomllib
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from glassformer import bundle
from glassformer.recording import Recording
from glassformer.recording.arrays import is_mapped
from glassformer.show.description import find_shape
from glassformer.show.workbench import Answer, JobRequest, Phrase, RefusalError, Shape
from glassformer.show.writing import make_excerpt

Origin = Literal["shipped", "file", "made"]

SHIPPED = Path(__file__).with_name("recordings")
MEMORY = 2 << 30  # bytes of recordings that stay in memory
DISK = 16 << 30  # bytes of made recordings; the oldest make room
_WHOLE = 16 << 20  # bytes up to which a file is hashed as a whole
_SAMPLES, _SAMPLE = 256, 4096  # pieces of a longer file, and bytes of each
_EXCERPT = 120  # characters


class RecordingEntry(Answer):
    """One recording in a list."""

    id: str
    title: Phrase
    model: str
    shape: Shape
    source_excerpt: str
    source_tokens: int
    target_tokens: int | None
    origin: Origin
    note: Phrase | None


class Card(BaseModel):
    """What is known about a recording beside itself, from a file; words for others are left out."""

    model_config = ConfigDict(frozen=True)

    title: Phrase | None = None
    note: Phrase | None = None
    preset: str | None = None  # the id of the preset that it shows
    request: JobRequest | None = None  # what made it


@dataclass(slots=True)
class _Place:
    """Where a recording is: on disk, in memory, or both."""

    entry: RecordingEntry
    card: Card
    path: Path | None
    own: bool  # the file is the library's, to be removed with the recording
    size: int  # bytes on disk


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
        self._memory, self._disk = memory, disk
        self._places: dict[str, _Place] = {}
        self._open: OrderedDict[str, tuple[Recording, int]] = OrderedDict()  # least recently used first
        self._lock = threading.RLock()
        for path in sorted(shipped.glob("*.bundle")) if shipped is not None else ():
            self._add(bundle.open(path), path, "shipped", _read_card(path), own=False)
        if not self._temporary:
            for path in sorted(self.folder.glob("*.bundle"), key=lambda each: each.stat().st_mtime):
                self._add(bundle.open(path), path, "made", _read_card(path), own=True)

    def entries(self) -> tuple[RecordingEntry, ...]:
        """What there is: made ones first, the newest of them on top; then files; then what ships."""
        with self._lock:
            found = [place.entry for place in self._places.values()]
        order = ("made", "file", "shipped")
        newest = [entry for entry in reversed(found) if entry.origin == "made"]
        rest = [entry for entry in found if entry.origin != "made"]
        return tuple(newest + sorted(rest, key=lambda entry: order.index(entry.origin)))

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
        with self._lock:
            place = self._find(id)
            if id not in self._open:
                assert place.path is not None  # what is not open is on disk
                self._keep(id, bundle.open(place.path))
            self._open.move_to_end(id)
            return self._open[id][0]

    def open_file(self, path: str | PathLike[str]) -> str:
        """Add a bundle that belongs to somebody: it is read where it is, and never removed."""
        return self._add(bundle.open(path), Path(path), "file", Card(), own=False)

    def adopt(
        self,
        path: str | PathLike[str],
        origin: Origin = "made",
        title: Phrase | None = None,
        request: JobRequest | None = None,
    ) -> str:
        """Add a bundle that was written into the library's folder; from now on the file is the library's."""
        place, card = Path(path), Card(title=title, request=request)
        try:
            recording = bundle.open(place)
            if not self._temporary:
                place.with_suffix(".json").write_text(card.model_dump_json(), encoding="utf-8")
        except BaseException:
            _remove_file(place)
            raise
        return self._add(recording, place, origin, card, own=True)

    def add(self, recording: Recording, title: Phrase | None = None) -> str:
        """Add a recording that is in memory; it goes to disk when others need the room."""
        return self._add(recording, None, "made", Card(title=title), own=True)

    def path(self, id: str) -> Path:
        """The bundle file of a recording, written now if it was only in memory."""
        with self._lock:
            return self._write(id)

    def remove(self, id: str) -> None:
        """Forget a recording; its file is removed only if it is the library's own."""
        with self._lock:
            place = self._find(id)
            if place.entry.origin == "shipped":
                raise RefusalError(
                    f"{id} ships with Glassformer and stays. Choose one that was made or opened.",
                    "shipped",
                    403,
                )
            self._forget(id, place)

    def new_path(self) -> Path:
        """A name in the library's folder that no file has."""
        return self.folder / f"{token_hex(8)}.bundle"

    def close(self) -> None:
        """Let go of everything; a folder that was only temporary is removed."""
        with self._lock:
            self._open.clear()
            self._places.clear()
            if self._temporary:
                shutil.rmtree(self.folder, ignore_errors=True)

    def _find(self, id: str) -> _Place:
        with self._lock:
            place = self._places.get(id)
        if place is None:
            raise RefusalError(
                f"There is no recording {id[:80]!r} here. It may have been removed; choose one of the list.",
                "no_recording",
                404,
            )
        return place

    def _add(self, recording: Recording, path: Path | None, origin: Origin, card: Card, *, own: bool) -> str:
        name = path.stem if path is not None and not own else recording.model
        id = f"{_spell(name)}-{_hash_file(path) if path is not None else token_hex(4)}"
        excerpt = make_excerpt(recording.source.text or " ".join(recording.source.texts[:40]), _EXCERPT)
        label = path.stem if path is not None and origin == "file" and not own else excerpt or recording.model
        entry = RecordingEntry(
            id=id,
            title=Phrase(en=label, zh=label) if card.title is None else card.title,
            model=recording.model,
            shape=find_shape(recording),
            source_excerpt=excerpt,
            source_tokens=len(recording.source),
            target_tokens=None if recording.target is None else len(recording.target),
            origin=origin,
            note=card.note,
        )
        with self._lock:
            if id in self._places:  # the same content again
                if own and path is not None and path != self._places[id].path:
                    _remove_file(path)
                return id
            size = path.stat().st_size if path is not None else 0
            self._places[id] = _Place(entry, card, path, own, size)
            self._keep(id, recording)
            self._make_room(id)
        return id

    def _keep(self, id: str, recording: Recording) -> None:
        """Hold a recording open, and close the least used ones when there are too many bytes."""
        self._open[id] = (recording, weigh(recording))
        self._open.move_to_end(id)
        while len(self._open) > 1 and sum(size for _, size in self._open.values()) > self._memory:
            oldest = next(iter(self._open))
            self._write(oldest)
            del self._open[oldest]

    def _write(self, id: str) -> Path:
        place = self._find(id)
        if place.path is None:
            path = self.new_path()
            bundle.save(self._open[id][0], path)
            place.path, place.size = path, path.stat().st_size
            self._make_room(id)
        return place.path

    def _make_room(self, newest: str) -> None:
        """Forget the oldest recordings of our own while they take too much of the disk."""
        own = [id for id, place in self._places.items() if place.own and id != newest]
        used = sum(place.size for place in self._places.values() if place.own)
        for id in own:
            if used <= self._disk:
                return
            used -= self._places[id].size
            self._forget(id, self._places[id])

    def _forget(self, id: str, place: _Place) -> None:
        self._open.pop(id, None)
        del self._places[id]
        if place.own and place.path is not None:
            _remove_file(place.path)


def weigh(recording: Recording) -> int:
    """About how many bytes of memory a recording takes; arrays that live in a file count nothing."""
    seen: set[int] = set()
    total = 0
    for array in _find_arrays(recording, seen):
        if not is_mapped(array):
            total += array.nbytes
    sides = [recording.source] + ([] if recording.target is None else [recording.target])
    texts = sum(len(side.texts) for side in sides) * 64 + sum(2 * len(side.text or "") for side in sides)
    return total + texts + 100_000


def _find_arrays(value: Any, seen: set[int]) -> Iterator[np.ndarray[Any, Any]]:
    """Every array in a recording, each once."""
    if id(value) in seen:
        return
    if isinstance(value, np.ndarray):
        seen.add(id(value))
        yield value
    elif is_dataclass(value):
        seen.add(id(value))
        for each in fields(value):
            yield from _find_arrays(getattr(value, each.name), seen)
    elif isinstance(value, tuple) and value and is_dataclass(value[0]):
        for part in value:
            yield from _find_arrays(part, seen)
    elif hasattr(value, "values") and hasattr(value, "items"):
        for part in value.values():
            yield from _find_arrays(part, seen)


def _read_card(path: Path) -> Card:
    """The card beside a bundle: TOML where a person wrote it, JSON where we did."""
    written, kept = path.with_suffix(".toml"), path.with_suffix(".json")
    try:
        if written.is_file():
            return Card.model_validate(tomllib.loads(written.read_text(encoding="utf-8")))
        return Card.model_validate_json(kept.read_bytes())
    except (OSError, ValueError):
        return Card()


def _remove_file(path: Path) -> None:
    for each in (path, path.with_suffix(".json")):
        with suppress(OSError):
            each.unlink(missing_ok=True)


def _spell(name: str) -> str:
    """A name as it may stand in an address."""
    plain = re.sub(r"[^a-z0-9]+", "-", re.sub(r"^[0-9]+-", "", name.lower())).strip("-")
    return plain[:40].strip("-") or "recording"


def _hash_file(path: Path) -> str:
    """A hash of the content; of a long file, of its ends and of pieces spread over it."""
    size = path.stat().st_size
    digest = blake2b(str(size).encode(), digest_size=6)
    with path.open("rb") as file:
        if size <= _WHOLE:
            digest.update(file.read())
        else:
            for place in np.linspace(0, size - _SAMPLE, _SAMPLES).astype(np.int64).tolist():
                file.seek(place)
                digest.update(file.read(_SAMPLE))
    return digest.hexdigest()
