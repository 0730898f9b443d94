"""Recordings: the list, one in words, its tokens; files in and out.

In:   ids, sides, bundles.
Out:  descriptions as JSON; bundles as they are.
"""

from pathlib import Path as FilePath
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import FileResponse, Response

from glassformer.api.description import (
    MOST_TOKENS,
    Description,
    TokenSlice,
    describe,
    slice_tokens,
)
from glassformer.api.jobs import JobRequest
from glassformer.api.library import RecordingEntry
from glassformer.api.responses import REVALIDATE, AppContext, Context, respond
from glassformer.errors import ApiError, GlassformerError
from glassformer.recording.axes import SideName, find_side
from glassformer.schema import ResponseModel

router = APIRouter(prefix="/api/recordings", tags=["recordings"])

Id = Annotated[str, Path(max_length=120, description="the id of a recording")]
Position = Annotated[int, Query(ge=0, le=2**31 - 1)]


class Added(ResponseModel):
    """Where a recording is now."""

    id: str


@router.get("", response_model=list[RecordingEntry])
async def list_recordings(request: Request, context: Context) -> Response:
    """Every recording there is, the newest first."""
    return await respond(request, context, lambda: list(context.library.entries()), keep=REVALIDATE)


@router.get("/{id}", response_model=Description)
async def read_recording(request: Request, context: Context, id: Id) -> Response:
    """One recording in words."""

    def make() -> Description:
        return describe(
            context.library.get(id), id, context.library.entry(id).title, find_request(context, id)
        )

    return await respond(request, context, make, keep=REVALIDATE, recording=id)


def find_request(context: AppContext, id: str) -> JobRequest | None:
    """What made a recording; for one that ships, what its preset asks for."""
    known = context.library.request(id)
    name = context.library.preset(id)
    if known is not None or name is None or context.workbench is None:
        return known
    preset = next((each for each in context.workbench.presets() if each.id == name), None)
    if preset is None:
        return None
    words = preset.model_dump(exclude={"id", "title", "point", "selection", "recording"}, exclude_none=True)
    return JobRequest(kind="record", **words)


@router.get("/{id}/tokens/{side}", response_model=TokenSlice)
async def read_tokens(
    request: Request,
    context: Context,
    id: Id,
    side: SideName,
    start: Position = 0,
    stop: Annotated[int | None, Query(ge=0, le=2**31 - 1)] = None,
) -> Response:
    """Tokens of one side from `start` up to `stop`; at most 8,192 of them."""

    def make() -> TokenSlice:
        tokens = find_side(context.library.get(id), side)
        if tokens is None:
            raise ApiError(
                "The recording has no target text. Ask for the source; only encoder-decoders have both.",
                "no_side",
                404,
            )
        end = min(len(tokens), start + MOST_TOKENS) if stop is None else stop
        if not start <= end <= len(tokens) or end - start > MOST_TOKENS:
            raise ApiError(
                f"Tokens {start} to {end} of {len(tokens)} were asked for. Wanted at most {MOST_TOKENS:,} of "
                "them, within the text. Ask for several parts.",
                "out_of_range",
                422,
            )
        return slice_tokens(tokens, start, end)

    return await respond(request, context, make, recording=id)


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
    return FileResponse(path, media_type="application/octet-stream", filename=f"{id}.bundle")


@router.post(
    "",
    status_code=201,
    response_model=Added,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def add_recording(request: Request, context: Context) -> Added:
    """Add a bundle, which is the whole body."""
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise ApiError("The body is a form. Wanted the bundle itself. Send the file as it is.", "form", 415)
    state = request.app.state
    if state.uploads >= context.settings.uploads:
        raise ApiError("Other files are on their way. Send this one in a moment.", "busy", 429)
    state.uploads += 1
    path = context.library.new_part()
    try:
        await _write(request, path)
        return Added(id=await context.threads.run(request, lambda: context.library.receive(path)))
    except OSError as error:
        raise ApiError(
            f"The file could not be kept: {error.strerror or error}. Make room where Glassformer keeps its "
            "recordings, and send it again.",
            "no_room",
            413,
        ) from error
    except GlassformerError as error:
        if isinstance(error, ApiError):
            raise
        sentence = str(error).replace(str(path), "The file")  # where we keep it is nobody's business
        raise ApiError(sentence, "not_a_bundle", 422) from error
    finally:
        path.unlink(missing_ok=True)
        state.uploads -= 1


async def _write(request: Request, path: FilePath) -> None:
    """The body into a file. On a full disk the rest is read, too: who still speaks hears no answer."""
    pieces = request.stream()
    try:
        with path.open("xb") as file:
            async for piece in pieces:  # they are small: a thread would cost more than writing
                file.write(piece)
    except OSError:
        async for _ in pieces:
            pass
        raise


@router.delete("/{id}", status_code=204)
async def remove_recording(context: Context, id: Id) -> Response:
    """Forget a recording that was made or opened; a file that somebody opened stays on disk."""
    context.library.remove(id)
    return Response(status_code=204)
