"""Jobs: queued, running and finished ones, and the events of each.

In:   requests from many threads; progress from the threads that run them; a table on disk, or none.
Out:  `Job` and `Event` as the page knows them. Nothing here waits for a model.

With a table, jobs outlive the server: those that wait or run when it ends are queued by the next one.
"""

import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from itertools import islice, zip_longest
from pathlib import Path
from secrets import token_hex
from statistics import mean
from typing import Any, Protocol

from glassformer.api.effects import MeasureRequest
from glassformer.api.folders import hide_folders
from glassformer.api.jobs import LAST_EVENTS, Event, Job, JobRequest, PlayRequest, Stage, State
from glassformer.api.logs import REQUEST, request_id
from glassformer.api.tracing import add_span
from glassformer.errors import ApiError
from glassformer.messages import Message, message
from glassformer.schema import MessageModel
from glassformer.workbench.job_table import JobTable, KeptJob
from glassformer.workbench.models import Model
from glassformer.workbench.policy import measure_model

log = logging.getLogger("glassformer.workbench")

Request = JobRequest | PlayRequest | MeasureRequest

MOST_STARTS = 2  # of a job during which the server was killed each time
MOST_EVENTS = 20_000  # of one job; further progress is not kept, the last event always is
QUEUED = {"stage": "queued", "share": None, "detail": None}


@dataclass(slots=True, eq=False)
class Entry:
    """One job of the store; changed under the store's lock only."""

    request: Request | None  # None after the job has ended: a request may take megabytes
    model: Model | None  # None: of a server before this one; it has to be found again
    job: Job  # as the page sees it
    mark: str  # the same for equal requests
    play: dict[str, Any] | None = None  # the result, where that is no recording
    asked_by: str | None = None  # id of the request that made it
    events: list[Event] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.job.id

    @property
    def finished(self) -> bool:
        return self.job.state in LAST_EVENTS

    def change(self, **values: Any) -> None:
        self.job = self.job.model_copy(update=values)


class Taker(Protocol):
    """Whoever runs jobs, one at a time."""

    def rank(self, entry: Entry) -> int:
        """How well placed it is to run this job, the higher the better; below 0: not at the moment."""


class JobStore:
    """All jobs, in the order in which they came."""

    def __init__(
        self,
        queue: int,
        kept: int,
        table: JobTable | None = None,
        hidden: Sequence[Path] = (),
        model_bytes: int | None = None,
        on_end: Callable[["Entry"], None] = lambda _: None,
    ) -> None:
        """Messages do not say where the `hidden` folders lie. Models of one person's jobs that run at the
        same time take at most `model_bytes` of memory; further jobs wait, and others go before them.
        `on_end` is told of each job that is done, has failed or was cancelled.
        """
        self._on_end = on_end
        self._listeners: dict[str, list[Callable[[], None]]] = {}  # by job
        self.model_bytes = model_bytes
        self.queue = queue
        self.kept = kept
        self.table = table
        self.hidden = hidden
        self._idle: list[Taker] = []
        self._entries: dict[str, Entry] = {}
        self._waiting: deque[Entry] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._served: dict[str | None, float] = {}  # when a job of each owner was taken last
        self._began: dict[str, float] = {}  # when jobs that run were taken, by id
        self._seconds: deque[tuple[str, str, float]] = deque(maxlen=50)  # kind, model, time of the last jobs
        with self._changed:
            for each in [] if table is None else table.read():
                self._restore(each)

    def submit(self, request: Request, model: Model, owner: str | None = None) -> Job:
        """Put a job behind those that wait."""
        mark = _mark(request)
        with self._changed:
            if self._closed:
                raise ApiError("workbench.closing", code="closing", status=503)
            if len(self._waiting) >= self.queue:
                raise ApiError(
                    "workbench.queue_full", code="queue_full", status=429, count=len(self._waiting)
                )
            entry = Entry(request, model, _describe(request, owner), mark, asked_by=request_id.get())
            self._entries[entry.id] = entry
            if self.table is not None:
                self.table.add(entry.job, request)
            self._wait(entry)
            self._forget()
            self._changed.notify_all()
            return self._show(entry)

    def find(
        self, request: JobRequest, is_kept: Callable[[str], bool], owner: str | None = None
    ) -> Job | None:
        """A job of the same person and request that waits, runs, or made a recording that is still there."""
        mark = _mark(request)
        with self._changed:
            entries = self._entries.values()
            same = [self._show(each) for each in entries if (each.job.owner, each.mark) == (owner, mark)]
        for job in same:
            done = job.state == "done" and job.recording is not None and is_kept(job.recording)
            if done or job.state in ("queued", "running"):
                return job
        return None

    def take(self, seconds: float, taker: Taker | None = None) -> Entry | None:
        """The next job, now running; None where none came in this time.

        Of several who wait for jobs, the one that is placed best gets it.
        """
        with self._changed:
            if taker is not None:
                self._idle.append(taker)
            try:
                self._changed.wait_for(lambda: self._closed or self._is_next(taker), seconds)
            finally:
                if taker is not None:
                    self._idle.remove(taker)
            if self._closed or not self._is_next(taker):
                return None
            entry = self._find_next()
            assert entry is not None
            self._waiting.remove(entry)
            self._served[entry.job.owner] = self._began[entry.id] = time.monotonic()
            self._arrange()
            entry.change(state="running", stage="loading")
            if self.table is not None:
                self.table.start(entry.job)
            self._append(entry, "progress", {"stage": "loading", "share": None, "detail": None})
            self._changed.notify_all()  # the next job may be for another one who waits
            return entry

    def wake(self) -> None:
        """Whoever waits for jobs looks again whether one is for it."""
        with self._changed:
            self._changed.notify_all()

    def job(self, id: str) -> Job:
        with self._changed:
            return self._show(self._find(id))

    def jobs(self) -> list[Job]:
        """Newest first."""
        with self._changed:
            return [self._show(entry) for entry in reversed(self._entries.values())]

    def cancel(self, id: str) -> Job:
        """Mark a job as cancelled at once; the thread that runs it notices this and stops."""
        with self._changed:
            entry = self._find(id)
            if not entry.finished:
                self._finish(entry, "cancelled", {})
            return entry.job

    @contextmanager
    def listening(self, id: str, notify: Callable[[], None]) -> Iterator[None]:
        """Call a function, which must be quick, after each event of a job inside this context."""
        with self._changed:
            self._listeners.setdefault(id, []).append(notify)
        try:
            yield
        finally:
            with self._changed:
                self._listeners[id].remove(notify)
                if not self._listeners[id]:
                    del self._listeners[id]

    def events(self, id: str, start: int) -> list[Event]:
        """The events of a job from this number on."""
        with self._changed:
            return self._find(id).events[start:]

    def progress(self, entry: Entry, stage: Stage, share: float | None, detail: str | None) -> None:
        """A running job has come so far."""
        with self._changed:
            if not entry.finished:
                entry.change(stage=stage, share=share, detail=detail)
                self._append(entry, "progress", {"stage": stage, "share": share, "detail": detail})

    def step(self, entry: Entry, data: dict[str, Any]) -> None:
        """A running job has written a word."""
        with self._changed:
            if not entry.finished:
                self._append(entry, "step", data)

    def finish(self, entry: Entry, recording: str | None, **more: Any) -> None:
        """A recording came of it, or something else that its last event carries."""
        with self._changed:
            if not entry.finished and not self._closed:
                entry.change(recording=recording)
                self._finish(entry, "done", {"recording": recording, **more})

    def fail(self, entry: Entry, text: Message, code: str) -> None:
        """A job has failed: the reason for a person, and a code for programs."""
        with self._changed:
            if not entry.finished and not self._closed:
                self._fail(entry, text, code)

    def count_unfinished(self) -> int:
        """How many jobs wait or run."""
        with self._changed:
            return sum(not entry.finished for entry in self._entries.values())

    def release(self, entry: Entry) -> None:
        """Drop the request of a job that has ended: its worker does not need it any more."""
        with self._changed:
            if entry.finished:
                entry.request = None

    def is_stopped(self, entry: Entry) -> bool:
        """Whether a job should not go on: it has ended, or the store is closed."""
        with self._changed:
            return entry.finished or self._closed

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Take nothing more. What waits or runs is put back into the table, or cancelled without one."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            for entry in self._entries.values():
                if entry.finished:
                    continue
                if self.table is None:
                    self._finish(entry, "cancelled", {})
                else:
                    entry.change(state="queued", stage="queued", share=None, detail=None)
                    self.table.put_back(entry.job)
                    self._append(entry, "progress", QUEUED)
            if self.table is not None:
                self.table.close()
            self._changed.notify_all()

    # Under the lock

    def _restore(self, kept: KeptJob) -> None:
        """A job of the server before this one: it waits again, or is known as it ended."""
        assert self.table is not None
        entry = Entry(kept.request, None, kept.job, _mark(kept.request))
        self._entries[entry.id] = entry
        if entry.finished:
            entry.request = None
            self._append(entry, kept.job.state, kept.last)
        elif kept.starts >= MOST_STARTS:
            text = message("workbench.failed.interrupted", count=kept.starts)
            self._fail(entry, text, "interrupted")
        else:
            entry.change(state="queued", stage="queued", share=None, detail=None)
            self._wait(entry)

    def _wait(self, entry: Entry) -> None:
        self._waiting.append(entry)
        self._append(entry, "progress", QUEUED)
        self._arrange()

    def _arrange(self) -> None:
        """Put those who wait in order: one of each owner in turn, who was served longest ago first.

        With one owner, or none, it is the order in which they came.
        """
        queues: dict[str | None, list[Entry]] = {}
        for entry in self._waiting:
            queues.setdefault(entry.job.owner, []).append(entry)
        turns = sorted(queues, key=lambda owner: self._served.get(owner, 0.0))  # stable: first come, first
        rounds = zip_longest(*(queues[owner] for owner in turns))
        self._waiting = deque(entry for each in rounds for entry in each if entry is not None)

    def _estimate(self, place: int) -> float | None:
        """About how many seconds a job has to wait at its place; None where no job has ended yet.

        A job is expected to take the mean time of earlier jobs of its kind and model, or else of all jobs.
        One that has already run longer is expected to take as long again.
        """
        if not self._seconds:
            return None
        running = [entry for entry in self._entries.values() if entry.job.state == "running"]
        workers, now = max(1, len(running) + len(self._idle)), time.monotonic()
        total = sum(self._expect(entry) for entry in islice(self._waiting, place))
        for entry in running:
            passed = now - self._began.get(entry.id, now)
            left = self._expect(entry) - passed
            total += left if left > 0 else passed
        return total / workers

    def _expect(self, entry: Entry) -> float:
        """Seconds that a job will take, judged by earlier ones."""
        job = entry.job
        same = [seconds for *what, seconds in self._seconds if what == [job.kind, job.model]]
        return mean(same or [seconds for *_, seconds in self._seconds])

    def _show(self, entry: Entry) -> Job:
        """A job as the page sees it; one that waits with its place."""
        if entry.job.state != "queued" or entry not in self._waiting:
            return entry.job
        place = self._waiting.index(entry)
        return entry.job.model_copy(update={"position": place, "wait": self._estimate(place)})

    def _is_next(self, taker: Taker | None) -> bool:
        """Whether the next job is for this one, and not for a better one who waits, too."""
        entry = self._find_next()
        if entry is None or taker is None:
            return entry is not None
        rank = taker.rank(entry)
        return rank >= 0 and all(other.rank(entry) <= rank for other in self._idle)

    def _find_next(self) -> Entry | None:
        """The first that waits and whose owner has memory left for its model."""
        if self.model_bytes is None:
            return self._waiting[0] if self._waiting else None
        used: dict[str, int] = {}
        for each in self._entries.values():
            if each.job.state == "running" and each.job.owner is not None:
                used[each.job.owner] = used.get(each.job.owner, 0) + self._measure(each)
        for each in self._waiting:
            taken = 0 if each.job.owner is None else used.get(each.job.owner, 0)
            if not taken or taken + self._measure(each) <= self.model_bytes:
                return each
        return None

    def _measure(self, entry: Entry) -> int:
        """Bytes of the model of a job; all that its owner may have, where nobody knows yet."""
        if entry.job.kind == "play":
            return 0
        size = None if entry.model is None else measure_model(entry.model)
        return (self.model_bytes or 0) if size is None else size

    def _find(self, id: str) -> Entry:
        if id not in self._entries:
            raise ApiError("workbench.no_job", code="no_job", status=404)
        return self._entries[id]

    def _fail(self, entry: Entry, text: Message, code: str) -> None:
        log.warning("job %s (%s) failed: %s", entry.id, entry.job.model, text)
        shown = hide_places(hide_folders(text, self.hidden))
        entry.change(message=shown, code=code)
        sent = MessageModel.of(shown).model_dump(mode="json")
        self._finish(entry, "failed", {"code": code, "message": sent})

    def _finish(self, entry: Entry, state: State, data: dict[str, Any]) -> None:
        began = entry.id in self._began
        if entry in self._waiting:
            self._waiting.remove(entry)
            self._arrange()
        seconds = time.monotonic() - self._began.pop(entry.id, time.monotonic())
        if entry.job.state == "running" and state == "done":
            self._seconds.append((entry.job.kind, entry.job.model, seconds))
        entry.change(state=state, share=None, detail=None)
        _trace(entry, seconds)
        assert state in ("done", "failed", "cancelled")
        self._append(entry, state, data)
        if self.table is not None and not self._closed:
            self.table.finish(entry.job, data)
        self._changed.notify_all()  # another job of its owner may have waited for its memory
        self._on_end(entry)
        if not began:  # otherwise its worker may still need it, and releases it
            entry.request = None

    def _append(self, entry: Entry, name: Any, data: dict[str, Any]) -> None:
        if name in LAST_EVENTS or len(entry.events) < MOST_EVENTS:
            entry.events.append(Event(name=name, data=data))
            for notify in self._listeners.get(entry.id, ()):
                notify()

    def _forget(self) -> None:
        """Only so many finished jobs are remembered, the newest."""
        finished = [entry for entry in self._entries.values() if entry.finished]
        for entry in finished[: max(0, len(finished) - self.kept)]:
            del self._entries[entry.id]
            if self.table is not None:
                self.table.remove(entry.id)


def _trace(entry: Entry, seconds: float) -> None:
    """A job has ended: one span, without its text."""
    job = entry.job
    values = {
        "glassformer.job": job.id,
        "glassformer.model": job.model,
        "glassformer.state": job.state,
        "glassformer.code": job.code,
        REQUEST: entry.asked_by,
    }
    add_span(f"job {job.kind}", seconds, values, failed=job.state == "failed")


def hide_places(text: Message) -> Message:
    """The message without the folders of this machine that are nobody's business: caches, home, Python."""
    for place, shown in _list_places():
        text = text.replace(place, shown)
    return text


@cache
def _list_places() -> tuple[tuple[str, str], ...]:
    from huggingface_hub import constants

    places = {constants.HF_HUB_CACHE: "…", constants.HF_HOME: "…", sys.prefix: "…", str(Path.home()): "~"}
    known = [(str(place).rstrip("/"), shown) for place, shown in places.items()]
    return tuple(sorted((each for each in known if each[0]), key=lambda each: -len(each[0])))


def _mark(request: Request) -> str:
    return blake2b(request.model_dump_json().encode(), digest_size=16).hexdigest()


def _describe(request: Request, owner: str | None) -> Job:
    """A job that waits."""
    origin = request if isinstance(request, JobRequest) else None
    return Job(
        id=token_hex(8),
        kind=request.kind,
        state="queued",
        stage="queued",
        share=None,
        detail=None,
        recording=None,
        model=request.model,
        created=time.time(),
        listed=request.listed,
        parent=None if origin is None else origin.parent,
        prefix=None if origin is None else origin.prefix,
        owner=owner,
    )
