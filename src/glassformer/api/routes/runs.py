"""Training runs: the list, and one with its curves, heads and events.

In:   the id of a run, the last step that the client has; a range of steps, how many points fit.
Out:  JSON with an ETag. A client follows a run by server-sent events, or asks again with If-None-Match and
      `since`.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response, StreamingResponse

from glassformer.api.limits import ClientCounts, find_client
from glassformer.api.probes import ProbeSeries
from glassformer.api.responses import NO_STORE, REVALIDATE, Context, respond
from glassformer.api.runs import RunDescription, RunEntry, Runs, RunSeries
from glassformer.errors import ApiError

router = APIRouter(prefix="/api/runs", tags=["runs"])

RunId = Annotated[str, Path(max_length=255, description="the name of its folder")]
Step = Annotated[int | None, Query(ge=0, le=2**53, description="a step, included; none: as far as there are")]
Points = Annotated[int, Query(ge=2, le=20_000, description="at most so many")]

_POLL = 0.5  # seconds between two looks at the files of a run
_BEAT = 15.0  # seconds between comments that keep a silent connection open
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`news`: a RunDescription of the steps after its `since`, instead of what was sent of "
        "them before; `indexing`: the share of a long log that was read; `end`: the run has ended.",
        "content": {
            "text/event-stream": {
                "schema": {  # of one event
                    "type": "object",
                    "properties": {
                        "event": {"enum": ["news", "indexing", "end"]},
                        "data": {"type": "string", "contentMediaType": "application/json"},
                    },
                    "required": ["event", "data"],
                }
            }
        },
    }
}


@router.get("", response_model=list[RunEntry])
async def list_runs(request: Request, context: Context) -> Response:
    """Every training run, the one that was written to last first."""
    return await respond(request, context, context.runs.entries, keep=REVALIDATE)


@router.get("/{id}", response_model=RunDescription)
async def read_run(
    request: Request,
    context: Context,
    id: RunId,
    since: Annotated[
        int | None, Query(ge=0, le=2**53, description="only what was written for later steps")
    ] = None,
    points: Annotated[int, Query(ge=2, le=20_000, description="at most so many of a curve")] = 2_000,
) -> Response:
    """One training run as far as it was written."""
    return await respond(request, context, lambda: context.runs.describe(id, since, points), keep=REVALIDATE)


@router.get("/{id}/series", response_model=RunSeries)
async def read_series(
    request: Request,
    context: Context,
    id: RunId,
    name: Annotated[str, Query(max_length=200, description="of a curve")],
    start: Step = None,
    stop: Step = None,
    points: Points = 2_000,
) -> Response:
    """A curve between two steps: exact where it has no more points, else lowest, highest and mean values."""
    return await respond(
        request, context, lambda: context.runs.series(id, name, start, stop, points), keep=REVALIDATE
    )


@router.get("/{id}/heads", response_model=RunSeries)
async def read_heads(
    request: Request,
    context: Context,
    id: RunId,
    place: Annotated[str, Query(max_length=200, description="the address of an attention map")],
    statistic: Annotated[str, Query(max_length=200)],
    start: Step = None,
    stop: Step = None,
    points: Points = 2_000,
) -> Response:
    """A statistic of all heads of a map between two steps, as `series`."""
    return await respond(
        request,
        context,
        lambda: context.runs.heads(id, place, statistic, start, stop, points),
        keep=REVALIDATE,
    )


@router.get("/{id}/probes", response_model=ProbeSeries)
async def read_probes(request: Request, context: Context, id: RunId) -> Response:
    """Texts that were recorded while the network learnt; each of their ids is that of a recording."""
    return await respond(request, context, lambda: context.library.list_probes(id), keep=REVALIDATE)


@router.get("/{id}/events", responses=_EVENTS, response_class=StreamingResponse)
async def follow_run(
    request: Request,
    context: Context,
    id: RunId,
    since: Annotated[int | None, Query(ge=0, le=2**53, description="only what comes after this step")] = None,
    points: Points = 2_000,
) -> Response:
    """What is written to a run while it trains, as server-sent events."""
    await context.threads.run(request, lambda: context.runs.stamp(id))  # 404 where there is none
    listeners: ClientCounts = request.app.state.listeners
    client = find_client(request)
    listeners.require(client, "api.too_many_listeners")
    stream = _stream(context.runs, id, since, points, listeners.hold(client), request.app.state.closing)
    headers = {"cache-control": NO_STORE, "x-accel-buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def _stream(
    runs: Runs,
    id: str,
    since: int | None,
    points: int,
    held: AbstractContextManager[None],
    closing: threading.Event,
) -> AsyncIterator[str]:
    """News of a run as text until it ends, the server ends, or the run is removed."""
    known, revision, quiet = None, None, 0.0
    with held:
        while not closing.is_set():
            try:
                stamp = await asyncio.to_thread(runs.stamp, id)
                if stamp != known:
                    news = await asyncio.to_thread(runs.describe, id, since, points)
                    if revision not in (None, news.revision):  # resumed: what was sent may be void
                        news = await asyncio.to_thread(runs.describe, id, None, points)
                    known, revision, quiet = stamp, news.revision, 0.0
                    since = max(0, news.last_step - 1)  # scores of the last step may follow
                    yield f"event: news\ndata: {news.model_dump_json()}\n\n"
                    if news.state != "running":
                        yield "event: end\ndata: {}\n\n"
                        return
            except ApiError as error:
                if error.status != 503:
                    return
                share = error.message.parameters["share"]
                yield f'event: indexing\ndata: {{"share": {share}}}\n\n'
            await asyncio.sleep(_POLL)
            quiet += _POLL
            if quiet >= _BEAT:
                quiet = 0.0
                yield ": still here\n\n"
