"""Hidden states: one plane, activations over layers, and histograms of anything recorded.

In:   a recording, a stack, a layer; or what to count.
Out:  binary frames; distributions as JSON.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from glassformer.api.distributions import Distribution, Of, Where, distribute
from glassformer.api.frames import FloatPrecision, Frame
from glassformer.api.hidden import By, frame_activations, frame_hidden
from glassformer.api.responses import FRAME, Context, respond_about
from glassformer.api.routes.maps import Span, read_span
from glassformer.api.routes.recordings import Id
from glassformer.recording import Recording

router = APIRouter(prefix="/api/recordings/{id}", tags=["states"])

Stack = Annotated[str, Path(max_length=40, description="encoder or decoder")]


@router.get("/hidden/{stack}/activations", responses=FRAME, response_class=Response)
async def read_activations(
    request: Request,
    context: Context,
    id: Id,
    stack: Stack,
    by: By = "norm",
    neuron: Annotated[int | None, Query(ge=0, le=2**31 - 1)] = None,
) -> Response:
    """One number for each layer and token: "activations" (layer + 1, token). Row 0 of `change` is 0."""
    return await respond_about(
        request, context, id, lambda recording: frame_activations(recording, stack, by, neuron)
    )


@router.get("/hidden/{stack}/{layer}", responses=FRAME, response_class=Response)
async def read_hidden(
    request: Request,
    context: Context,
    id: Id,
    stack: Stack,
    layer: Annotated[int, Path(ge=0, le=2**31 - 1)],
    tokens: Span = None,
    every: Annotated[int, Query(ge=1, le=2**31 - 1, description="only each so-many-th token")] = 1,
    precision: Annotated[FloatPrecision, Query(alias="as")] = "float16",
) -> Response:
    """The states after a layer, "states" (token, width); layer 0 is the embeddings."""

    def make(recording: Recording) -> Frame:
        return frame_hidden(recording, stack, layer, read_span(tokens), every, precision)

    return await respond_about(request, context, id, make)


@router.get("/distribution", response_model=Distribution)
async def read_distribution(
    request: Request,
    context: Context,
    id: Id,
    of: Of,
    stack: Annotated[str | None, Query(max_length=40)] = None,
    layer: Annotated[int | None, Query(ge=0, le=2**31 - 1)] = None,
    place: Annotated[str | None, Query(max_length=200, description="of a map, as decoder.cross.3")] = None,
    head: Annotated[int | None, Query(ge=0, le=2**31 - 1)] = None,
    bins: Annotated[int, Query(ge=1, le=1000)] = 64,
) -> Response:
    """A histogram of hidden states, vectors, attention or scores."""
    where = Where(stack=stack, layer=layer, place=place, head=head)
    return await respond_about(
        request, context, id, lambda recording: distribute(recording, of, where, bins), slow=True
    )
