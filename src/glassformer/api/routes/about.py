"""What this server is and what it allows.

In:   GET /api/about.
Out:  version, limits, and whether models can run.
"""

from fastapi import APIRouter, Request
from starlette.responses import Response

from glassformer import __version__
from glassformer.api.chinese import translate
from glassformer.api.responses import CHECK, AtDesk, answer
from glassformer.schema import Answer, Phrase

router = APIRouter(prefix="/api", tags=["about"])


class Limits(Answer):
    """The most that may be asked for."""

    text_characters: int
    tokens: int
    body_bytes: int
    upload_bytes: int
    queue: int
    jobs: int
    seconds: float


class About(Answer):
    """This server."""

    version: str
    offline: bool
    limits: Limits
    workbench: bool
    why_no_workbench: Phrase | None


@router.get("/about", response_model=About)
async def read_about(request: Request, desk: AtDesk) -> Response:
    """Version, limits, and whether models can run here."""
    settings = desk.settings
    why = settings.why_no_workbench or "This server shows saved recordings and runs no models."
    about = About(
        version=__version__,
        offline=settings.offline,
        limits=Limits(**{name: getattr(settings, name) for name in Limits.model_fields}),
        workbench=desk.workbench is not None,
        why_no_workbench=Phrase(en=why, zh=translate(why) or why) if desk.workbench is None else None,
    )
    return await answer(request, desk, lambda: about, keep=CHECK)
