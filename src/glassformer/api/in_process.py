"""The page's questions, answered in this process: no socket, no server.

In:   a recording, and paths as the page asks them: `recordings/ID/maps/3/weights?as=uint8`.
Out:  the answers of the very application that a server runs, so that every host shows the same numbers.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from glassformer.api.library import Library
from glassformer.errors import InputError
from glassformer.recording import Recording

if TYPE_CHECKING:
    from starlette.types import Message


_PATIENCE = 1.0  # seconds in which cancelled questions end


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; `kind` is its media type."""

    status: int
    kind: str
    body: bytes

    @property
    def good(self) -> bool:
        return self.status == 200


class _Service:
    """One event loop and a few threads for all who ask.

    A notebook that shows a hundred recordings, and closes none, has no more threads than one that shows one.
    """

    shared: "_Service | None" = None
    lock = threading.Lock()

    def __init__(self) -> None:
        from glassformer.api.limits import ThreadPools
        from glassformer.api.settings import Settings

        self.process = os.getpid()
        self.users = 0
        # Who asks here is one of us: a file asks for thousands of things at once, and waits for each of them.
        self.settings = Settings(waiting=1_000_000, answer_seconds=86_400.0)
        self.threads = ThreadPools(self.settings)
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="glassformer", daemon=True)
        self._thread.start()

    @classmethod
    def enter(cls) -> "_Service":
        """The one that is open; a new one where there is none, or it stayed behind in another process."""
        with cls.lock:
            if cls.shared is None or cls.shared.process != os.getpid():
                cls.shared = cls()
            cls.shared.users += 1
            return cls.shared

    def leave(self) -> None:
        """Whoever leaves last ends it."""
        with self.lock:
            self.users -= 1
            if self.users > 0:
                return
            if _Service.shared is self:
                _Service.shared = None
        if self.process != os.getpid():  # the thread stayed behind in the other process
            return
        asyncio.run_coroutine_threadsafe(_cancel_others(), self.loop).result()
        self.threads.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


async def _cancel_others() -> None:
    """End what still runs on this loop."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for each in others:
        each.cancel()
    if others:
        await asyncio.wait(others, timeout=_PATIENCE)


class Asking:
    """The application around one recording; `close` lets go of it."""

    def __init__(self, recording: Recording) -> None:
        from glassformer.api.app import create_app

        self._library = Library(shipped=None)
        self.id = self._library.add(recording)
        self._service = _Service.enter()
        self._app = create_app(self._library, None, self._service.settings, self._service.threads)
        self._waiting: set[Future[Answer]] = set()
        self._closed = False

    def ask(self, path: str) -> Answer:
        """Wait for the answer to a path below /api/."""
        return self.start(path).result()

    def start(self, path: str) -> "Future[Answer]":
        """Ask without waiting. Whoever waits when it is closed hears that the question was cancelled."""
        if self._closed:
            raise InputError("The recording was closed. Wanted one that is open. Show it again.")
        started = self._run(self._call(path))
        self._waiting.add(started)
        started.add_done_callback(self._waiting.discard)
        return started

    def close(self) -> None:
        """Answer nothing more and forget the recording; more than once does no harm."""
        if self._closed:
            return
        self._closed = True
        for started in tuple(self._waiting):
            started.cancel()
        self._service.leave()
        self._library.close()

    def __enter__(self) -> "Asking":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, Answer]) -> "Future[Answer]":
        return asyncio.run_coroutine_threadsafe(work, self._service.loop)

    async def _call(self, path: str) -> Answer:
        """One GET through the application, as ASGI has it."""
        address, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": f"/api/{unquote(address)}",
            "raw_path": f"/api/{address}".encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(b"host", b"localhost"), (b"accept-encoding", b"identity")],
            "client": ("127.0.0.1", 0),
            "server": ("localhost", 80),
        }
        status, kind, body = 500, "", bytearray()
        asked, finished = False, asyncio.Event()

        async def receive() -> "Message":
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": b"", "more_body": False}
            await finished.wait()
            return {"type": "http.disconnect"}

        async def send(message: "Message") -> None:
            nonlocal status, kind
            if message["type"] == "http.response.start":
                status = message["status"]
                kind = dict(message["headers"]).get(b"content-type", b"").decode()
            else:
                body.extend(message.get("body", b""))

        try:
            await self._app(scope, receive, send)
        except Exception:  # our application says so itself, and a server would write it down
            if status != 500:
                raise
        finally:
            finished.set()
        return Answer(status, kind, bytes(body))
