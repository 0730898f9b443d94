"""Causes, measured as jobs: effects of heads, layers and edges, and patching.

In:   requests with an outcome.
Out:  a job; /api/jobs/{id}/events reports the numbers in events `step`.
"""

from fastapi import APIRouter, Request

from glassformer.api.effects import EffectsRequest, MeasureRequest, Measuring, PatchingRequest
from glassformer.api.jobs import Job
from glassformer.api.responses import AppContext, Context
from glassformer.api.routes.jobs import check_share, check_size, submit_job
from glassformer.errors import ApiError

router = APIRouter(prefix="/api", tags=["effects"])


@router.post("/effects", status_code=202, response_model=Job)
async def measure_effects(request: Request, context: Context, asked: EffectsRequest) -> Job:
    """Measure what each head, layer and edge does to an outcome: estimates first, then real passes."""
    return await _start(request, context, asked)


@router.post("/patching", status_code=202, response_model=Job)
async def measure_patching(request: Request, context: Context, asked: PatchingRequest) -> Job:
    """Measure what restores the answer of a text in a corrupted one, layer by layer."""
    return await _start(request, context, asked)


async def _start(request: Request, context: AppContext, asked: MeasureRequest) -> Job:
    bench = context.workbench
    if not isinstance(bench, Measuring):
        raise ApiError("api.no_workbench", status=409, why=context.why_no_workbench)
    check_size(context, asked.run)
    if isinstance(asked, PatchingRequest):
        check_size(context, asked.run.model_copy(update={"text": asked.corrupted}))
    context.access.check_request(asked.run)
    check_share(request, context)
    return await submit_job(request, context, lambda: bench.measure(asked, context.access.owner))
