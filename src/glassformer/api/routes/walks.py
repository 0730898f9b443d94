"""The walk: its plan, the arrays that it shows, the arithmetic of one cell.

In:   a recording, the name of an array, a step.
Out:  the plan and cells as JSON, arrays as binary frames.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from glassformer.api.frames import Frame
from glassformer.api.responses import FRAME, Context, respond_about
from glassformer.api.routes.maps import HeadQuery, Span, read_span
from glassformer.api.routes.recordings import Id
from glassformer.api.walk_frames import frame_trace
from glassformer.recording import Recording
from glassformer.walk import explain, make_plan
from glassformer.walk.types import CellArithmetic, WalkPlan

router = APIRouter(prefix="/api/recordings/{id}", tags=["walk"])

Index = Annotated[int, Query(ge=0, le=2**31 - 1)]


@router.get("/walk", response_model=WalkPlan)
async def read_walk(request: Request, context: Context, id: Id) -> Response:
    """What happens to the text, in order; steps that were not kept say why."""
    return await respond_about(request, context, id, make_plan)


@router.get("/trace/{name:path}", responses=FRAME, response_class=Response)
async def read_trace(
    request: Request,
    context: Context,
    id: Id,
    name: Annotated[str, Path(max_length=200, description="as the plan names it, or parameters/…")],
    rows: Span = None,
    columns: Span = None,
    head: HeadQuery = None,
) -> Response:
    """An array of the walk, "values": (column,), (row, column) or (head, row, column); at most 4 million."""

    def make(recording: Recording) -> Frame:
        return frame_trace(recording, name, read_span(rows), read_span(columns), head)

    return await respond_about(request, context, id, make)


@router.get("/cell/{step}", response_model=CellArithmetic)
async def read_cell(
    request: Request,
    context: Context,
    id: Id,
    step: Annotated[str, Path(max_length=200)],
    row: Index = 0,
    column: Index = 0,
    head: HeadQuery = None,
) -> Response:
    """How one number came about: which row and column made it, with the arithmetic."""
    return await respond_about(
        request, context, id, lambda recording: explain(recording, step, row, column, head)
    )
