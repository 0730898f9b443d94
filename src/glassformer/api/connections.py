"""Connections of a server: how many a client may have, and when a silent one is closed.

In:   uvicorn's protocol, one object for each connection; Settings.
Out:  the same protocol with three rules: a client has a share of all connections; a connection that does not
      send the head of a request in time is closed; a client that hardly reads what it asked for is cut off.
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
        self._expect_head()

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
    return type("Connection", (LimitedProtocol,), {"limits": settings, "open_connections": Counter()})
