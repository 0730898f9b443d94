"""What this server is and what it allows.

In:   GET /api/about, GET /api/docs.
Out:  version, limits, and whether models can run; a list of all routes.
"""

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from glassformer import __version__
from glassformer.api.encodings import REVALIDATE
from glassformer.api.openapi import list_routes
from glassformer.api.responses import Context, respond
from glassformer.messages import message
from glassformer.schema import MessageField, ResponseModel

router = APIRouter(prefix="/api", tags=["about"])


class Limits(ResponseModel):
    """The most that may be asked for."""

    text_characters: int
    tokens: int
    body_bytes: int
    upload_bytes: int
    input_bytes: int
    queue: int
    jobs: int
    seconds: float


class About(ResponseModel):
    """This server."""

    version: str
    offline: bool
    limits: Limits
    workbench: bool
    why_no_workbench: MessageField | None
    training: bool  # whether runs can be started, stopped and removed: /api/training


@router.get("/about", response_model=About)
async def read_about(request: Request, context: Context) -> Response:
    """Version, limits, and whether models can run here, for whoever asks."""
    settings, may_run = context.settings, context.access.may("runner")
    why_not = None
    if context.workbench is None:
        why_not = context.why_no_workbench
    elif not may_run:
        why_not = message("api.visitors_look" if context.access.person is None else "api.viewers_look")
    about = About(
        version=__version__,
        offline=settings.offline,
        limits=Limits(**{name: getattr(settings, name) for name in Limits.model_fields}),
        workbench=context.workbench is not None and may_run,
        why_no_workbench=why_not,
        training=context.trainer is not None and may_run,
    )
    state = f"always the same, may run: {may_run}"
    return await respond(request, context, lambda: about, keep=REVALIDATE, state=lambda: state)


@router.get("/docs", include_in_schema=False)
async def read_docs(request: Request) -> Response:
    """Every route, for people; for programs the schema is at /api/openapi.json."""
    return PlainTextResponse("\n".join(list_routes(request.app.openapi())))
