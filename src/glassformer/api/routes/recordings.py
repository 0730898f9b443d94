"""Recordings: the list, one in words, its tokens; files in and out.

In:   ids, sides, bundles.
Out:  descriptions as JSON; bundles as they are.
"""

import errno
import os
import re
from contextlib import ExitStack
from pathlib import Path as FilePath
from typing import Annotated, Any, BinaryIO

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from glassformer.api.branches import BranchEntry, check_name, list_branches
from glassformer.api.description import (
    MOST_TOKENS,
    Description,
    TokenSlice,
    describe,
    describe_difference,
    slice_tokens,
)
from glassformer.api.encodings import NO_STORE, REVALIDATE
from glassformer.api.index import Origin
from glassformer.api.jobs import JobRequest
from glassformer.api.library import RecordingEntry
from glassformer.api.limits import ClientCounts, find_client
from glassformer.api.owners import Visibility
from glassformer.api.responses import AppContext, Context, Page, respond, respond_about
from glassformer.errors import ApiError, GlassformerError
from glassformer.recording import Recording
from glassformer.recording.axes import RowSide, find_side
from glassformer.recording.branch import LONGEST_NAME
from glassformer.schema import RequestModel, ResponseModel


class VisibilityRequest(RequestModel):
    """Who may read something beside its owner."""

    visibility: Visibility


class BranchName(RequestModel):
    """What a branch is called."""

    name: Annotated[str, Field(max_length=LONGEST_NAME)]


router = APIRouter(prefix="/api/recordings", tags=["recordings"])

Id = Annotated[str, Path(max_length=280, description="the id of a recording")]
_RANGE = re.compile(r"(\d{0,18})-(\d{0,18})")
Position = Annotated[int, Query(ge=0, le=2**31 - 1)]


# What OpenAPI says of a request whose whole body is a file.
FILE_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class Added(ResponseModel):
    """Where a recording is now."""

    id: str


@router.get("", response_model=list[RecordingEntry])
async def list_recordings(
    request: Request,
    context: Context,
    origin: Annotated[Origin | None, Query(description="only those of one origin")] = None,
    search: Annotated[str, Query(max_length=200, description="words of the model, the text or the id")] = "",
    start: Annotated[int, Query(ge=0, le=2**31 - 1, description="how many of each origin to skip")] = 0,
    count: Annotated[int, Query(ge=1, le=1000, description="the most of each origin")] = 200,
) -> Response:
    """The recordings, the newest first: of each origin a page. `X-Total-Count` is the number of all."""
    library, reader = context.library, context.access.reader

    def make() -> Page:
        total = library.count(origin, search, reader)  # here, in the thread: it reads every row
        return Page(list(library.entries(origin, search, start, count, reader)), total)

    return await respond(request, context, make, keep=REVALIDATE, state=library.state)


@router.get("/{id}", response_model=Description)
async def read_recording(request: Request, context: Context, id: Id) -> Response:
    """One recording in words."""

    def make() -> Description:
        library = context.library
        recording, entry = library.get(id), library.entry(id)
        difference, pair = library.difference(id), library.split(id)
        compared = None
        if difference is not None and pair is not None:
            first, second = ((each, library.entry(each).title) for each in pair)
            compared = describe_difference(difference, first, second)
        probe = None if compared is not None else library.describe_probe(id)
        return describe(recording, id, entry.title, find_request(context, id), probe, compared)

    return await respond(
        request, context, make, keep=REVALIDATE, recording=id, state=lambda: context.library.state(id)
    )


def find_request(context: AppContext, id: str) -> JobRequest | None:
    """The request that made a recording; of a shipped one, that of its preset."""
    known = context.library.request(id)
    name = context.library.preset(id)
    if known is not None or name is None or context.workbench is None:
        return known
    preset = next((each for each in context.workbench.presets() if each.id == name), None)
    if preset is None:
        return None
    words = preset.model_dump(include=set(JobRequest.model_fields), exclude_none=True)
    return JobRequest(kind="record", **words)


@router.get("/{id}/tokens/{side}", response_model=TokenSlice)
async def read_tokens(
    request: Request,
    context: Context,
    id: Id,
    side: RowSide,
    start: Position = 0,
    stop: Annotated[int | None, Query(ge=0, le=2**31 - 1)] = None,
) -> Response:
    """Tokens of one side, at most 8,192; "written" is what each position of the target writes."""

    def make(recording: Recording) -> TokenSlice:
        tokens = find_side(recording, side)
        if tokens is None:
            raise ApiError("api.no_side", status=404)
        end = min(len(tokens), start + MOST_TOKENS) if stop is None else stop
        if not start <= end <= len(tokens) or end - start > MOST_TOKENS:
            raise ApiError(
                "api.tokens_out_of_range",
                "out_of_range",
                422,
                start=start,
                stop=end,
                count=len(tokens),
                most=MOST_TOKENS,
            )
        return slice_tokens(tokens, side, start, end)

    return await respond_about(request, context, id, make)


@router.get(
    "/{id}/bundle",
    response_class=FileResponse,
    responses={
        200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
    },
)
async def read_bundle(request: Request, context: Context, id: Id) -> Response:
    """The recording as a file, for `glassformer serve` and `glassformer.bundle.open`."""
    context.library.entry(id)
    path = await context.threads.run(request, lambda: context.library.path(id))
    try:
        file = await context.threads.run(request, lambda: path.open("rb"))
    except FileNotFoundError:  # removed just now
        raise ApiError("api.no_recording", status=404, id=id[:80]) from None
    with ExitStack() as opened:
        opened.callback(file.close)
        _check_range(request.headers.get("range"), os.fstat(file.fileno()).st_size)
        opened.pop_all()
    return _SentFile(
        file,
        media_type="application/octet-stream",
        filename=f"{id}.bundle",
        headers={"cache-control": REVALIDATE},  # no cache gives it to somebody else
    )


class _SentFile(FileResponse):
    """An open file; it is sent completely, even if it is removed in the meantime."""

    def __init__(self, file: BinaryIO, **options: Any) -> None:
        self.file = file
        held = FilePath(f"/dev/fd/{file.fileno()}")  # opens the same file, even if its name is gone
        super().__init__(held if held.exists() else file.name, **options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self.file:
            await super().__call__(scope, receive, send)


def _check_range(wanted: str | None, size: int) -> None:
    """ApiError for a range that is malformed or outside the file; Starlette would answer in plain text."""
    for part in () if wanted is None else wanted.removeprefix("bytes=").split(","):
        found = _RANGE.fullmatch(part.strip())
        first = None if found is None or not found[1] else int(found[1])
        last = None if found is None or not found[2] else int(found[2])
        fits = (first is not None or bool(last)) and (first or 0) <= (size if last is None else last)
        if not fits or (first or 0) >= size or not str(wanted).startswith("bytes="):
            raise ApiError("api.wrong_range", "out_of_range", 416, range=str(wanted)[:80], size=size)


@router.post("", status_code=201, response_model=Added, openapi_extra=FILE_BODY)
async def add_recording(request: Request, context: Context) -> Added:
    """Add a bundle, which is the whole body."""
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise ApiError("api.form", status=415)
    uploads: ClientCounts = request.app.state.uploads
    client = find_client(request)
    uploads.require(client, "api.too_many_uploads")
    declared = request.headers.get("content-length", "0")  # decimal: the limit of bodies has read it
    context.access.check_storage(context.settings.person_bytes, int(declared))
    with uploads.hold(client):
        return Added(id=await _receive(request, context))


async def _receive(request: Request, context: AppContext) -> str:
    """Write the body to a file and take it into the library."""
    path = context.library.new_partial_path()
    try:
        await write_body(request, path)

        def check(size: int) -> None:
            context.access.check_storage(context.settings.person_bytes, size)

        check(path.stat().st_size)  # a body may come in pieces, without a length
        # Checked again at the end, with its card: the same person may have sent more in the meantime.
        return await context.threads.run(
            request, lambda: context.library.receive(path, context.access.owner, check), slow=True
        )
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise  # answered as everywhere: try again later
        raise ApiError("api.no_room", status=413, reason=error.strerror or str(error)) from error
    except GlassformerError as error:
        if isinstance(error, ApiError):
            raise
        shown = error.message.replace(str(path), "upload.bundle")  # not where the server keeps it
        raise ApiError(shown, "not_a_bundle", 422) from error
    finally:
        path.unlink(missing_ok=True)


async def write_body(request: Request, path: FilePath) -> None:
    """Write the body to a file; on a full disk drain the rest, so that the client receives the error."""
    pieces = request.stream()
    try:
        with path.open("xb") as file:
            async for piece in pieces:  # they are small: a thread would cost more than writing
                file.write(piece)
    except OSError:
        async for _ in pieces:
            pass
        raise


@router.get("/{id}/branches", response_model=list[BranchEntry])
async def read_branches(request: Request, context: Context, id: Id) -> Response:
    """The tree of branches that a generated text belongs to: parents first, then what left them."""
    return await respond(
        request, context, lambda: list_branches(context.library, id, context.access.sees), keep=NO_STORE
    )


@router.put("/{id}/branch", status_code=204)
async def rename_branch(request: Request, context: Context, id: Id, names: BranchName) -> Response:
    """Give a branch a name."""
    name = check_name(names.name)
    await context.threads.run(request, lambda: context.library.rename(id, name))
    return Response(status_code=204)


@router.put("/{id}/visibility", status_code=204)
async def share_recording(request: Request, context: Context, id: Id, asked: VisibilityRequest) -> Response:
    """Keep a recording to yourself, share it with the team, or with whoever has the link."""
    context.access.require_users()
    await context.threads.run(request, lambda: context.library.share(id, asked.visibility))
    return Response(status_code=204)


@router.delete("/{id}", status_code=204)
async def remove_recording(request: Request, context: Context, id: Id) -> Response:
    """Remove a recording from the list; a file of the user stays on disk."""
    await context.threads.run(request, lambda: context.library.remove(id))
    return Response(status_code=204)
