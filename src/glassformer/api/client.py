"""A client of the server in this process: no socket, the application itself by httpx's ASGI transport.

In:   a recording, a training run or an atlas; paths below /api/: `recordings/ID/maps/0/weights`.
Out:  the responses that a server would send, so that notebooks and files show the same numbers as the page.
"""

import asyncio
import os
import threading
from concurrent.futures import Future
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.api.library import Library
from glassformer.api.settings import Settings
from glassformer.atlases import Atlas
from glassformer.errors import InputError
from glassformer.recording import Recording

if TYPE_CHECKING:
    import httpx

    from glassformer.api.limits import ThreadPools

# An export requests thousands of things at once and waits for all of them.
_SETTINGS = Settings(waiting=1_000_000, response_seconds=86_400.0)


@cache
def _start_background(_process: int) -> "tuple[asyncio.AbstractEventLoop, ThreadPools]":
    """One event loop and one set of worker threads for all clients of a process; a forked one has its own."""
    from glassformer.api.limits import ThreadPools

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="glassformer", daemon=True).start()
    return loop, ThreadPools(_SETTINGS)


class InProcessClient:
    """GET requests to the application around one recording, training run or atlas; `close` releases it."""

    def __init__(self, source: Recording | Path | Atlas) -> None:
        """A path is the folder of a run."""
        import httpx

        from glassformer.api.app import create_app

        self._library = Library(shipped=None)
        settings = _SETTINGS
        if isinstance(source, Recording):
            self.id = self._library.add(source)
        elif isinstance(source, Atlas):
            folder = source.folder or source.save(self._library.folder / "atlases" / "atlas")
            self.id = folder.name
            settings = replace(_SETTINGS, atlases=folder.absolute().parent)
        else:
            self.id = source.name
            settings = replace(_SETTINGS, runs=source.absolute().parent)
        self._loop, threads = _start_background(os.getpid())
        self._app = create_app(self._library, None, settings, threads)
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(self._app, raise_app_exceptions=False),  # a crash is a response 500
            base_url="http://localhost/api/",
            headers={"accept-encoding": "identity"},
            timeout=None,
        )
        self._pending: set[Future[httpx.Response]] = set()
        self._closed = False

    def add(self, recording: Recording) -> str:
        """The id of a second recording, from now on shown, too."""
        return self._library.add(recording)

    def get(self, path: str) -> "httpx.Response":
        """Wait for the response to a path below /api/."""
        return self.start(path).result()

    def start(self, path: str) -> "Future[httpx.Response]":
        """Send a request without waiting; `close` cancels those that are under way."""
        if self._closed:
            raise InputError("api.client_closed")
        started = asyncio.run_coroutine_threadsafe(self._client.get(path), self._loop)
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
        self._library.close()

    def __enter__(self) -> "InProcessClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
