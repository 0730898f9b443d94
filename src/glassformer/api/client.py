"""A client of the server in this process: no socket, the application itself by httpx's ASGI transport.

In:   a recording, and paths below /api/ as the page requests them: `recordings/ID/maps/0/weights`.
Out:  the responses that a server would send, so that notebooks and files show the same numbers as the page.
"""

import os
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from glassformer.api.library import Library
from glassformer.errors import InputError
from glassformer.recording import Recording

if TYPE_CHECKING:
    import httpx


class _Background:
    """One event loop and one set of worker threads for all clients of this process."""

    shared: "_Background | None" = None
    lock = threading.Lock()

    def __init__(self) -> None:
        from anyio.from_thread import start_blocking_portal

        from glassformer.api.limits import ThreadPools
        from glassformer.api.settings import Settings

        self.process = os.getpid()
        self.clients = 0
        # An export requests thousands of things at once and waits for all of them.
        self.settings = Settings(waiting=1_000_000, response_seconds=86_400.0)
        self.threads = ThreadPools(self.settings)
        self._manager = start_blocking_portal(name="glassformer")
        self.portal = self._manager.__enter__()

    @classmethod
    def acquire(cls) -> "_Background":
        """The one that runs; a new one where there is none, or it belongs to the process that forked us."""
        with cls.lock:
            if cls.shared is None or cls.shared.process != os.getpid():
                cls.shared = cls()
            cls.shared.clients += 1
            return cls.shared

    def release(self) -> None:
        """The last client stops it."""
        with self.lock:
            self.clients -= 1
            if self.clients > 0:
                return
            if _Background.shared is self:
                _Background.shared = None
        if self.process != os.getpid():  # after a fork the thread is in the other process
            return
        self.portal.call(self.portal.stop, True)
        self._manager.__exit__(None, None, None)
        self.threads.close()


class InProcessClient:
    """GET requests to the application around one recording; `close` releases both."""

    def __init__(self, recording: Recording) -> None:
        import httpx

        from glassformer.api.app import create_app

        self._library = Library(shipped=None)
        self.id = self._library.add(recording)
        self._background = _Background.acquire()
        self._app = create_app(self._library, None, self._background.settings, self._background.threads)
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(self._app, raise_app_exceptions=False),  # a crash is a response 500
            base_url="http://localhost/api/",
            headers={"accept-encoding": "identity"},
            timeout=None,
        )
        self._pending: set[Future[httpx.Response]] = set()
        self._closed = False

    def get(self, path: str) -> "httpx.Response":
        """Wait for the response to a path below /api/."""
        return self.start(path).result()

    def start(self, path: str) -> "Future[httpx.Response]":
        """Send a request without waiting; `close` cancels those that are under way."""
        if self._closed:
            raise InputError("api.client_closed")
        started = self._background.portal.start_task_soon(self._client.get, path)
        self._pending.add(started)
        started.add_done_callback(self._pending.discard)
        return started

    def close(self) -> None:
        """Cancel what is under way and release the recording; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        for started in tuple(self._pending):
            started.cancel()
        self._background.release()
        self._library.close()

    def __enter__(self) -> "InProcessClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
