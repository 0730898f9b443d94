"""Recordings by id: shipped ones, files that were opened, and those made by jobs.

In:   bundle files, and recordings that are still in memory.
Out:  a Recording for an id. The list is an index (index.py); a file is opened when its recording is asked
      for, and stays open within a budget of memory and of files, least recently used closed first.

An id is a name with a hash of the content behind it: it means the same recording on every start, so links and
browsers may remember it.
"""

import errno
import logging
import os
import re
import shutil
import tempfile
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from os import PathLike
from pathlib import Path
from secrets import token_hex

from glassformer import bundle
from glassformer.api.cards import Card, estimate_bytes, hash_file, hash_request, read_card, slugify
from glassformer.api.differences import Differences, split_id
from glassformer.api.effects import MeasureRequest
from glassformer.api.examples import find_atlas, find_example, read_example_id
from glassformer.api.index import FullRow, Origin, Reader, RecordingIndex, Row
from glassformer.api.inspection import INSPECTOR, Facts, list_facts
from glassformer.api.jobs import JobRequest
from glassformer.api.leases import Lease, take_lease
from glassformer.api.owners import Ownership, Visibility
from glassformer.api.probes import (
    ProbeDescription,
    ProbeSeries,
    ProbeStep,
    ProbeText,
    find_file,
    find_run,
    list_series,
    read_id,
)
from glassformer.comparison.difference import Difference
from glassformer.config import Shape
from glassformer.errors import ApiError, BundleError
from glassformer.messages import Message, literal, message
from glassformer.recording import Recording
from glassformer.schema import MessageField, ResponseModel

SHIPPED = Path(__file__).with_name("recordings")
MEMORY = 1 << 30  # bytes of recordings that stay in memory
FILES = 128  # recordings that stay open, each with a file of its own
DISK = 16 << 30  # bytes of made recordings in a temporary folder; beyond that the oldest are removed
COPIED = 16 << 20  # bytes up to which a file is read whole, so that it may be overwritten meanwhile
COPIES = 4 << 30  # bytes of disk for copies of longer files that are open, for the same reason
_PART = ".bundle.part"  # suffix of a file that is being written, as in bundles
_LEAST_FREE = 64 << 20  # bytes of disk below which a server is not ready for new recordings
_DRAWINGS = 15  # older unlisted recordings of pictures and sounds that one person keeps beside the newest
_STALE = 86_400.0  # seconds after which the writer of a partial file must have been killed
_OURS = re.compile(r"[0-9a-f]{16}")  # names that `new_path` gives
_LOOK = 0.5  # seconds between two looks whether somebody waits to write to a file that is mapped
_MOST_BROKEN = 20  # files of the folder whose errors are listed

log = logging.getLogger("glassformer.server")


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
    mark: MessageField | None = None  # that its model was edited
    default: bool = False  # the one that a page opens by itself; one of a list at most
    owner: str | None = None  # whose it is, on a server with users
    visibility: Visibility = "private"  # who else may read it, on a server with users


class _Opened:
    """A recording that is open, and its file as it was then."""

    __slots__ = ("copied", "path", "recording", "size", "stamp")

    def __init__(
        self, recording: Recording, stamp: tuple[int, int, int] | None, path: Path | None = None
    ) -> None:
        self.recording = recording
        self.path = path
        self.stamp = stamp
        self.size = estimate_bytes(recording)
        self.copied = 0  # bytes of disk
        if stamp is not None and stamp[0] < COPIED:
            self.size += stamp[0]
        elif stamp is not None and stamp[0] <= COPIES:
            self.copied = stamp[0]


class Library:
    """All recordings that a page can show. Safe to use from several threads.

    `disk` is how many bytes of its own recordings a library keeps on disk: beyond that the oldest are
    removed, each with a line in the log; with owners, nobody's for another's: where the disk is full, who has
    less than their share of it is refused. Without `disk`, a folder that is named keeps all of them.

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
        disk: int | None = None,
    ) -> None:
        self._temporary = folder is None
        # Absolute: workers, which have another working folder, are told these paths.
        self.folder = Path(tempfile.mkdtemp(prefix="glassformer-") if folder is None else folder).absolute()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._temporary:  # also without close(): a widget, a program that ends
            self._clean_up = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._memory = memory
        self._disk = DISK if disk is None and self._temporary else disk
        self._index = RecordingIndex(None if self._temporary else self.folder)
        self._open: OrderedDict[str, _Opened] = OrderedDict()  # least recently used first
        self._lock = threading.RLock()  # of the table of open recordings; never held during I/O
        self._receiving = threading.Lock()  # acquired before all others
        self._disk_lock = threading.RLock()  # of opening and writing files; acquired before _lock
        self._leases: dict[Lease, Path] = {}  # of files that are mapped as they are
        self._hashes: dict[str, str] = {}  # of recordings whose id stays when their file is written again
        self._differences = Differences(self.get, memory // 4)
        self.runs: tuple[Path, ...] = ()  # folders of training runs, whose probes are recordings, too
        self.atlases: tuple[Path, ...] = ()  # folders of atlases, whose examples are recordings, too
        self.broken: list[str] = []  # why files of the folder could not be opened
        for path in sorted(shipped.glob("*.bundle")) if shipped is not None else ():
            self._add(_read_shipped(path, _stamp(path)), path, "shipped", read_card(path))
        if not self._temporary:
            self._remove_stale()
            self._compare_folder()

    def _remove_stale(self) -> None:
        """Remove partial files of servers that were killed."""
        for part in (*self.folder.glob(f".*{_PART}"), *self.folder.glob(".job-*")):
            if time.time() - _age(part) > _STALE:
                shutil.rmtree(part, ignore_errors=True) if part.is_dir() else _remove_file(part)

    def _compare_folder(self) -> None:
        """Bring the index up to date: forget files that are gone, look at those that are new or changed."""
        known, found = self._index.kept(), dict[str, tuple[int, int]]()
        with os.scandir(self.folder) as listed:
            for each in listed:
                if each.name.endswith(".bundle") and not each.name.startswith("."):
                    found[each.name] = _stamp(each)[:2]
        self._index.forget_files(name for name, stamp in known.items() if found.get(name) != stamp)
        new = [name for name, stamp in found.items() if known.get(name) != stamp]
        for name in sorted(new, key=lambda name: found[name][1]):
            path = self.folder / name
            try:
                _check_name(name)
                self._add(INSPECTOR.inspect(path), path, "made", read_card(path), added=_age(path))
            except (BundleError, OSError) as error:  # another server may have removed it
                if len(self.broken) < _MOST_BROKEN:
                    self.broken.append(str(error))

    def entries(
        self,
        origin: Origin | None = None,
        search: str = "",
        start: int = 0,
        count: int | None = None,
        reader: Reader | None = None,
    ) -> tuple[RecordingEntry, ...]:
        """The listed recordings: made ones first, newest on top; then files; then shipped ones.

        With `count`, at most so many of each origin, after the first `start` of them. With a reader, those
        that they may see.
        """
        default = self._index.default()
        rows = self._index.page(origin, search, start, count, reader)
        return tuple(_read_entry(row).model_copy(update={"default": row.id == default}) for row in rows)

    def count(self, origin: Origin | None = None, search: str = "", reader: Reader | None = None) -> int:
        """How many recordings are listed."""
        return self._index.count(origin, search, reader)

    def ships_atlas(self, id: str) -> bool:
        """Whether an atlas is an example: the last folder of atlases has those."""
        found = find_atlas(self.atlases, id)
        return len(self.atlases) > 1 and found is not None and found.parent == self.atlases[-1]

    def has_atlas(self, id: str) -> bool:
        """Whether there is an atlas of this name."""
        return find_atlas(self.atlases, id) is not None

    def ownership(self, id: str) -> Ownership | None:
        """Whose a recording is; None where there is none. Not for probes, which are their runs'."""
        row = self._index.find(id)
        return None if row is None or row.origin in ("run", "atlas") else Ownership(row.owner, row.visibility)

    def bytes_of(self, owner: str) -> int:
        """Bytes of disk that the recordings of one person take."""
        return self._index.bytes_of(owner)

    def share(self, id: str, visibility: Visibility) -> None:
        """Let others read a recording, or not any more."""
        with self._disk_lock:
            row = self._find(id)
            if row.origin in ("shipped", "run", "atlas"):
                raise ApiError("api.not_shared", status=409, id=id[:80])
            self._set_card(row, self._read_card(row).model_copy(update={"visibility": visibility}))

    def entry(self, id: str) -> RecordingEntry:
        """The list entry of one recording; of a difference, made of those of the two."""
        pair = self.split(id)
        if pair is None:
            return _read_entry(self._find(id))
        first, second = map(self.entry, pair)
        return RecordingEntry(
            id=id,
            title=message("api.difference_title", first=first.title, second=second.title),
            model=first.model,
            shape=first.shape,
            source_excerpt=first.source_excerpt,
            source_tokens=first.source_tokens,
            target_tokens=first.target_tokens,
            origin=first.origin,
            note=None,
            parent=first.id,
        )

    def require(self, id: str) -> None:
        """ApiError (404) where there is no such recording."""
        for each in self.split(id) or (id,):
            self._find(each)

    def difference(self, id: str) -> Difference | None:
        """The difference with the id FIRST~SECOND; None for the id of one recording."""
        pair = self.split(id)
        return None if pair is None else self._differences.find(pair)

    def split(self, id: str) -> tuple[str, str] | None:
        """The ids of the two recordings of a difference; None for the id of one recording.

        The name of a run, which is part of the ids of its probes, may contain the sign as well.
        """
        pairs = list(split_id(id))
        if not pairs or self._knows(id):
            return None
        known = (pair for pair in pairs if all(map(self._knows, pair)))
        return next(known, pairs[0] if len(pairs) == 1 else None)

    def is_ready(self, id: str) -> bool:
        """Whether nothing has to be computed before a recording can be read, as for a new difference."""
        pair = self.split(id)
        return pair is None or self._differences.is_ready(pair)

    def _knows(self, id: str) -> bool:
        if not _is_of_folder(id):
            return self._index.find(id) is not None
        return self._find_file(id) is not None

    def _find_file(self, id: str) -> Path | None:
        """The file of a probe of a run, or of an example of an atlas."""
        return find_file(self.runs, id) or find_example(self.atlases, id)

    def request(self, id: str) -> JobRequest | None:
        """The request that made a recording, where it is known; its picture or sound is in the recording."""
        made_by = None if self.split(id) is not None else self._read_card(self._find(id)).request
        if made_by is None or made_by.sequence != "media":
            return made_by
        return made_by.model_copy(update={"media_of": id})

    def parents(self) -> dict[str, str]:
        """The parent of each recording that branched off from another one, by id; oldest first."""
        return self._index.branches()

    def rename(self, id: str, name: str) -> None:
        """Give a branch another name, for good."""
        with self._disk_lock:
            row = self._find(id)
            card = self._read_card(row)
            if card.request is None or card.request.branch is None:
                raise ApiError("api.not_a_branch", status=422, id=id[:80])
            branch = card.request.branch.model_copy(update={"name": name})
            request = card.request.model_copy(update={"branch": branch})
            self._set_card(row, card.model_copy(update={"request": request}))

    def _set_card(self, row: Row, card: Card) -> None:
        """Change the card of a recording for good; with the lock of the disk.

        A full disk leaves card and index as they are: what has to be written is, before either is changed.
        """
        path = self._locate(row) if row.kept else None
        text = card.model_dump_json()
        beside = (1 if path is None else 2) * len(text.encode())
        part = self.new_partial_path()
        try:
            if path is not None:
                part.write_text(text, encoding="utf-8")
            self._index.set_card(row.id, text, card.made_by, card.visibility, beside)
            if path is not None:
                part.replace(path.with_suffix(".json"))
        finally:
            part.unlink(missing_ok=True)

    def preset(self, id: str) -> str | None:
        """The id of the preset that a shipped recording shows."""
        return None if self.split(id) is not None else self._find(id).preset

    def content_hash(self, id: str) -> str | None:
        """The hash of a recording whose id stays when its file is written again (shipped, a probe)."""
        hashes = [self._hashes.get(each) for each in self.split(id) or (id,)]
        return None if not any(hashes) else "~".join(each or "" for each in hashes)

    def state(self, id: str | None = None) -> str | None:
        """Differs whenever the list, or what is said of a recording, may differ; None: nobody knows when.

        That is so for probes and examples, which are described with their neighbours in a folder.
        """
        parts = () if id is None else self.split(id) or (id,)
        if any(map(_is_of_folder, parts)):
            return None
        paths = [self._locate(self._find(each)) for each in parts]
        return f"{self._index.state()} {[None if path is None else _stamp(path) for path in paths]}"

    def list_probes(self, run: str) -> ProbeSeries:
        """The probes of a training run; ApiError where there is no such run."""
        folder = find_run(self.runs, run)
        if folder is None:
            raise ApiError("api.no_run", status=404, id=run[:80])
        texts = tuple(
            ProbeText(number=number, excerpt=self._find_excerpt(steps), steps=steps)
            for number, steps in list_series(folder).items()
        )
        return ProbeSeries(run=run, texts=texts)

    def _find_excerpt(self, steps: Sequence[ProbeStep]) -> str:
        """The text of a series, from its newest recording that can be read; empty where none can."""
        for step in reversed(steps):
            with suppress(ApiError, BundleError, OSError):
                return self.entry(step.id).source_excerpt
        return ""

    def describe_probe(self, id: str) -> ProbeDescription | None:
        """Where a recording stands in the series of its run; None for one that is no probe."""
        parts = read_id(id)
        if parts is None or not self.runs:
            return None
        run, step, number = parts
        return ProbeDescription(**dict(self.list_probes(run)), step=step, number=number)

    def find_preset(self, preset: str) -> str | None:
        """The id of the shipped recording of a preset."""
        return self._index.find_preset(preset)

    def get(self, id: str) -> Recording:
        """The recording; opens its file if needed. FIRST~SECOND is the first minus the second."""
        difference = self.difference(id)
        if difference is not None:
            return difference.recording
        known = self._find_open(id)
        if known is None:
            with self._disk_lock:
                known = self._find_open(id)  # another thread may have opened it
                if known is None:
                    known = self._reopen(id)
        return known

    def _reopen(self, id: str) -> Recording:
        """A recording from its file; it is forgotten if the file was removed (another server may do so)."""
        row = self._find(id)
        path = self._locate(row)
        assert path is not None  # a recording is open or on disk
        if not path.exists():
            self._forget(row)
            self._find(id)  # raises: it is gone
        stamp = _stamp(path)
        recording = self._open_bundle(path) if stamp[:2] == (row.size, row.changed) else None
        if recording is None or _stamp(path) != stamp:  # also one that was overwritten while it was read
            self._take_again(row)
            raise ApiError("api.recording_changed", "no_recording", 404, id=id[:80])
        self._keep_open(id, recording, stamp, path)
        return recording

    def _open_bundle(self, path: Path) -> Recording:
        """The recording in a file that anyone may overwrite or cut meanwhile."""
        try:
            if _stamp(path)[0] > COPIES:
                return self._map_bundle(path)
            return bundle.open(path, COPIED, self.folder)
        except BundleError as error:
            if getattr(error.__cause__, "errno", None) not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
                log.warning("%s", error)
                raise BundleError(error.message.replace(str(path), path.name)) from error
        log.warning("no room for a copy of %s", path)
        return self._map_bundle(path)

    def _map_bundle(self, path: Path) -> Recording:
        """The recording in a file that is mapped as it is: whoever writes to it waits until it is closed."""
        lease = take_lease(path)
        if lease is None and path in list(self._leases.values()):  # somebody waits to write
            raise ApiError("api.recording_is_written", "busy", 503)
        if lease is None:
            log.warning("%s is mapped: overwriting it now would end the server", path)
            return bundle.open(path, COPIED)

        def let_go() -> None:
            self._leases.pop(lease, None)
            lease.release()

        begins = not self._leases
        self._leases[lease] = path
        if begins:
            threading.Thread(target=self._watch_leases, name="glassformer-leases", daemon=True).start()
        try:
            return bundle.open(path, COPIED, let_go=let_go)
        except BaseException:
            let_go()
            raise

    def _watch_leases(self) -> None:
        """Close what others wait to write to, for as long as there are leases."""
        while self._leases:
            time.sleep(_LOOK)
            for lease, path in list(self._leases.items()):
                if lease.wanted:
                    log.warning("%s is closed: it is being overwritten", path)
                    with self._lock:
                        ids = [id for id, each in self._open.items() if each.path == path]
                    for id in ids:
                        self._close(id)

    def _take_again(self, row: Row) -> None:
        """A file was overwritten: what is in it now is another recording, with an id of its own."""
        path = self._locate(row)
        assert path is not None
        self._close(row.id)
        card = self._read_card(row)
        self._index.remove(row.id)
        with suppress(BundleError, OSError):
            self._add(INSPECTOR.inspect(path), path, row.origin, card, own=row.own)

    def open_file(self, path: str | PathLike[str]) -> str:
        """Add a file of the user: it is read where it is, and never removed."""
        place = Path(path).absolute()  # a relative one would be looked for in the library's folder
        _check_name(str(place))
        return self._add(list_facts(bundle.open(place)), place, "file", Card(visibility="team"))

    def adopt(
        self,
        path: str | PathLike[str],
        origin: Origin = "made",
        title: Message | None = None,
        request: JobRequest | MeasureRequest | None = None,
        facts: Facts | None = None,
        owner: str | None = None,
        check: Callable[[int], None] = lambda _: None,
    ) -> str:
        """Add a bundle written below the library's folder; the library owns the file from now on.

        `facts` are those of a file that was inspected already; otherwise it is opened here. `check` is given
        the bytes of disk that the recording takes, and raises where there is no room; no other file is added
        between the check and this one.
        """
        given, stored = Path(path), self.new_path()
        run: JobRequest | None
        measured: str | None = None
        if request is None or isinstance(request, JobRequest):
            run = request
        else:  # no branch of its own: it would stand in the tree of the text that was measured
            measured = hash_request(request.model_dump(mode="json"))
            run = request.run.model_copy(update={"listed": False, "branch": None})
        if run is not None and run.media is not None:  # the file is gone, and its name means nothing
            run = run.model_copy(update={"media": None})
        card = Card(title=title, request=run, measured=measured, owner=owner)
        try:
            if facts is None:
                facts = list_facts(bundle.open(given))
            written = card.model_dump_json()
            with self._receiving:
                check(_stamp(given)[0] + (1 if self._temporary else 2) * len(written.encode()))
                if not self._temporary:  # before the bundle, so that a visible bundle has its card
                    stored.with_suffix(".json").write_text(written, encoding="utf-8")
                given.replace(stored)
                id = self._add(facts, stored, origin, card, own=True, refuse=owner is not None)
        except BaseException:  # also no room for a line of the index: the file would count for nobody
            for each in (given, stored):
                _remove_file(each)
            raise
        made_by = card.made_by
        found = [] if made_by is None else self._index.find_unlisted(made_by, owner)
        same = [each for each in found if each.id != id]
        # Of unlisted recordings only the newest of a request is kept; of drawings a few, for other windows.
        drawn = run is not None and run.sequence == "media" and run.media_of is None and measured is None
        same.sort(key=lambda each: each.added, reverse=True)
        for other in same[_DRAWINGS if drawn else 0 :]:
            self._forget(other)
        return id

    def receive(
        self, part: Path, owner: str | None = None, check: Callable[[int], None] = lambda _: None
    ) -> str:
        """Add an uploaded file, after a separate process has inspected it."""
        try:
            return self.adopt(part, "file", facts=INSPECTOR.inspect(part), owner=owner, check=check)
        finally:
            part.unlink(missing_ok=True)

    def add(self, recording: Recording, title: Message | None = None) -> str:
        """Add a recording that is in memory; it is written to disk when memory runs short."""
        with self._disk_lock:
            id = self._add(list_facts(recording), None, "made", Card(title=title))
            self._keep_open(id, recording, None)
        return id

    def path(self, id: str) -> Path:
        """The bundle file of a recording, written now if it was only in memory."""
        if self.split(id) is not None:
            raise ApiError("api.no_file_of_difference", status=409, id=id[:80])
        with self._disk_lock:
            return self._write(id)

    def remove(self, id: str) -> None:
        """Forget a recording; its file is removed only if it is the library's own."""
        row = self._find(id)
        codes = {"shipped": "api.shipped", "run": "api.probe", "atlas": "api.example"}
        if row.origin in codes:
            raise ApiError(codes[row.origin], status=403, id=id)
        self._forget(row)

    def can_write(self) -> bool:
        """Whether new recordings can be kept: the folder is there, writable, and its disk not full."""
        try:
            return os.access(self.folder, os.W_OK) and shutil.disk_usage(self.folder).free > _LEAST_FREE
        except OSError:
            return False

    @property
    def kept_folder(self) -> Path | None:
        """The folder that stays when the program ends; None where it is a temporary one."""
        return None if self._temporary else self.folder

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
            self._differences.clear()
            self._index.close()
            if self._temporary:
                self._clean_up()

    def _find(self, id: str) -> Row:
        row = self._find_in_folder(id) if _is_of_folder(id) else self._index.find(id)
        if row is None:
            raise ApiError("api.no_recording", status=404, id=id[:80])
        return row

    def _find_in_folder(self, id: str) -> Row | None:
        """The row of a probe or example, made when it is first asked for, and when its file has changed."""
        path = self._find_file(id)
        row = self._index.find(id)
        if row is not None and path is not None and _stamp(path)[:2] == (row.size, row.changed):
            return row
        self._close(id)
        self._index.remove(id)
        if path is None:
            return None
        try:
            facts = list_facts(self._open_bundle(path))
        except (BundleError, OSError) as error:
            if path.exists():
                raise
            raise ApiError("api.no_recording", status=404, id=id[:80]) from error  # thinned out meanwhile
        probe, example = read_id(id), read_example_id(id)
        if probe is not None:
            title = message("api.probe_title", run=probe[0], step=probe[1], text=facts.title)
        else:
            name = "" if example is None else example[0]
            title = message("api.example_title", atlas=name, text=facts.title)
        self._add(facts, path, "atlas" if probe is None else "run", Card(id=id, title=title), own=False)
        return self._index.find(id)

    def _add(
        self,
        facts: Facts,
        path: Path | None,
        origin: Origin,
        card: Card,
        *,
        own: bool | None = None,
        added: float | None = None,
        refuse: bool = False,
    ) -> str:
        """Put a recording into the index. Without `own`: a file is ours if it has one of our names.

        With `refuse`, ApiError (and the file is removed) where the disk has no room for it.
        """
        kept = path is not None and not self._temporary and path.parent == self.folder
        own = path is None or (kept and _OURS.fullmatch(path.stem) is not None) if own is None else own
        name = path.stem if path is not None and not own else facts.model
        hashed = hash_file(path, card.owner) if path is not None else token_hex(4)
        stays = origin in ("shipped", "run", "atlas")
        id = (card.id if stays else None) or f"{slugify(name)}-{hashed}"
        if stays:
            self._hashes[id] = hashed
        given = path is not None and origin == "file" and not own
        title = card.title or (literal(name) if given else facts.title)
        entry = RecordingEntry(
            id=id,
            title=title,
            model=facts.model,
            shape=facts.shape,
            source_excerpt=facts.excerpt,
            source_tokens=facts.source_tokens,
            target_tokens=facts.target_tokens,
            origin=origin,
            note=card.note,
            selection=card.selection,
            parent=None if card.request is None else card.request.parent,
            mark=facts.mark,
        )
        size, changed, _ = (0, 0, 0) if path is None else _stamp(path)
        listed = origin not in ("run", "atlas") and (card.request is None or card.request.listed)
        branched = listed and card.request is not None and card.request.branch is not None
        written = card.model_dump_json()
        row = FullRow(
            id=id,
            origin=origin,
            entry=entry.model_dump_json(),
            card=written,
            path=None if path is None else path.name if kept else str(path),
            own=own,
            kept=kept,
            listed=listed,
            size=size,
            changed=changed,
            added=self._index.next_time() if added is None else added,
            preset=card.preset,
            made_by=card.made_by,
            words=f"{id} {facts.model} {facts.excerpt} {title}".lower(),
            owner=card.owner,
            visibility="public" if origin == "shipped" else card.visibility,
            branch_of=entry.parent if branched else None,
            beside=len(written.encode()) + (_stamp(path.with_suffix(".json"))[0] if path and kept else 0),
        )
        with self._disk_lock:
            if self._index.put(row):
                if not self._free_disk(id) and refuse:
                    self._forget(row)
                    raise ApiError("api.disk_full", status=413, more=row.taken / 1e6)
            elif own and path is not None and path != self._locate(self._find(id)):  # the same content
                _remove_file(path)
        return id

    def _find_open(self, id: str) -> Recording | None:
        """The recording, if it is open and its file has not been overwritten since."""
        row = self._find(id)
        with self._lock:
            opened = self._open.get(id)
            if opened is None:
                return None
            self._open.move_to_end(id)
        path = self._locate(row)
        if opened.stamp is None or path is None or opened.stamp == _stamp(path):
            return opened.recording
        self._close(id)  # before anything reads it: a mapped file that became shorter ends the process
        return None

    def _close(self, id: str) -> None:
        """Release a recording, and the differences that were made of it."""
        with self._lock:
            self._open.pop(id, None)
        self._differences.release(id)

    def _keep_open(
        self,
        id: str,
        recording: Recording,
        stamp: tuple[int, int, int] | None,
        path: Path | None = None,
    ) -> None:
        """Keep a recording open; close the least recently used ones beyond the budgets."""
        opened = _Opened(recording, stamp, path)
        with self._lock:
            self._open[id] = opened
            self._open.move_to_end(id)
            left = sum(each.size for each in self._open.values()) + self._differences.size
            copied = sum(each.copied for each in self._open.values())
            leaving: list[str] = []
            for other, each in self._open.items():
                many = len(self._open) - len(leaving) > FILES
                if other == id or not (many or left > self._memory or copied > COPIES):
                    break
                leaving.append(other)
                left -= each.size
                copied -= each.copied
        for other in leaving:
            with suppress(ApiError):  # removed by another thread
                self._write(other)
            self._close(other)

    def _write(self, id: str) -> Path:
        """The file of a recording, written if there is none; tables stay unlocked during the write."""
        known = self._locate(self._find(id))
        if known is not None:
            return known
        with self._lock:
            opened = self._open[id]  # a recording is open or on disk
        path = self.new_path()
        bundle.save(opened.recording, path)
        size, changed, _ = _stamp(path)
        self._index.set_file(id, path, size, changed)
        if self._index.find(id) is None:  # removed by another thread
            _remove_file(path)
        self._free_disk(id)
        return path

    def _free_disk(self, newest: str) -> bool:
        """Remove the oldest recordings beyond the budget of disk, and say so; False: it has no room for this.

        With owners, theirs alone who need room, and only what is beyond their share of the budget.
        """
        row = self._index.find(newest)
        used = self._index.own_bytes()
        if self._disk is None or row is None or used <= self._disk:
            return True
        full = used - row.taken > self._disk  # even without this recording
        spare, leaving = float("inf"), list[Row]()
        if row.owner is not None:
            spare = self._index.bytes_of(row.owner) - self._disk / self._index.count_owners()
        for each in self._index.oldest(row.owner):
            if used <= self._disk or spare <= 0:
                break
            if each.id != newest and self._is_mine(each):
                leaving.append(each)
                used, spare = used - each.taken, spare - each.taken
        if used > self._disk and row.owner is not None and not full:
            return False  # what leaves would leave in vain
        for each in leaving:
            log.warning("%s is removed: recordings take more than %d bytes of disk", each.id, self._disk)
            self._forget(each)
        return used <= self._disk

    def _forget(self, row: Row) -> None:
        with self._disk_lock:  # nobody writes its card meanwhile
            self._close(row.id)
            path = self._locate(row)
            own = path if row.own else None
            try:
                self._index.remove(row.id)
            except OSError:  # a full disk: its file makes room for the index to be written
                if own is None:
                    raise
                _remove_file(own)
                self._index.remove(row.id)
            if own is not None:
                _remove_file(own)

    def _read_card(self, row: Row) -> Card:
        """The card of a recording; ApiError where it has been removed meanwhile."""
        card = self._index.read_card(row.id)
        if card is None:
            raise ApiError("api.no_recording", status=404, id=row.id[:80])
        return Card.model_validate_json(card)

    def _locate(self, row: Row) -> Path | None:
        """Where the file of a recording is; None for one that is in memory only."""
        return None if row.path is None else self.folder / row.path

    def _is_mine(self, row: Row) -> bool:
        """Whether the file belongs to the user that this process runs as."""
        path = self._locate(row)
        with suppress(OSError, AttributeError):  # not a Unix
            return path is None or path.stat().st_uid == os.getuid()
        return True


@lru_cache(maxsize=1000)
def _parse_entry(text: str) -> RecordingEntry:
    return RecordingEntry.model_validate_json(text)


def _is_of_folder(id: str) -> bool:
    """Whether an id names a place in the folder of a run or of an atlas."""
    return read_id(id) is not None or read_example_id(id) is not None


def _read_entry(row: Row) -> RecordingEntry:
    return _parse_entry(row.entry).model_copy(update={"owner": row.owner, "visibility": row.visibility})


def _check_name(name: str) -> None:
    """BundleError for a name that is not UTF-8: neither the index nor a response can hold it."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        shown = os.fsencode(name).decode(errors="backslashreplace")
        raise BundleError("api.name_not_utf8", name=shown) from error


@lru_cache(maxsize=64)
def _read_shipped(path: Path, stamp: tuple[int, int, int]) -> Facts:  # noqa: ARG001 - part of the cache's key
    """What a list says of a recording that ships: read once, for all libraries of a process."""
    return list_facts(bundle.open(path))


def _stamp(path: Path | os.DirEntry[str]) -> tuple[int, int, int]:
    """Size, time and number of a file: another content has another stamp. Zeros for one that is gone."""
    try:
        state = path.stat()
    except OSError:
        return 0, 0, 0
    return state.st_size, state.st_mtime_ns, state.st_ino


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
