"""What this server is and what it allows.

In:   GET /api/about.
Out:  version, limits, and whether models can run.
"""

from fastapi import APIRouter, Request
from starlette.responses import Response

from glassformer import __version__
from glassformer.api.responses import REVALIDATE, Context, respond
from glassformer.messages import message
from glassformer.schema import MessageField, ResponseModel

router = APIRouter(prefix="/api", tags=["about"])


class Limits(ResponseModel):
    """The most that may be asked for."""

    text_characters: int
    tokens: int
    body_bytes: int
    upload_bytes: int
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


@router.get("/about", response_model=About)
async def read_about(request: Request, context: Context) -> Response:
    """Version, limits, and whether models can run here."""
    settings = context.settings
    why = settings.why_no_workbench or message("api.shows_recordings_only")
    about = About(
        version=__version__,
        offline=settings.offline,
        limits=Limits(**{name: getattr(settings, name) for name in Limits.model_fields}),
        workbench=context.workbench is not None,
        why_no_workbench=why if context.workbench is None else None,
    )
    return await respond(request, context, lambda: about, keep=REVALIDATE)
