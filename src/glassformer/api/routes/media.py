"""Pictures and sound that recordings were made from.

In:   a recording, a side.
Out:  a PNG, a WAV.
"""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from glassformer.api.media import write_png, write_wav
from glassformer.api.responses import Context, Raw, respond_about
from glassformer.api.routes.recordings import Id
from glassformer.errors import ApiError
from glassformer.recording import Recording
from glassformer.recording.axes import AxisSide, find_side

router = APIRouter(prefix="/api/recordings/{id}", tags=["media"], default_response_class=Response)


def _document(kind: str) -> dict[int | str, dict[str, Any]]:
    binary = {"schema": {"type": "string", "format": "binary"}}
    return {
        200: {"content": {kind: binary}},
        304: {"description": "Not changed since the ETag that was sent."},
    }


@router.get("/picture", responses=_document("image/png"))
async def read_picture(request: Request, context: Context, id: Id, side: AxisSide = "source") -> Response:
    """The picture that a side was cut from, as the model saw it."""

    def make(recording: Recording) -> Raw:
        tokens = find_side(recording, side)
        if tokens is None or tokens.picture is None:
            raise ApiError("api.no_picture", status=404)
        return Raw(write_png(tokens.picture), "image/png")

    return await respond_about(request, context, id, make)


@router.get("/sound", responses=_document("audio/wav"))
async def read_sound(request: Request, context: Context, id: Id, side: AxisSide = "source") -> Response:
    """The sound that a side was cut from, as the model heard it."""

    def make(recording: Recording) -> Raw:
        tokens = find_side(recording, side)
        if tokens is None or tokens.sound is None:
            raise ApiError("api.no_sound", status=404)
        return Raw(write_wav(tokens.sound), "audio/wav")

    return await respond_about(request, context, id, make)
