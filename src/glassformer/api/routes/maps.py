"""Attention maps: weights, scores, tiles, statistics, vectors.

In:   a recording, the place of a map, a head, a part of it.
Out:  binary frames.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from glassformer.api.frames import Frame, FrameArray, shrink
from glassformer.api.responses import FRAME, Context, respond_about
from glassformer.api.routes.recordings import Id
from glassformer.api.tiles import (
    Precision,
    Range,
    find_map,
    frame_average,
    frame_scores,
    frame_thumbnails,
    frame_tile,
    frame_weights,
)
from glassformer.errors import ApiError
from glassformer.place import name_term
from glassformer.recording import AttentionMap, HeadStatistics, Recording

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
How = Literal["mean", "max"]
As = Annotated[Precision, Query(alias="as", description="bytes for display, floats for values")]
AsFloat = Annotated[Literal["float16", "float32"], Query(alias="as")]


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
    what: Literal["queries", "keys", "values"],
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


def frame_statistics(known: HeadStatistics) -> Frame:
    """The statistics of every head of a map."""
    floats = {
        name: shrink(getattr(known, name), "float32") for name in ("entropy", "peak", "distance", "mass")
    }
    counts = {
        name: FrameArray(getattr(known, name).astype("int32")) for name in ("peak_key", "above", "allowed")
    }
    return Frame({**floats, **counts, "rows": FrameArray(known.rows)}, {"threshold": known.threshold})


def frame_vectors(
    attention_map: AttentionMap, what: Literal["queries", "keys", "values"], head: int | None
) -> Frame:
    """Vectors of one head, or of all; several heads may share the keys and values of one."""
    array = getattr(attention_map, what)
    if array is None:
        raise ApiError(
            "api.not_recorded", status=404, what=(name_term(what),), place=attention_map.place, want=what
        )
    chosen = array
    if head is not None:
        group = attention_map.heads // array.shape[0]
        chosen = array[attention_map.require_head(head) // group]
    if chosen.size > 16 << 20:
        raise ApiError("api.too_many_vectors", "too_many_cells", 422, count=chosen.size, most=16 << 20)
    return Frame(
        {what: shrink(chosen, "float32")},
        {"place": attention_map.place.address, "head": head},
    )


def read_span(text: str | None) -> Range | None:
    """Two numbers from `0:512`."""
    if text is None:
        return None
    first, _, last = text.partition(":")
    return int(first), int(last)
