"""Attention maps: weights, scores, tiles, statistics, vectors.

In:   a recording, the place of a map, a head, a part of it.
Out:  binary frames.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from glassformer.api.frames import FloatPrecision, Frame
from glassformer.api.responses import FRAME, Context, respond_about
from glassformer.api.routes.recordings import Id
from glassformer.api.tiles import (
    Precision,
    Range,
    Vectors,
    find_map,
    frame_average,
    frame_scores,
    frame_statistics,
    frame_thumbnails,
    frame_tile,
    frame_vectors,
    frame_weights,
)
from glassformer.recording import Recording
from glassformer.recording.tiles import How

router = APIRouter(
    prefix="/api/recordings/{id}", tags=["maps"], responses=FRAME, default_response_class=Response
)

Address = Annotated[
    str, Path(max_length=200, description="the place of the map, as decoder.cross.3 or decoder.self.0@2")
]
HeadNumber = Annotated[int, Path(ge=0, le=2**31 - 1)]
HeadQuery = Annotated[int | None, Query(ge=0, le=2**31 - 1, description="one head; without it all")]
Span = Annotated[
    str | None, Query(pattern=r"^[0-9]{1,9}:[0-9]{1,9}$", description="first and one past the last, as 0:512")
]
As = Annotated[Precision, Query(alias="as", description="bytes for display, floats for values")]
AsFloat = Annotated[FloatPrecision, Query(alias="as")]


@router.get("/thumbnails")
async def read_thumbnails(request: Request, context: Context, id: Id, how: How = "mean") -> Response:
    """A small picture of every head of every map: for each place an array (head, row, column)."""
    return await respond_about(request, context, id, lambda recording: frame_thumbnails(recording, how))


@router.get("/maps/{place}/weights")
async def read_weights(
    request: Request,
    context: Context,
    id: Id,
    place: Address,
    head: Annotated[int | Literal["mean"] | None, Query(description="one head, mean, or all")] = None,
    queries: Span = None,
    keys: Span = None,
    precision: As = "uint8",
) -> Response:
    """Weights of a rectangle: (query, key), or (head, query, key) without a head; at most 4 million."""

    def make(recording: Recording) -> Frame:
        found = find_map(recording, place)
        return frame_weights(found, head, read_span(queries), read_span(keys), precision)

    return await respond_about(request, context, id, make)


@router.get("/maps/{place}/scores")
async def read_scores(
    request: Request,
    context: Context,
    id: Id,
    place: Address,
    head: HeadQuery = None,
    queries: Span = None,
    keys: Span = None,
    precision: AsFloat = "float32",
) -> Response:
    """The same before the softmax: scaled, biased; minus infinity where masked."""

    def make(recording: Recording) -> Frame:
        found = find_map(recording, place)
        return frame_scores(found, head, read_span(queries), read_span(keys), precision)

    return await respond_about(request, context, id, make)


@router.get("/maps/{place}/tiles/{head}/{level}/{row}/{column}")
async def read_tile(
    request: Request,
    context: Context,
    id: Id,
    place: Address,
    head: HeadNumber,
    level: Annotated[int, Path(ge=0, le=31, description="2**level tokens a pixel")],
    row: Annotated[int, Path(ge=0, le=2**31 - 1)],
    column: Annotated[int, Path(ge=0, le=2**31 - 1)],
    how: How = "mean",
    precision: As = "uint8",
) -> Response:
    """A tile of 256 pixels a side, fewer at the right and lower edge."""

    def make(recording: Recording) -> Frame:
        return frame_tile(find_map(recording, place), head, (level, row, column), how, precision)

    return await respond_about(request, context, id, make)


@router.get("/maps/{place}/statistics")
async def read_statistics(request: Request, context: Context, id: Id, place: Address) -> Response:
    """What is known of every head: entropy, peak … (head, query), mass (head, key), rows (query)."""
    return await respond_about(
        request, context, id, lambda recording: frame_statistics(find_map(recording, place).statistics)
    )


@router.get("/maps/{place}/vectors/{what}")
async def read_vectors(
    request: Request,
    context: Context,
    id: Id,
    place: Address,
    what: Vectors,
    head: HeadQuery = None,
) -> Response:
    """Query, key or value vectors: (token, width) of the head, or (head, token, width) of all."""
    return await respond_about(
        request, context, id, lambda recording: frame_vectors(find_map(recording, place), what, head)
    )


@router.get("/average")
async def read_average(
    request: Request,
    context: Context,
    id: Id,
    stack: Annotated[str, Query(max_length=40)],
    kind: Literal["self", "cross"] = "self",
    how: Literal["model"] = "model",  # noqa: ARG001 - the one average there is, named in links
    precision: As = "uint8",
) -> Response:
    """The mean over all heads of all layers of one stack and kind; up to 1,024 tokens."""
    return await respond_about(
        request, context, id, lambda recording: frame_average(recording, stack, kind, precision)
    )


def read_span(text: str | None) -> Range | None:
    """Two numbers from `0:512`."""
    if text is None:
        return None
    first, _, last = text.partition(":")
    return int(first), int(last)
