"""What needs a model: models, presets, jobs and the events of jobs.

In:   requests to run a model.
Out:  jobs as JSON, and server-sent events while they run. Without a workbench, an error that says why.
"""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import Response, StreamingResponse

from glassformer.api.jobs import LAST_EVENTS, Job, JobRequest, ModelDescription, Preset, Workbench
from glassformer.api.responses import NO_STORE, AppContext, Context, respond
from glassformer.errors import ApiError
from glassformer.place import name_term

router = APIRouter(prefix="/api", tags=["jobs"])

JobId = Annotated[str, Path(max_length=120)]

_BEAT = 15.0  # seconds between comments that keep a silent connection open
_FIRST = 3.0  # seconds before the worker starts, so that the page loads first
_POLL = 0.25  # seconds between checks whether the server ends
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events progress, step, and at last done, failed or cancelled.",
        "content": {
            "text/event-stream": {
                "schema": {  # of one event
                    "type": "object",
                    "properties": {
                        "event": {"enum": ["progress", "step", "done", "failed", "cancelled"]},
                        "data": {"type": "string", "contentMediaType": "application/json"},
                    },
                    "required": ["event", "data"],
                }
            }
        },
    }
}


@router.get("/models", response_model=list[ModelDescription])
async def list_models(request: Request, context: Context) -> Response:
    """What can be chosen; empty where no model can run."""
    bench = context.workbench
    if bench is not None and not request.app.state.warm:
        request.app.state.warm = True
        # Who lists models may soon run one.
        asyncio.get_running_loop().call_later(_FIRST, bench.warm_up)
    return await respond(
        request, context, lambda: [] if bench is None else list(bench.models()), keep=NO_STORE
    )


@router.get("/presets", response_model=list[Preset])
async def list_presets(request: Request, context: Context) -> Response:
    """Texts worth looking at."""

    def make() -> list[Preset]:
        presets = [] if context.workbench is None else context.workbench.presets()  # may search folders
        return [_with_recording(context, each) for each in presets]

    return await respond(request, context, make, keep=NO_STORE)


@router.get("/jobs", response_model=list[Job])
async def list_jobs(request: Request, context: Context) -> Response:
    """Every job of this server."""
    found = [] if context.workbench is None else list(context.workbench.jobs())
    return await respond(request, context, lambda: found, keep=NO_STORE)


@router.post("/jobs", status_code=202, response_model=Job)
async def add_job(context: Context, job_request: JobRequest) -> Job:
    """Run a model. The answer comes at once; the rest follows at /api/jobs/{id}/events."""
    workbench = _require(context)
    _check_size(context, job_request)
    return workbench.submit(job_request)


@router.get("/jobs/{id}", response_model=Job)
async def read_job(context: Context, id: JobId) -> Job:
    """One job as it stands."""
    return _require(context).job(id)


@router.delete("/jobs/{id}", response_model=Job)
async def cancel_job(context: Context, id: JobId) -> Job:
    """Cancel a job that waits or runs."""
    return _require(context).cancel(id)


@router.get("/jobs/{id}/events", responses=_EVENTS, response_class=StreamingResponse)
async def hear_job(request: Request, context: Context, id: JobId) -> Response:
    """What happens with a job, from its start, as server-sent events."""
    workbench = _require(context)
    workbench.job(id)
    listeners: set[object] = request.app.state.listeners
    if len(listeners) >= context.settings.listeners:
        raise ApiError("api.too_many_listeners", "busy", 429)
    headers = {"cache-control": NO_STORE, "x-accel-buffering": "no"}
    stream = _stream(workbench, id, listeners, request.app.state.closing)
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def _stream(
    workbench: Workbench, id: str, listeners: set[object], closing: threading.Event
) -> AsyncIterator[str]:
    """Events as text, with a comment now and then while nothing happens; it ends with the server."""
    mark = object()
    listeners.add(mark)
    events = workbench.events(id)
    quiet = 0.0
    try:
        upcoming = asyncio.ensure_future(anext(events, None))
        while not closing.is_set():
            done, _ = await asyncio.wait({upcoming}, timeout=_POLL)
            if not done:
                quiet += _POLL
                if quiet >= _BEAT:
                    quiet = 0.0
                    yield ": still here\n\n"
                continue
            quiet = 0.0
            event = upcoming.result()
            if event is None:
                return
            yield f"event: {event.name}\ndata: {json.dumps(event.data, ensure_ascii=False)}\n\n"
            if event.name in LAST_EVENTS:
                return
            upcoming = asyncio.ensure_future(anext(events, None))
    finally:
        upcoming.cancel()
        listeners.discard(mark)


def _with_recording(context: AppContext, preset: Preset) -> Preset:
    """The preset with the recording that shows it, if one ships."""
    return preset.model_copy(update={"recording": context.library.find_preset(preset.id)})


def _require(context: AppContext) -> Workbench:
    if context.workbench is None:
        raise ApiError("api.no_workbench", status=409, why=context.why_no_workbench)
    return context.workbench


def _check_size(context: AppContext, job_request: JobRequest) -> None:
    """Refuse texts that are too long before they are read."""
    settings = context.settings
    lengths = {name: len(getattr(job_request, name) or "") for name in ("text", "second_text", "target")}
    references = (text for edit in job_request.edits for text in getattr(edit, "reference", ()))
    for name, count in {**lengths, "reference": sum(map(len, references))}.items():
        if count > settings.text_characters:
            raise ApiError(
                "api.text_too_long",
                status=413,
                name=name_term(name),
                count=count,
                most=settings.text_characters,
            )
    if job_request.length is not None and job_request.length > settings.tokens:
        raise ApiError("api.too_many_tokens", status=422, count=job_request.length, most=settings.tokens)
