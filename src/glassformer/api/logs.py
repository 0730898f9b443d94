"""What an operator sees of a request: a line in the log, with an id that its response carries, too.

In:   every request, before anything else looks at it.
Out:  its response, named, counted and logged.
"""

import json
import logging
import re
import secrets
import time
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Protocol

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from glassformer.api.roles import PERSON
from glassformer.api.tracing import add_span

access_log = logging.getLogger("glassformer.access")

HEADER = "x-request-id"
REQUEST = "glassformer.request_id"  # the same in a span
OTHER = "other"  # the route of requests that were refused before routing, or that ask for files of the page
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_FIELDS = ("status", "bytes", "seconds", "client", "person")  # of an entry of the access log, beside its text

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


class RequestCounts(Protocol):
    """Counts requests."""

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request has got its response."""


class Observer:
    """Middleware around all others: names, counts and logs each request."""

    def __init__(self, app: ASGIApp, counters: RequestCounts) -> None:
        self.app = app
        self.counters = counters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get(HEADER, "")
        id = given if _ID.fullmatch(given) else secrets.token_hex(8)
        request_id.set(id)
        begin = time.perf_counter()
        status, sent, head = 500, 0, 0.0

        async def send_named(message: Message) -> None:
            nonlocal status, sent, head
            if message["type"] == "http.response.start":
                status, head = message["status"], time.perf_counter() - begin
                MutableHeaders(scope=message)[HEADER] = id
            sent += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, send_named)
        finally:
            seconds = time.perf_counter() - begin
            route = _name_route(scope)
            self.counters.count(scope["method"], route, status, head or seconds)
            add_span(
                f"{scope['method']} {route}",
                seconds,
                {
                    "http.request.method": scope["method"],
                    "http.route": route,
                    "http.response.status_code": status,
                    "http.response.body.size": sent,
                    "url.path": scope["path"],
                    REQUEST: id,
                },
                failed=status >= 500,
                parent=headers.get("traceparent", ""),
                server=True,
            )
            if access_log.isEnabledFor(logging.INFO):
                extra = {
                    "client": scope["client"][0] if scope.get("client") else "",
                    "status": status,
                    "bytes": sent,
                    "seconds": round(seconds, 6),
                }
                if (person := scope.get(PERSON)) is not None:
                    extra["person"] = person.name
                access_log.info("%s %s", scope["method"], scope["path"], extra=extra)


class JsonFormatter(logging.Formatter):
    """A line of JSON for each entry of the log, with the id of the request that it belongs to."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (id := request_id.get()) is not None:
            entry["request"] = id
        entry |= {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=True)


class LineFormatter(logging.Formatter):
    """The same for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        id = request_id.get()
        text = _escape(record.getMessage())
        shown = [f"{self.formatTime(record)} {record.levelname} {record.name}: {text}"]
        shown += [f"{name}={getattr(record, name)}" for name in _FIELDS if hasattr(record, name)]
        line = " ".join(shown if id is None else [*shown, f"request={id}"])
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def set_up_logging(level: str, form: str) -> None:
    """Send the log of the server to stderr, as lines or as JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else LineFormatter())
    for name in ("glassformer", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level.upper())
    logging.getLogger("uvicorn.access").disabled = True  # ours has the id and the time as well


def _name_route(scope: Scope) -> str:
    """The pattern that a request was routed by."""
    path: str = getattr(scope.get("route"), "path", OTHER)
    return OTHER if path == "/{path:path}" else path


def _escape(text: str) -> str:
    """Without line breaks and control characters: one entry is one line."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
