"""Responses: computed and compressed in a worker thread, cached, with an ETag.

In:   a request and a function that makes a Frame or a model.
Out:  a response. What belongs to a recording never changes under its id, so browsers may cache it; of a
      shipped one or a probe, which may be written again under the same id, they ask each time.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Annotated, Any

from fastapi import Depends, Request
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError
from starlette.responses import Response

from glassformer import __version__
from glassformer.api.access import Access
from glassformer.api.atlases import Atlases
from glassformer.api.encodings import (
    IMMUTABLE,
    NO_STORE,
    REVALIDATE,
    Encoded,
    Encoding,
    choose_encoding,
    compress,
    send,
)
from glassformer.api.frames import MEDIA_TYPE, Frame, encode_frame
from glassformer.api.jobs import Workbench
from glassformer.api.library import Library
from glassformer.api.limits import ResponseCache, ThreadPools
from glassformer.api.people import Person
from glassformer.api.roles import AGAIN, PERSON
from glassformer.api.runs import Runs
from glassformer.api.searches import Searches
from glassformer.api.settings import Settings
from glassformer.api.shortcuts import TOTAL, Shortcut, ShortcutTable
from glassformer.api.training import Trainer
from glassformer.errors import ApiError
from glassformer.messages import Message, message
from glassformer.recording import Recording
from glassformer.schema import replace_surrogates

LOOK = 1.0  # seconds after which an open stream asks again who listens


@dataclass(frozen=True, slots=True)
class AppContext:
    """What every route needs."""

    library: Library
    workbench: Workbench | None
    settings: Settings
    threads: ThreadPools
    cache: ResponseCache
    runs: Runs
    searches: Searches
    access: Access  # of whoever sends the request
    atlases: Atlases
    trainer: Trainer | None = None
    shortcuts: ShortcutTable = field(default_factory=ShortcutTable)

    @property
    def why_no_workbench(self) -> Message:
        """Why no model can run here."""
        return self.settings.why_no_workbench or message("api.shows_recordings_only")


def _get_context(request: Request) -> AppContext:
    context: AppContext = request.app.state.context
    if not context.access.limited:
        return context
    return replace(context, access=context.access.of(request.scope.get(PERSON)))


@dataclass(frozen=True, slots=True)
class Page:
    """Some entries of a list, and how many there are in all."""

    items: list[Any]
    total: int


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes of a kind that browsers know: a picture, a sound."""

    body: bytes
    kind: str


Made = Frame | BaseModel | list[Any] | Page | Raw
Context = Annotated[AppContext, Depends(_get_context)]


def watch_access(request: Request, context: AppContext, sees: Callable[[Access], bool]) -> Callable[[], bool]:
    """Whether the sender of a request may still see something: for answers that go on for hours.

    Who they are is found out again, once a second at most: somebody who was removed, or has signed out, is
    nobody any more.
    """
    again: Callable[[], Person | None] | None = request.scope.get(AGAIN)
    known, looked = True, time.monotonic()

    def may() -> bool:
        nonlocal known, looked
        if again is not None and known and time.monotonic() - looked >= LOOK:
            looked = time.monotonic()
            try:
                known = sees(context.access.of(again()))
            except ApiError:  # it is gone
                known = False
        return known

    return may


FRAME: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A binary frame: magic, header (FrameHeader), arrays; docs/api.md describes it.",
        "content": {
            MEDIA_TYPE: {"schema": {"type": "string", "format": "binary", "x-header": "FrameHeader"}}
        },
    },
    304: {"description": "Not changed since the ETag that was sent."},
}


async def respond(
    request: Request,
    context: AppContext,
    make: Callable[[], Made],
    *,
    keep: str = IMMUTABLE,
    recording: str | None = None,
    state: Callable[[], str | None] | None = None,
    slow: bool = False,
) -> Response:
    """Make, encode and send; immutable responses are identified by their URL and cached here, too.

    Others are cached where a state is given, as long as it is the same.
    """
    if recording is not None:
        context.library.require(recording)  # 404 for one that was removed, also where a browser has it cached
        slow = slow or not context.library.is_ready(recording)
    if keep != IMMUTABLE:
        return await _respond_now(request, context, make, keep, recording, state, slow)
    encoding = choose_encoding(request.headers.get("accept-encoding", ""))
    known = request.headers.get("if-none-match", "")
    headers = {"cache-control": keep, "vary": "Accept-Encoding"}
    content = None if recording is None else context.library.content_hash(recording)
    if content is not None or context.access.limited:  # what is shared today may be private tomorrow
        headers["cache-control"] = REVALIDATE
    mark = _mark(f"{__version__}|{request.url.path}?{request.url.query}|{encoding}|{content}".encode())
    if recording is not None:
        shortcut = Shortcut(
            recording,
            lambda: context.library.content_hash(recording),
            content,
            mark,
            headers,
            request.scope.get("route"),
            mark,
        )
        context.shortcuts.keep(request.scope, shortcut)
    if mark in known:
        return Response(status_code=304, headers={**headers, "etag": mark})

    def work() -> Encoded:
        made = _encode(make(), encoding)
        context.cache.put(mark, made)
        return made

    kept = context.cache.get(mark)
    if kept is None:
        kept = await context.threads.run(request, work, slow=slow)
    return _send_marked(kept, mark, known, headers)


async def _respond_now(
    request: Request,
    context: AppContext,
    make: Callable[[], Made],
    keep: str,
    recording: str | None,
    state: Callable[[], str | None] | None,
    slow: bool,
) -> Response:
    """The response that holds now; cached as long as its state is the same."""
    encoding = choose_encoding(request.headers.get("accept-encoding", ""))
    headers = {"cache-control": keep, "vary": "Accept-Encoding"}
    now = None if state is None else state()
    key = _mark(f"{request.url.path}?{request.url.query}|{encoding}|{context.access.reader}".encode())
    encoded = None if now is None else context.cache.get(key)
    if encoded is None or encoded.state != now:
        encoded = await context.threads.run(request, lambda: _encode(make(), encoding, now), slow=slow)
    if state is not None and now is not None:
        context.cache.put(key, encoded)
        if recording is not None or not context.access.limited:  # a list is one person's
            shortcut = Shortcut(recording, state, now, key, headers, request.scope.get("route"))
            context.shortcuts.keep(request.scope, shortcut)
    return _send_marked(encoded, encoded.mark, request.headers.get("if-none-match", ""), headers)


async def respond_about(
    request: Request,
    context: AppContext,
    id: str,
    make: Callable[[Recording], Frame | BaseModel | Raw],
    *,
    slow: bool = False,
) -> Response:
    """The response to a question about one recording."""
    return await respond(request, context, lambda: make(context.library.get(id)), recording=id, slow=slow)


def _mark(content: bytes) -> str:
    return f'"{blake2b(content, digest_size=12).hexdigest()}"'


def _send_marked(encoded: Encoded, mark: str, known: str, headers: dict[str, str]) -> Response:
    if headers["cache-control"] == NO_STORE:
        return send(encoded, headers)
    if encoded.total is not None:
        headers = {**headers, TOTAL: str(encoded.total)}
    if mark in known:
        return Response(status_code=304, headers={**headers, "etag": mark})
    return send(encoded, {**headers, "etag": mark})


def _encode(made: Made, encoding: Encoding, state: str | None = None) -> Encoded:
    """What was made, as it is sent."""
    total, made = (made.total, made.items) if isinstance(made, Page) else (None, made)
    encoded = compress(*_serialise(made), encoding)
    return replace(encoded, mark=_mark(encoded.body), state=state, total=total)


def _serialise(made: Frame | BaseModel | list[Any] | Raw) -> tuple[bytes, str]:
    if isinstance(made, Raw):
        return made.body, made.kind
    if isinstance(made, Frame):
        return encode_frame(made), MEDIA_TYPE
    if isinstance(made, BaseModel):
        return _write_json(made), "application/json"
    return b"[" + b",".join(map(_write_json, made)) + b"]", "application/json"


def _write_json(model: BaseModel) -> bytes:
    """A model as JSON; half of a surrogate pair, which a file may hold in any text, becomes �."""
    try:
        return model.model_dump_json().encode()
    except (PydanticSerializationError, UnicodeEncodeError):
        text = json.dumps(model.model_dump(mode="python"), ensure_ascii=False, default=_plain)
        return replace_surrogates(text).encode()


def _plain(value: Any) -> Any:
    return value.model_dump(mode="python") if isinstance(value, BaseModel) else value.to_json()
