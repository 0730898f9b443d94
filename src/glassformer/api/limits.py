"""Limits of one request: bytes and pauses of its body, threads, time and cache of its response.

In:   requests and the work they ask for.
Out:  bodies within the limits; responses computed beside the event loop; errors beyond the limits.
"""

import asyncio
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import copy_context
from typing import Any, TypeVar

import numpy as np
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from glassformer.api.cancellation import cancelled_by
from glassformer.api.encodings import Encoded
from glassformer.api.errors import respond_with_error
from glassformer.api.languages import choose_language
from glassformer.api.roles import PERSON
from glassformer.api.settings import Settings
from glassformer.errors import ApiError

Result = TypeVar("Result")
ANSWERS = 2_048  # in the cache at most, however short: the entry of each takes memory, too


class BodyLimit:
    """Refuses bodies that are too long, whatever their header says, or that stop arriving."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        chosen = self.settings
        uploads = {"/api/recordings": chosen.upload_bytes, "/api/inputs": chosen.input_bytes}
        known = uploads if scope["method"] == "POST" else {}
        limit = known.get(scope["path"].rstrip("/"), chosen.body_bytes)
        body = _Body(receive, limit, self.settings.body_pause, self.settings.body_rate)
        declared = Headers(scope=scope).get("content-length", "0")
        if not declared.isdecimal() or int(declared) > limit:
            await respond_with_error(body.too_long, choose_language(scope))(scope, receive, send)
            return

        async def send_unless_refused(message: Message) -> None:
            if body.answered or body.refusal is None:  # the framework may have made another error of ours
                body.answered = True
                await send(message)

        try:
            await self.app(scope, body.receive, send_unless_refused)
        except ApiError as error:  # while a body was read before any route
            if body.answered or error is not body.refusal:
                raise
        if body.refusal is not None and not body.answered:
            await respond_with_error(body.refusal, choose_language(scope))(scope, receive, send)


class _Body:
    """The body of a request as it arrives; `refusal`: the limit that it broke before a response began."""

    def __init__(self, receive: Receive, limit: int, pause: float, rate: int) -> None:
        self._receive = receive
        self._limit = limit
        self._rate = rate
        self._begin = time.monotonic()
        self._pause: float | None = pause  # None: the whole body has arrived
        self._taken = 0
        self._looked = False  # whether the last look, after the timeout, was taken
        self.answered = False
        self.too_long = ApiError("api.body_too_long", status=413, limit=limit)
        self.refusal: ApiError | None = None

    async def receive(self) -> Message:
        try:
            message = await self._take()
        except TimeoutError:
            if self.answered:
                return await self._receive()
            self.refusal = ApiError(
                "api.body_too_slow", "too_slow", 408, seconds=self._pause, rate=self._rate
            )
            raise self.refusal from None
        self._taken += len(message.get("body", b""))
        if not message.get("more_body", False):
            self._pause = None
        if self._taken > self._limit and not self.answered:
            self.refusal = self.too_long
            raise self.refusal
        return message

    async def _take(self) -> Message:
        """The next part of the body; TimeoutError if it does not arrive in time."""
        pause = self._pause
        if pause is not None:  # a client that sends a byte now and then does not get more time for it
            allowed = self._begin + pause + self._taken / self._rate - time.monotonic()
            pause = min(pause, allowed)
        if pause is None or pause > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):  # not wait_for, which may lose a cancellation
                    return await self._receive()
        if self._looked:
            raise TimeoutError
        self._looked = True  # once: it may have arrived while the server was too busy to read it
        for _ in range(2):
            await asyncio.sleep(0)
        async with asyncio.timeout(0):
            return await self._receive()


class ClientCounts:
    """What each client has under way: uploads, event streams. Used from the event loop only."""

    def __init__(self, most: int, share: int) -> None:
        self._most, self._share = most, share
        self._counts: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """What all clients have under way."""
        return self._counts.total()

    def count(self, client: str) -> int:
        """What one client has under way."""
        return self._counts[client]

    def require(self, client: str, refusal: str) -> None:
        """ApiError of this code where a client, or all of them together, have too many."""
        if self._counts[client] >= self._share or self.total >= self._most:
            raise ApiError(refusal, "busy", 429)

    @contextmanager
    def hold(self, client: str) -> Iterator[None]:
        """One more of a client while the block runs."""
        self._counts[client] += 1
        try:
            yield
        finally:
            self._counts[client] -= 1
            if not self._counts[client]:
                del self._counts[client]


def find_client(request: Request) -> str:
    """The person who sends a request; else the address of a client, behind a proxy what the proxy says."""
    person = request.scope.get(PERSON)
    if person is not None:
        return f"person {person.name}"
    return request.client.host if request.client is not None else ""


class ThreadPools:
    """Worker threads: some for quick responses, others for slow ones. Cancelled work is stopped.

    Each client may use a share of each kind at a time; its further requests wait, and do not delay those of
    others.
    """

    def __init__(self, settings: Settings) -> None:
        self._quick = _Pool("answer", settings.threads, settings.share(settings.threads))
        self._slow = _Pool("measure", settings.slow_threads, settings.share(settings.slow_threads))
        self._counts = ClientCounts(settings.waiting, settings.share(settings.waiting))
        self._seconds = settings.response_seconds

    async def run(
        self,
        request: Request,
        work: Callable[[], Result],
        *,
        slow: bool = False,
        held: AbstractContextManager[None] | None = None,
    ) -> Result:
        """Run some work in a thread until it is done, the client disconnects, or time is up.

        `held` is entered now, and left on the event loop when the thread has ended, even if the client has
        disconnected before.
        """
        client = find_client(request)
        self._counts.require(client, "api.too_many_requests")
        flag = threading.Event()

        def work_until_stopped() -> Result:
            with (
                cancelled_by(flag),
                np.errstate(all="ignore"),
            ):  # files may hold infinities; they are sent as such
                return work()

        context = copy_context()  # the id of the request, for the log
        with self._counts.hold(client):
            pool = self._slow if slow else self._quick
            future = pool.submit(client, lambda: context.run(work_until_stopped))
            if held is not None:
                _hold(future, held)
            working = asyncio.wrap_future(future)
            leaving = asyncio.ensure_future(_wait_until_gone(request))
            try:
                both: set[asyncio.Future[Any]] = {working, leaving}
                await asyncio.wait(both, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
                if working.done():
                    return working.result()
                if leaving.done():
                    raise ApiError("api.cancelled", "gone", 499)
                raise ApiError("api.response_too_slow", "too_slow", 422, seconds=self._seconds)
            finally:
                leaving.cancel()
                if not working.done():
                    flag.set()  # stops work that has begun
                    working.cancel()  # drops work that has not

    @property
    def waiting(self) -> int:
        """Requests that wait for a thread or run in one."""
        return self._counts.total

    def close(self) -> None:
        """Drop what has not begun."""
        for pool in (self._quick, self._slow):
            pool.close()


class _Pool:
    """Threads, of which each client may use a share. Safe to use from several threads."""

    def __init__(self, name: str, threads: int, share: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._share = share
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()  # work of each client that threads have been given
        self._waiting: dict[str, deque[Callable[[], None]]] = {}  # until its share has room

    def submit(self, client: str, work: Callable[[], Result]) -> "Future[Result]":
        """Run some work once it is this client's turn."""
        future: Future[Result] = Future()

        def run() -> None:
            try:
                if future.set_running_or_notify_cancel():
                    future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
            finally:
                self._leave(client)

        with self._lock:
            self._waiting.setdefault(client, deque()).append(run)
            self._advance(client)
        return future

    def _leave(self, client: str) -> None:
        with self._lock:
            self._running[client] -= 1
            if not self._running[client]:
                del self._running[client]
            with suppress(RuntimeError):  # the pool was closed
                self._advance(client)

    def _advance(self, client: str) -> None:
        """Give work of a client to threads, up to its share; with the lock."""
        waiting = self._waiting.get(client)
        while waiting and self._running[client] < self._share:
            self._running[client] += 1
            self._threads.submit(waiting.popleft())
        if not waiting:
            self._waiting.pop(client, None)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _hold(future: Future[Any], held: AbstractContextManager[None]) -> None:
    """Enter a block that is left on the event loop when a thread has ended, or was never begun."""
    loop = asyncio.get_running_loop()
    held.__enter__()

    def leave(_: Future[Any]) -> None:
        with suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(held.__exit__, None, None, None)

    future.add_done_callback(leave)


async def _wait_until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class ResponseCache:
    """Encoded responses, least recently used removed first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self.hits = self.misses = 0
        self._kept: OrderedDict[str, Encoded] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Encoded | None:
        with self._lock:
            if key in self._kept:
                self.hits += 1
                self._kept.move_to_end(key)
            else:
                self.misses += 1
            return self._kept.get(key)

    def put(self, key: str, encoded: Encoded) -> None:
        if len(encoded.body) > self._most // 8:  # one response must not evict all others
            return
        with self._lock:
            before = self._kept.pop(key, None)
            self._size += len(encoded.body) - (0 if before is None else len(before.body))
            self._kept[key] = encoded
            while self._size > self._most or len(self._kept) > ANSWERS:
                self._size -= len(self._kept.popitem(last=False)[1].body)

    @property
    def size(self) -> int:
        """Bytes in the cache."""
        return self._size
