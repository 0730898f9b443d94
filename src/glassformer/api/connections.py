"""Connections that say nothing, or hardly anything: how long a request line and its headers may take.

In:   bytes of one connection, on their way to uvicorn.
Out:  the same bytes; where no whole request comes of them in time, 408 and the end of the connection.

uvicorn ends connections that are silent between two requests, and nothing else: one that never sends a byte,
or a byte now and then, would stay for ever. Bodies have a limit of their own (limits.py).
"""

import asyncio
from typing import Any

from uvicorn import Config
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.server import ServerState

HEADER_SECONDS = 20.0
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class HeaderTimeoutProtocol(asyncio.Protocol):
    """uvicorn's own protocol with a clock: for `uvicorn.Config(http=HeaderTimeoutProtocol)`."""

    seconds = HEADER_SECONDS

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._inner: Any = AutoHTTPProtocol(config, server_state, app_state, _loop)  # type: ignore[call-arg]
        self._loop = asyncio.get_running_loop() if _loop is None else _loop
        self._clock: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._inner.connection_made(transport)
        self._set_clock()

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)
        self._set_clock()

    def eof_received(self) -> bool | None:
        ended: bool | None = self._inner.eof_received()
        return ended

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def _set_clock(self) -> None:
        """It runs from the first byte of a request, and of a new connection, until all headers are there."""
        if self._is_answering():
            self._stop_clock()
        elif self._clock is None:
            self._clock = self._loop.call_later(self.seconds, self._give_up)

    def _is_answering(self) -> bool:
        cycle = self._inner.cycle
        return cycle is not None and not cycle.response_complete

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _give_up(self) -> None:
        self._clock = None
        transport = self._transport
        if transport is None or transport.is_closing() or self._is_answering():
            return
        if (
            self._inner.cycle is None or not self._inner.cycle.more_body
        ):  # else a body that was answered before
            transport.write(_TOO_SLOW)
        transport.close()
