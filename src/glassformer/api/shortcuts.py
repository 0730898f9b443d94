"""Answers that are in the cache already, given before a request is routed: most of what a page asks for.

In:   GET requests whose response was made before; access control has passed them.
Out:  the same response. What its route checks is checked here, too: that the recording is still there, is the
      same, and may be read by whoever asks. Where anything differs, the route answers.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Receive, Scope, Send

from glassformer.api.roles import PERSON
from glassformer.errors import ApiError

if TYPE_CHECKING:
    from glassformer.api.responses import AppContext

TOTAL = "x-total-count"
MOST = 2_048  # answers that are known, about as many as the cache holds
LONGEST = 1_000  # characters of a request that is remembered
Key = tuple[str, bytes, bytes]  # path, query, accepted encodings


@dataclass(frozen=True, slots=True)
class Shortcut:
    """Where an answer is, and what it belongs to."""

    recording: str | None
    read_state: Callable[[], str | None]
    state: str | None  # what that was when the answer was made: another answer has another one
    key: str  # of the answer in the cache
    headers: dict[str, str]
    route: Any  # what it is counted as
    mark: str | None = None  # ETag; None: only the body tells


class ShortcutTable:
    """Known answers, least recently used forgotten first. Used from the event loop only."""

    def __init__(self) -> None:
        self._known: OrderedDict[Key, Shortcut] = OrderedDict()

    def keep(self, scope: Scope, shortcut: Shortcut) -> None:
        """The answer to this request will be the answer to the next one like it."""
        key = _find_key(scope)
        if scope["method"] != "GET" or sum(map(len, key)) > LONGEST:
            return
        self._known[key] = shortcut
        if len(self._known) > MOST:
            self._known.popitem(last=False)

    def find(self, scope: Scope) -> Shortcut | None:
        """What is known about a request."""
        key = _find_key(scope)
        if key in self._known:
            self._known.move_to_end(key)
        return self._known.get(key)


class Shortcuts:
    """Middleware, inside access control."""

    def __init__(self, app: ASGIApp, context: "AppContext") -> None:
        self.app = app
        self.context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = None
        if scope["type"] == "http" and scope["method"] == "GET":
            known = self.context.shortcuts.find(scope)
        if known is None or not self._holds(known, scope):
            await self.app(scope, receive, send)
            return
        asked = _read(scope, b"if-none-match").decode("latin-1")
        kept = None if known.mark and known.mark in asked else self.context.cache.get(known.key)
        if kept is not None and known.mark is None and kept.state != known.state:
            kept = None
        mark = known.mark or ("" if kept is None else kept.mark)
        headers = {**known.headers, "etag": mark}
        if kept is not None and kept.total is not None:
            headers[TOTAL] = str(kept.total)
        if mark and mark in asked:
            status, body = 304, b""
        elif kept is not None:
            status, body = 200, kept.body
            headers |= {"content-type": kept.kind, "content-length": str(len(body))}
            if kept.encoding != "identity":
                headers["content-encoding"] = kept.encoding
        else:
            await self.app(scope, receive, send)
            return
        scope["route"] = known.route
        sent = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": sent})
        await send({"type": "http.response.body", "body": body})

    def _holds(self, known: Shortcut, scope: Scope) -> bool:
        """Whether the answer may be given to whoever asks."""
        context = self.context
        try:
            if known.recording is not None:
                context.library.require(known.recording)
                if context.access.limited:
                    context.access.of(scope.get(PERSON)).require_recording(known.recording)
            return known.read_state() == known.state
        except ApiError:
            return False


def _find_key(scope: Scope) -> Key:
    return scope["path"], scope["query_string"], _read(scope, b"accept-encoding")


def _read(scope: Scope, name: bytes) -> bytes:
    """A header; servers give names in small letters."""
    return next((value for key, value in scope["headers"] if key == name), b"")
