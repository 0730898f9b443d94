"""A server that answers before all of it is there: the page at once, everything else as soon as it can.

In:   Settings, and a function that builds the application of a server: most of a second.
Out:  an application (ASGI). Until the other one is built, by a thread, files of a page that is everybody's
      come from here, behind the same access control, and other requests wait. Then every request goes there.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import Message, Receive, Scope, Send

from glassformer.api.encodings import send as make_response
from glassformer.api.logs import Observer
from glassformer.api.page_files import find_page_file
from glassformer.api.security import Guard
from glassformer.api.settings import RETRY, Settings

FILE = "glassformer.page_file"  # in the scope of a request that is answered here


class Opening:
    """An application that is being built; `stop` is called where it cannot be, and `failure` says why.

    `early`: whether the page may be shown before; not on a server with users, who sign in first.
    """

    def __init__(self, settings: Settings, build: Callable[[], Any], *, early: bool) -> None:
        self.settings = settings
        self._early = early and not (settings.token or settings.proxies or settings.root_path)
        self.build = build
        self.stop: Callable[[], None] = lambda: None
        self.failure: BaseException | None = None
        self._app: Any = None
        self._ended = asyncio.Event()  # building has
        self._guard = Guard(_send_page, settings)
        self._page = Observer(self._guard, self)
        self._counted: list[tuple[str, str, int, float]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
            return
        if self._app is None and self._has_page(scope):
            await self._page(scope, receive, send)
            return
        await self._ended.wait()
        app = self._app or PlainTextResponse("This server could not start.\n", 503, {"retry-after": RETRY})
        await app(scope, receive, send)

    def close(self) -> None:
        """The server is about to stop: event streams end."""
        if self._app is not None:
            self._app.state.closing.set()

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request has got its response: the counters of the application will hear of it."""
        if self._app is None:
            self._counted.append((method, route, status, seconds))
        else:
            self._app.state.counters.count(method, route, status, seconds)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Start at once, build, and give the application its own life."""
        await receive()
        await send({"type": "lifespan.startup.complete"})
        try:
            app = await asyncio.to_thread(self.build)
        except BaseException as error:
            self.failure = error
            self._ended.set()
            self.stop()
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        began = False

        async def receive_again() -> Message:
            nonlocal began
            if began:
                return await receive()
            began = True
            return {"type": "lifespan.startup"}

        async def send_later(message: Message) -> None:
            if message["type"] != "lifespan.startup.complete":
                await send(message)
                return
            self._app = app
            self._ended.set()
            for each in self._counted:
                app.state.counters.count(*each)

        await app(scope, receive_again, send_later)

    def _has_page(self, scope: Scope) -> bool:
        """Whether this is a request for a file of the page, from somebody whom it may be shown."""
        if not self._early or scope["method"] not in ("GET", "HEAD"):
            return False
        headers = Headers(scope=scope)
        path = scope["path"].removeprefix("/")
        scope[FILE] = find_page_file(self.settings.static, path, headers.get("accept-encoding", ""))
        return scope[FILE] is not None and self._guard.accepts(scope, headers)


async def _send_page(scope: Scope, receive: Receive, send: Send) -> None:
    file = scope[FILE]
    if file.mark in Headers(scope=scope).get("if-none-match", ""):
        response = Response(status_code=304, headers=file.headers)
    else:
        response = make_response(await asyncio.to_thread(file.read), file.headers)
    await response(scope, receive, send)
