"""Connections of a server: how many a client may have, and when a silent one is closed.

In:   uvicorn's protocol, one object for each connection; Settings.
Out:  the same protocol with three rules: a client has a share of all connections; a connection that sends no
      request in time is closed; a client that does not read what it asked for is cut off.
"""

import asyncio
from collections import Counter
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from glassformer.api.settings import Settings


class LimitedProtocol(H11Protocol):
    """One connection."""

    limits: ClassVar[Settings]
    open_connections: ClassVar[Counter[str]]  # by address

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self.peer = str(peer[0]) if peer else ""
        self.timers: dict[str, asyncio.TimerHandle] = {}
        self.open_connections[self.peer] += 1
        if self.open_connections[self.peer] > self.limits.share(self.limits.connections):
            transport.abort()
            return
        self.timers["head"] = self.loop.call_later(self.limits.head_seconds, self._close_silent)

    def _close_silent(self) -> None:
        if self.cycle is None:  # no request has come
            self.transport.abort()

    def pause_writing(self) -> None:
        """More waits to be sent than the connection takes."""
        super().pause_writing()
        self._follow_writing(self.transport.get_write_buffer_size())

    def _follow_writing(self, before: int) -> None:
        """Look again later; abort a connection that took nothing meanwhile."""

        def look() -> None:
            left = self.transport.get_write_buffer_size()
            if left >= before:
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
    return type("Connection", (LimitedProtocol,), {"limits": settings, "open_connections": Counter()})
