"""Numbers about attention: what can be measured, and the measurements.

In:   a recording, the name of a metric, its parameters in the address.
Out:  descriptions and scores as JSON; rollout as a frame.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from glassformer.api.encodings import REVALIDATE
from glassformer.api.frames import Frame
from glassformer.api.responses import FRAME, Context, respond, respond_about
from glassformer.api.routes.recordings import Id
from glassformer.api.scores import (
    MetricDescription,
    ScoreDescription,
    describe_metrics,
    frame_rollout,
    measure_recording,
)
from glassformer.api.tiles import Precision
from glassformer.metrics import Over
from glassformer.recording import Recording

router = APIRouter(prefix="/api", tags=["measures"])


@router.get("/metrics", response_model=list[MetricDescription])
async def list_metrics(request: Request, context: Context) -> Response:
    """What can be measured, with captions in both languages and the parameters of each."""
    return await respond(request, context, describe_metrics, keep=REVALIDATE)


@router.get("/recordings/{id}/scores/{metric}", response_model=ScoreDescription)
async def read_score(
    request: Request,
    context: Context,
    id: Id,
    metric: Annotated[str, Path(max_length=80)],
    over: Annotated[
        Over | None, Query(description="how far to average; without it, as far as the metric does")
    ] = None,
) -> Response:
    """One metric of a recording. Other words in the address are its parameters, as threshold=0.02."""
    given = {name: value for name, value in request.query_params.items() if name != "over"}

    def make(recording: Recording) -> ScoreDescription:
        return measure_recording(recording, metric, over, given, context.library.difference(id))

    return await respond_about(request, context, id, make, slow=True)


@router.get("/recordings/{id}/flow", responses=FRAME, response_class=Response)
async def read_flow(
    request: Request,
    context: Context,
    id: Id,
    stack: Annotated[str | None, Query(max_length=40)] = None,
    residual: Annotated[float, Query(ge=0, le=1, description="the share of the residual connection")] = 0.5,
    layers: Annotated[bool, Query(description="every layer, not only the last")] = True,
    precision: Annotated[Precision, Query(alias="as")] = "float32",
) -> Response:
    """Attention rollout: "rollout" (layer, query, key), or (1, query, key) for the last layer alone."""

    def make(recording: Recording) -> Frame:
        return frame_rollout(recording, stack, residual, layers, precision)

    return await respond_about(request, context, id, make, slow=True)
