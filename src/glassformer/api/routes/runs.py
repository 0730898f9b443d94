"""Training runs: the list, and one with its curves, heads and events.

In:   the id of a run, the last step that the client has.
Out:  JSON with an ETag: a client follows a run by asking again with If-None-Match and `since`.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from glassformer.api.responses import REVALIDATE, Context, respond
from glassformer.api.runs import RunDescription, RunEntry

router = APIRouter(prefix="/api/runs", tags=["runs"])


@router.get("", response_model=list[RunEntry])
async def list_runs(request: Request, context: Context) -> Response:
    """Every training run, the one that was written to last first."""
    return await respond(request, context, context.runs.entries, keep=REVALIDATE)


@router.get("/{id}", response_model=RunDescription)
async def read_run(
    request: Request,
    context: Context,
    id: Annotated[str, Path(max_length=255, description="the name of its folder")],
    since: Annotated[
        int | None, Query(ge=0, le=2**53, description="only what was written for later steps")
    ] = None,
    points: Annotated[int, Query(ge=2, le=20_000, description="at most so many of a curve")] = 2_000,
) -> Response:
    """One training run as far as it was written."""
    return await respond(request, context, lambda: context.runs.describe(id, since, points), keep=REVALIDATE)
