"""Searches for the best configuration of a recipe: the list, and one with its trials.

In:   the id of a search.
Out:  JSON with an ETag: a page that follows a search asks again with If-None-Match.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from glassformer.api.encodings import REVALIDATE
from glassformer.api.responses import Context, respond
from glassformer.api.routes.recordings import VisibilityRequest
from glassformer.api.searches import SearchDescription, SearchEntry
from glassformer.errors import ApiError

router = APIRouter(prefix="/api/searches", tags=["searches"])

SearchId = Annotated[str, Path(max_length=255, description="the name of its folder")]


@router.get("", response_model=list[SearchEntry])
async def list_searches(request: Request, context: Context) -> Response:
    """All searches, the one that was written to last first; examples at the end."""

    def make() -> list[SearchEntry]:
        return [each for each in context.searches.entries() if context.access.lists_search(each.id)]

    return await respond(request, context, make, keep=REVALIDATE)


@router.put("/{id}/visibility", status_code=204)
async def share_search(
    request: Request, context: Context, id: SearchId, asked: VisibilityRequest
) -> Response:
    """Show a search to admins alone, to the team, or to whoever has the link."""
    owners = context.access.require_users()
    if context.searches.is_shipped(id):
        raise ApiError("api.not_shared", status=409, id=id[:80])
    await context.threads.run(request, lambda: owners.share("search", id, asked.visibility))
    return Response(status_code=204)


@router.get("/{id}", response_model=SearchDescription)
async def read_search(request: Request, context: Context, id: SearchId) -> Response:
    """One search as far as it has come: its trials, the best one, what mattered."""
    return await respond(request, context, lambda: context.searches.describe(id), keep=REVALIDATE)
