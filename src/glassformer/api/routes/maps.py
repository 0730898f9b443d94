"""Attention maps: weights, scores, tiles, statistics, vectors.

In:   a recording, the number of a map, a head, a part of it.
Out:  binary frames.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from glassformer.api.frames import Frame, FrameArray, shrink
from glassformer.api.responses import FRAME, AppContext, Context, respond
from glassformer.api.routes.recordings import Id
from glassformer.api.tiles import (
    Precision,
    Range,
    frame_average,
    frame_scores,
    frame_thumbnails,
    frame_tile,
    frame_weights,
)
from glassformer.errors import ApiError
from glassformer.recording import AttentionMap

router = APIRouter(
    prefix="/api/recordings/{id}", tags=["maps"], responses=FRAME, default_response_class=Response
)

MapNumber = Annotated[int, Path(alias="map", ge=0, le=2**31 - 1, description="the index of the map")]
HeadNumber = Annotated[int, Path(ge=0, le=2**31 - 1)]
HeadQuery = Annotated[int | None, Query(ge=0, le=2**31 - 1, description="one head; without it all")]
Span = Annotated[
    str | None, Query(pattern=r"^[0-9]{1,9}:[0-9]{1,9}$", description="first and one past the last, as 0:512")
]
How = Literal["mean", "max"]
As = Annotated[Precision, Query(alias="as", description="bytes for display, floats for values")]
AsFloat = Annotated[Literal["float16", "float32"], Query(alias="as")]


@router.get("/thumbnails")
async def read_thumbnails(request: Request, context: Context, id: Id, how: How = "mean") -> Response:
    """A small picture of every head of every map: arrays "0", "1", … of (head, row, column)."""
    return await respond(
        request, context, lambda: frame_thumbnails(context.library.get(id), how), recording=id
    )


@router.get("/maps/{map}/weights")
async def read_weights(
    request: Request,
    context: Context,
    id: Id,
    number: MapNumber,
    head: Annotated[int | Literal["mean"] | None, Query(description="one head, mean, or all")] = None,
    queries: Span = None,
    keys: Span = None,
    precision: As = "uint8",
) -> Response:
    """Weights of a rectangle: (query, key), or (head, query, key) without a head; at most 4 million."""

    def make() -> Frame:
        return frame_weights(
            find_map(context, id, number), head, read_span(queries), read_span(keys), precision
        )

    return await respond(request, context, make, recording=id)


@router.get("/maps/{map}/scores")
async def read_scores(
    request: Request,
    context: Context,
    id: Id,
    number: MapNumber,
    head: HeadQuery = None,
    queries: Span = None,
    keys: Span = None,
    precision: AsFloat = "float32",
) -> Response:
    """The same before the softmax: scaled, biased; minus infinity where masked."""

    def make() -> Frame:
        return frame_scores(
            find_map(context, id, number), head, read_span(queries), read_span(keys), precision
        )

    return await respond(request, context, make, recording=id)


@router.get("/maps/{map}/tiles/{head}/{level}/{row}/{column}")
async def read_tile(
    request: Request,
    context: Context,
    id: Id,
    number: MapNumber,
    head: HeadNumber,
    level: Annotated[int, Path(ge=0, le=31, description="2**level tokens a pixel")],
    row: Annotated[int, Path(ge=0, le=2**31 - 1)],
    column: Annotated[int, Path(ge=0, le=2**31 - 1)],
    how: How = "mean",
    precision: As = "uint8",
) -> Response:
    """A tile of 256 pixels a side, fewer at the right and lower edge."""

    def make() -> Frame:
        return frame_tile(find_map(context, id, number), head, (level, row, column), how, precision)

    return await respond(request, context, make, recording=id)


@router.get("/maps/{map}/statistics")
async def read_statistics(request: Request, context: Context, id: Id, number: MapNumber) -> Response:
    """What is known of every head: entropy, peak … (head, query), mass (head, key), rows (query)."""

    def make() -> Frame:
        known = find_map(context, id, number).statistics
        arrays = {
            "entropy": shrink(known.entropy, "float32"),
            "peak": shrink(known.peak, "float32"),
            "peak_key": FrameArray(known.peak_key.astype("int32")),
            "above": FrameArray(known.above.astype("int32")),
            "distance": shrink(known.distance, "float32"),
            "allowed": FrameArray(known.allowed.astype("int32")),
            "mass": shrink(known.mass, "float32"),
            "rows": FrameArray(known.rows),
        }
        return Frame(arrays, {"threshold": known.threshold})

    return await respond(request, context, make, recording=id)


@router.get("/maps/{map}/vectors/{what}")
async def read_vectors(
    request: Request,
    context: Context,
    id: Id,
    number: MapNumber,
    what: Literal["queries", "keys", "values"],
    head: HeadQuery = None,
) -> Response:
    """Query, key or value vectors: (token, width) of the head, or (head, token, width) of all."""

    def make() -> Frame:
        return frame_vectors(find_map(context, id, number), what, head)

    return await respond(request, context, make, recording=id)


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

    def make() -> Frame:
        return frame_average(context.library.get(id), stack, kind, precision)

    return await respond(request, context, make, recording=id)


def frame_vectors(
    attention_map: AttentionMap, what: Literal["queries", "keys", "values"], head: int | None
) -> Frame:
    """Vectors of one head, or of all; several heads may share the keys and values of one."""
    array = getattr(attention_map, what)
    if array is None:
        raise ApiError(
            f"The {what} of {attention_map.name} were not kept. Record again with {what!r} in want=.",
            "not_recorded",
            404,
        )
    chosen = array
    if head is not None:
        group = attention_map.heads // array.shape[0]
        chosen = array[attention_map.require_head(head) // group]
    if chosen.size > 16 << 20:
        raise ApiError(
            f"{chosen.size:,} numbers were asked for. Wanted at most {16 << 20:,}. Ask for one head.",
            "too_many_cells",
            422,
        )
    return Frame({what: shrink(chosen, "float32")}, {"map": attention_map.name, "head": head})


def find_map(context: AppContext, id: str, number: int) -> AttentionMap:
    """The map of this number."""
    maps = context.library.get(id).maps
    if number >= len(maps):
        raise ApiError(
            f"There is no map {number} in {id}. Wanted 0 to {len(maps) - 1}. Its description lists them.",
            "no_map",
            404,
        )
    return maps[number]


def read_span(text: str | None) -> Range | None:
    """Two numbers from `0:512`."""
    if text is None:
        return None
    first, _, last = text.partition(":")
    return int(first), int(last)
