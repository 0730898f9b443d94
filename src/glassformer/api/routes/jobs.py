"""What needs a model: models, presets, jobs and the events of jobs.

In:   requests to run a model.
Out:  jobs as JSON, and server-sent events while they run. Without a workbench, an error that says why.
"""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response, StreamingResponse

from glassformer.api.branches import complete_request, list_texts
from glassformer.api.encodings import NO_STORE
from glassformer.api.jobs import LAST_EVENTS, Job, JobRequest, ModelDescription, Preset, Workbench
from glassformer.api.limits import ClientCounts, find_client
from glassformer.api.responses import AppContext, Context, respond, watch_access
from glassformer.errors import ApiError
from glassformer.place import name_term

router = APIRouter(prefix="/api", tags=["jobs"])

JobId = Annotated[str, Path(max_length=120)]

_BEAT = 15.0  # seconds between comments that keep a silent connection open
_FIRST = 3.0  # seconds before the worker starts, so that the page loads first
_POLL = 0.25  # seconds between checks whether the server ends
# The server ends and the next one goes on: a browser connects again by itself.
_PUT_BACK = 'event: progress\ndata: {"stage": "queued", "share": null, "detail": null}\n\n'
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
    if bench is not None and not request.app.state.warm and context.access.may("runner"):
        request.app.state.warm = True
        # Who lists models may soon run one.
        asyncio.get_running_loop().call_later(_FIRST, bench.warm_up)
    hidden = bench is None or not context.access.may("viewer")
    return await respond(
        request, context, lambda: [] if bench is None or hidden else list(bench.models()), keep=NO_STORE
    )


@router.get("/presets", response_model=list[Preset])
async def list_presets(request: Request, context: Context) -> Response:
    """Texts worth looking at."""

    def make() -> list[Preset]:
        presets = [] if context.workbench is None else context.workbench.presets()  # may search folders
        return [_with_recording(context, each) for each in presets]

    return await respond(request, context, make, keep=NO_STORE)


@router.get("/jobs", response_model=list[Job])
async def list_jobs(
    request: Request,
    context: Context,
    mine: Annotated[bool, Query(description="only one's own, also for an admin, who sees all")] = False,
) -> Response:
    """Every job of this server; where it has users, one's own."""
    access = context.access
    found = [] if context.workbench is None else list(filter(access.sees_job, context.workbench.jobs()))
    shown = [each for each in found if each.owner == access.owner] if mine else found
    return await respond(request, context, lambda: shown, keep=NO_STORE)


@router.post("/jobs", status_code=202, response_model=Job)
async def add_job(request: Request, context: Context, job_request: JobRequest) -> Job:
    """Run a model. The answer comes at once; the rest follows at /api/jobs/{id}/events."""
    workbench = _require(context)
    check_size(context, job_request)
    check_share(request, context)

    def submit() -> Job:
        context.access.check_request(job_request)
        completed = complete_request(context.library, job_request)
        context.access.check_request(completed)
        check_size(context, completed, list_texts(context.library, completed))
        return workbench.submit(completed, context.access.owner)

    return await submit_job(request, context, submit)


async def submit_job(request: Request, context: AppContext, submit: Callable[[], Job]) -> Job:
    """Make a job in a thread: the name of a model that is not known is looked for in folders.

    It is counted from now on, not only once it is a job, also where the client leaves meanwhile.
    """
    client = find_client(request)

    def submit_and_note() -> Job:
        job = submit()
        request.app.state.jobs[job.id] = client
        return job

    return await context.threads.run(request, submit_and_note, held=request.app.state.submitting.hold(client))


def check_share(request: Request, context: AppContext) -> None:
    """ApiError where a client has its share of the queue waiting or running; forgets what is finished.

    People are known by the owners of jobs, also of those from before a restart; others by their address.
    """
    settings, jobs = context.settings, request.app.state.jobs
    submitting: ClientCounts = request.app.state.submitting
    context.access.check_storage(settings.person_bytes)
    share = settings.share(settings.queue + settings.jobs)
    if context.access.limited and settings.person_jobs is not None:
        share = settings.person_jobs
    owner = context.access.owner
    if context.workbench is None or (owner is None and len(jobs) + submitting.total < share):
        return
    before = list(jobs)  # a thread may note another one from here on
    going = {job.id: job.owner for job in context.workbench.jobs() if job.state in ("queued", "running")}
    for id in before:
        if id not in going:
            del jobs[id]
    client = find_client(request)
    count = list(jobs.values()).count(client) if owner is None else list(going.values()).count(owner)
    if count + submitting.count(client) >= share:
        raise ApiError("api.too_many_jobs", "queue_full", 429, count=share)


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
    listeners: ClientCounts = request.app.state.listeners
    client = find_client(request)
    listeners.require(client, "api.too_many_listeners")
    headers = {"cache-control": NO_STORE, "x-accel-buffering": "no"}
    may_hear = watch_access(request, context, lambda access: access.sees_job(workbench.job(id)))
    stream = _stream(workbench, id, listeners.hold(client), request.app.state.closing, may_hear)
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def _stream(
    workbench: Workbench,
    id: str,
    held: AbstractContextManager[None],
    closing: threading.Event,
    may_hear: Callable[[], bool] = lambda: True,
) -> AsyncIterator[str]:
    """Events as text, with a comment now and then while nothing happens; a last one when the server ends.

    It ends without one where the listener may not hear it any more.
    """
    with held:
        events = workbench.events(id)
        quiet = 0.0
        upcoming = asyncio.ensure_future(anext(events, None))
        try:
            while not closing.is_set():
                done, _ = await asyncio.wait({upcoming}, timeout=_POLL)
                if not may_hear():
                    return
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
            yield _PUT_BACK if workbench.keeps_jobs else 'event: cancelled\ndata: {"code": "closing"}\n\n'
        finally:
            upcoming.cancel()


def _with_recording(context: AppContext, preset: Preset) -> Preset:
    """The preset with the recording that shows it, if one ships."""
    return preset.model_copy(update={"recording": context.library.find_preset(preset.id)})


def _require(context: AppContext) -> Workbench:
    if context.workbench is None:
        raise ApiError("api.no_workbench", status=409, why=context.why_no_workbench)
    return context.workbench


def check_size(context: AppContext, job_request: JobRequest, kept: Sequence[str] = ()) -> None:
    """Refuse texts that are too long before they are read, also those of edits that a recording keeps."""
    settings = context.settings
    lengths = {name: len(getattr(job_request, name) or "") for name in ("text", "second_text", "target")}
    references = (text for edit in job_request.edits for text in edit.list_texts())
    for name, count in {**lengths, "reference": sum(map(len, (*references, *kept)))}.items():
        if count > settings.text_characters:
            raise ApiError(
                "api.text_too_long",
                status=413,
                name=name_term(name),
                count=count,
                most=settings.text_characters,
            )
    count = max(job_request.length or 0, len(job_request.prefix or ()))
    if count > settings.tokens:
        raise ApiError("api.too_many_tokens", status=422, count=count, most=settings.tokens)
