"""Connections of a server: how many a client may have, and when a silent one is closed.

In:   uvicorn's protocol, one object for each connection; Settings.
Out:  the same protocol with four rules: there are so many connections at most; a client has a share of them
      (a proxy, which brings others, may have all); a connection that does not send the head of a request in
      time is closed; a client that hardly reads what it asked for is cut off. Settings that fit the file
      descriptors of this process.
"""

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, ClassVar

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from glassformer.api.settings import RETRY, Settings

BACKLOG = 128  # connections that are accepted at once, at each of two addresses, before any is refused
OTHERS = 2 * BACKLOG + 256  # descriptors for those, for open recordings, workers, databases and uploads
FEWEST = 16  # connections, however few descriptors there are


async def refuse(_: Scope, __: Receive, send: Send) -> None:
    """What a server answers that has too many connections."""
    body = b"There are too many connections. Come back later.\n"
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", RETRY.encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class LimitedProtocol(H11Protocol):
    """One connection."""

    limits: ClassVar[Settings]
    open_connections: ClassVar[Counter[str]]  # by address
    proxies: ClassVar[tuple[IPv4Network | IPv6Network, ...]]

    @property
    def app(self) -> Any:
        """The application, while there are not too many connections."""
        return refuse if self.open_connections.total() > self.limits.connections else self._app

    @app.setter
    def app(self, app: Any) -> None:
        self._app = app

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self.peer = str(peer[0]) if peer else ""
        self.timers: dict[str, asyncio.TimerHandle] = {}
        self.open_connections[self.peer] += 1
        most = self.limits.connections
        alone = self.open_connections[self.peer] > self.limits.share(most) and not self.brings_others()
        if alone or self.open_connections.total() > most + 1 + most // 8:  # a few beyond `most` get an answer
            transport.abort()
            return
        self._expect_head()

    def brings_others(self) -> bool:
        """Whether a proxy has opened the connection: its clients are told apart by what they ask for."""
        with suppress(ValueError):  # the path of a socket, or nothing
            return any(ip_address(self.peer) in network for network in self.proxies)
        return False

    def data_received(self, data: bytes) -> None:
        """The first bytes of another request: its head must follow in time, too."""
        super().data_received(data)
        between = self.cycle is None or self.cycle.response_complete
        if not between and "head" in self.timers:
            self.timers.pop("head").cancel()
        elif between and "head" not in self.timers and self.conn.trailing_data[0]:
            self._expect_head()

    def _expect_head(self) -> None:
        last = self.cycle

        def look() -> None:
            del self.timers["head"]
            if self.cycle is last:  # no request has come meanwhile
                self.transport.abort()

        self.timers["head"] = self.loop.call_later(self.limits.head_seconds, look)

    def pause_writing(self) -> None:
        """More waits to be sent than the connection takes."""
        super().pause_writing()
        self._follow_writing(self.transport.get_write_buffer_size())

    def _follow_writing(self, before: int) -> None:
        """Look again later; abort a connection that took hardly anything meanwhile."""
        least = self.limits.write_rate * self.limits.write_seconds

        def look() -> None:
            left = self.transport.get_write_buffer_size()
            if left > before - least:
                self.transport.abort()
            elif left:
                self._follow_writing(left)

        self.timers["write"] = self.loop.call_later(self.limits.write_seconds, look)

    def resume_writing(self) -> None:
        """The connection takes more again."""
        self.timers.pop("write").cancel()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self.open_connections[self.peer] -= 1
        if not self.open_connections[self.peer]:
            del self.open_connections[self.peer]
        for timer in self.timers.values():
            timer.cancel()
        super().connection_lost(exc)


def make_protocol(settings: Settings) -> type[LimitedProtocol]:
    """The protocol of a server; it counts the connections of each client."""
    proxies = tuple(ip_network(each, strict=False) for each in settings.proxies)
    kept = {"limits": settings, "open_connections": Counter(), "proxies": proxies}
    return type("Connection", (LimitedProtocol,), kept)


def fit_descriptors(settings: Settings) -> Settings:
    """Settings with as many connections as this process has descriptors for, once it has all it may get.

    A connection takes two of them while a file is sent.
    """
    try:
        import resource
    except ImportError:  # not a Unix
        return settings
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OTHERS + 2 * (settings.connections + settings.connections // 8)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return settings
    granted = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (granted, hard))
        soft = granted
    room = max(FEWEST, (soft - OTHERS) * 4 // 9)  # an eighth more than these are open, for a moment
    return replace(settings, connections=min(settings.connections, room))
