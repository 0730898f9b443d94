"""The page's questions, answered in this process: no socket, no server.

In:   a recording, and paths as the page asks them: `recordings/ID/maps/3/weights?as=uint8`.
Out:  the answers of the very application that a server runs, so that every host shows the same numbers.
"""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from glassformer.recording import Recording
from glassformer.show.library import Library

if TYPE_CHECKING:
    from starlette.types import Message


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; `kind` is its media type."""

    status: int
    kind: str
    body: bytes

    @property
    def good(self) -> bool:
        return self.status == 200


class Asking:
    """The application around one recording, on an event loop of its own; `close` ends it."""

    def __init__(self, recording: Recording) -> None:
        from glassformer.show.server.app import create_app
        from glassformer.show.server.settings import Settings

        self._library = Library(shipped=None)
        self.id = self._library.add(recording)
        self._app = create_app(self._library, None, Settings())
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="glassformer", daemon=True)
        self._thread.start()

    def ask(self, path: str) -> Answer:
        """Wait for the answer to a path below /api/."""
        return self.start(path).result()

    def start(self, path: str) -> "Future[Answer]":
        """Ask without waiting."""
        return self._run(self._call(path))

    def close(self) -> None:
        """Stop the loop and forget the recording; more than once does no harm."""
        if self._loop.is_closed():
            return
        self._app.state.desk.threads.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._library.close()

    def __enter__(self) -> "Asking":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, Answer]) -> "Future[Answer]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

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
        finished = asyncio.Event()

        async def receive() -> "Message":
            if not hasattr(receive, "asked"):
                receive.asked = True  # type: ignore[attr-defined]
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

        await self._app(scope, receive, send)
        finished.set()
        return Answer(status, kind, bytes(body))
