"""Searches for the best configuration of a recipe: the list, and one with its trials.

In:   the id of a search.
Out:  JSON with an ETag: a page that follows a search asks again with If-None-Match.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from glassformer.api.responses import REVALIDATE, Context, respond
from glassformer.api.searches import SearchDescription, SearchEntry

router = APIRouter(prefix="/api/searches", tags=["searches"])

SearchId = Annotated[str, Path(max_length=255, description="the name of its folder")]


@router.get("", response_model=list[SearchEntry])
async def list_searches(request: Request, context: Context) -> Response:
    """All searches, the one that was written to last first; examples at the end."""
    return await respond(request, context, context.searches.entries, keep=REVALIDATE)


@router.get("/{id}", response_model=SearchDescription)
async def read_search(request: Request, context: Context, id: SearchId) -> Response:
    """One search as far as it has come: its trials, the best one, what mattered."""
    return await respond(request, context, lambda: context.searches.describe(id), keep=REVALIDATE)
