"""Training runs: the list, and one with its curves, heads and events.

In:   the id of a run; a range of steps, how many points fit.
Out:  JSON with an ETag. A client follows a run by server-sent events, or asks again with If-None-Match.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import StringConstraints
from starlette.responses import Response, StreamingResponse

from glassformer.api.access import Access
from glassformer.api.encodings import NO_STORE, REVALIDATE
from glassformer.api.limits import ClientCounts, find_client
from glassformer.api.probes import ProbeSeries
from glassformer.api.responses import Context, respond, watch_access
from glassformer.api.routes.recordings import VisibilityRequest
from glassformer.api.runs import RunDescription, RunEntry, Runs, RunSamples, SeriesByName
from glassformer.errors import ApiError

router = APIRouter(prefix="/api/runs", tags=["runs"])

RunId = Annotated[str, Path(max_length=255, description="the name of its folder")]
Step = Annotated[int | None, Query(ge=0, le=2**53, description="a step, included; none: as far as there are")]
Name = Annotated[str, StringConstraints(max_length=200)]
Points = Annotated[int, Query(ge=2, le=20_000, description="at most so many")]

MOST_NAMES = 1_000  # of curves or maps in one question
_POLL = 0.5  # seconds between two looks at the files of a run
_BEAT = 15.0  # seconds between comments that keep a silent connection open
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`news`: a RunDescription, at first and whenever something was written; `indexing`: "
        "the share of a long log that was read; `end`: the run has ended.",
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
async def list_runs(
    request: Request,
    context: Context,
    limit: Annotated[int | None, Query(ge=1, le=2**31, description="at most so many; none: all")] = None,
) -> Response:
    """Every training run that one may see, the one that was written to last first."""
    access, runs = context.access, context.runs

    def make() -> list[RunEntry]:
        return [access.describe_run(each) for each in runs.entries(limit, access.lists_run)]

    return await respond(request, context, make, keep=REVALIDATE)


@router.get("/{id}", response_model=RunDescription)
async def read_run(request: Request, context: Context, id: RunId) -> Response:
    """One training run as far as it was written: everything but its numbers."""
    access, runs = context.access, context.runs
    return await respond(request, context, lambda: access.describe_run(runs.describe(id)), keep=REVALIDATE)


@router.put("/{id}/visibility", status_code=204)
async def share_run(request: Request, context: Context, id: RunId, asked: VisibilityRequest) -> Response:
    """Keep a run to yourself, share it with the team, or with whoever has the link."""
    owners = context.access.require_users()
    if context.runs.is_shipped(id):
        raise ApiError("api.not_shared", status=409, id=id[:80])
    await context.threads.run(request, lambda: owners.share("run", id, asked.visibility))
    return Response(status_code=204)


@router.get("/{id}/series", response_model=SeriesByName)
async def read_series(
    request: Request,
    context: Context,
    id: RunId,
    name: Annotated[list[Name] | None, Query(max_length=MOST_NAMES, description="curves; none: all")] = None,
    start: Step = None,
    stop: Step = None,
    points: Points = 2_000,
) -> Response:
    """Curves between two steps: exact where there are few points, else lowest, highest and mean values."""
    runs = context.runs
    return await respond(
        request, context, lambda: runs.series(id, name or (), start, stop, points), keep=REVALIDATE
    )


@router.get("/{id}/heads", response_model=SeriesByName)
async def read_heads(
    request: Request,
    context: Context,
    id: RunId,
    statistic: Annotated[str, Query(max_length=200)],
    place: Annotated[
        list[Name] | None, Query(max_length=MOST_NAMES, description="addresses of attention maps; none: all")
    ] = None,
    start: Step = None,
    stop: Step = None,
    points: Points = 2_000,
) -> Response:
    """A statistic of all heads of some maps between two steps, as `series`."""
    runs = context.runs
    return await respond(
        request,
        context,
        lambda: runs.heads(id, statistic, place or (), start, stop, points),
        keep=REVALIDATE,
    )


@router.get("/{id}/probes", response_model=ProbeSeries)
async def read_probes(request: Request, context: Context, id: RunId) -> Response:
    """Texts that were recorded while the network learnt; each of their ids is that of a recording."""
    return await respond(request, context, lambda: context.library.list_probes(id), keep=REVALIDATE)


@router.get("/{id}/samples", response_model=RunSamples)
async def read_samples(request: Request, context: Context, id: RunId) -> Response:
    """What the network wrote or guessed at each evaluation."""
    return await respond(request, context, lambda: context.runs.samples(id), keep=REVALIDATE)


@router.get("/{id}/events", responses=_EVENTS, response_class=StreamingResponse)
async def follow_run(
    request: Request,
    context: Context,
    id: RunId,
) -> Response:
    """What is written to a run while it trains, as server-sent events."""
    await context.threads.run(request, lambda: context.runs.stamp(id))  # 404 where there is none
    listeners: ClientCounts = request.app.state.listeners
    client = find_client(request)
    listeners.require(client, "api.too_many_listeners")
    may_hear = watch_access(request, context, lambda access: access.sees_run(id))
    closing = request.app.state.closing
    stream = _stream(context.runs, id, listeners.hold(client), closing, context.access, may_hear)
    headers = {"cache-control": NO_STORE, "x-accel-buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def _stream(
    runs: Runs,
    id: str,
    held: AbstractContextManager[None],
    closing: threading.Event,
    access: Access | None = None,
    may_hear: Callable[[], bool] = lambda: True,
) -> AsyncIterator[str]:
    """News of a run as text until it ends, the server ends, or the listener may not hear them any more."""
    known, quiet = None, 0.0
    with held:
        while not closing.is_set():
            try:
                if not may_hear():
                    return
                stamp = await asyncio.to_thread(runs.stamp, id)
                if stamp != known:
                    news = await asyncio.to_thread(runs.describe, id)
                    news = news if access is None else access.describe_run(news)
                    known, quiet = stamp, 0.0
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
