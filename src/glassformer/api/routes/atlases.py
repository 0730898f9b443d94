"""Atlases: the list, one with the cards of its heads, a search, two beside each other.

In:   the id of an atlas; a question in words, a stack and kind, a type.
Out:  JSON with an ETag. Examples are recordings: /api/recordings/ATLAS:example:NUMBER.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from glassformer.api.atlases import AtlasDescription, AtlasEntry, AtlasPairs, FoundHeads
from glassformer.api.responses import REVALIDATE, AppContext, Context, respond
from glassformer.errors import ApiError

router = APIRouter(prefix="/api/atlases", tags=["atlases"])

AtlasId = Annotated[str, Path(max_length=255, description="the name of its folder")]


@router.get("", response_model=list[AtlasEntry])
async def list_atlases(request: Request, context: Context) -> Response:
    """All atlases by name; those that ship at the end."""
    atlases, sees = context.atlases, context.access.sees_atlas
    return await respond(
        request, context, lambda: [each for each in atlases.entries() if sees(each.id)], keep=REVALIDATE
    )


@router.get("/{id}", response_model=AtlasDescription)
async def read_atlas(request: Request, context: Context, id: AtlasId) -> Response:
    """One atlas: detectors, the card of every head, clusters."""
    _require(context, id)
    return await respond(request, context, lambda: context.atlases.describe(id), keep=REVALIDATE)


@router.get("/{id}/heads", response_model=FoundHeads)
async def search_heads(
    request: Request,
    context: Context,
    id: AtlasId,
    search: Annotated[str, Query(max_length=200, description="in words: the object of a verb")] = "",
    stack: Annotated[str | None, Query(max_length=200, description="with its kind: decoder.self")] = None,
    type: Annotated[str | None, Query(max_length=200, description="the name of a detector")] = None,
) -> Response:
    """Heads by what they do, the strongest first."""
    _require(context, id)
    atlases = context.atlases
    return await respond(request, context, lambda: atlases.search(id, search, stack, type), keep=REVALIDATE)


@router.get("/{id}/beside/{other}", response_model=AtlasPairs)
async def compare_atlases(request: Request, context: Context, id: AtlasId, other: AtlasId) -> Response:
    """Two atlases: heads in pairs, of the same place or of the same behaviour, and what differs."""
    _require(context, id, other)
    return await respond(
        request, context, lambda: context.atlases.compare(id, other), keep=REVALIDATE, slow=True
    )


def _require(context: AppContext, *ids: str) -> None:
    """ApiError where there is no such atlas for this person."""
    for id in ids:
        if not context.access.sees_atlas(id):
            raise ApiError("api.no_atlas", status=404, id=id[:80])
