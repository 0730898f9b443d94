"""Atlases: the list, one with the cards of its heads, a search, two beside each other.

In:   the id of an atlas; a question in words, a stack and kind, a type.
Out:  JSON with an ETag. Examples are recordings: /api/recordings/ATLAS:example:NUMBER.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from glassformer.api.atlases import AtlasDescription, AtlasEntry, AtlasPairs, FoundHeads
from glassformer.api.encodings import REVALIDATE
from glassformer.api.responses import Context, respond
from glassformer.api.routes.recordings import VisibilityRequest
from glassformer.errors import ApiError

router = APIRouter(prefix="/api/atlases", tags=["atlases"])

AtlasId = Annotated[str, Path(max_length=255, description="the name of its folder")]


@router.get("", response_model=list[AtlasEntry])
async def list_atlases(request: Request, context: Context) -> Response:
    """All atlases by name; those that ship at the end."""
    atlases, lists = context.atlases, context.access.lists_atlas
    return await respond(
        request, context, lambda: [each for each in atlases.entries() if lists(each.id)], keep=REVALIDATE
    )


@router.put("/{id}/visibility", status_code=204)
async def share_atlas(request: Request, context: Context, id: AtlasId, asked: VisibilityRequest) -> Response:
    """Show an atlas to admins alone, to the team, or to whoever has the link."""
    owners = context.access.require_users()
    if context.library.ships_atlas(id):
        raise ApiError("api.not_shared", status=409, id=id[:80])
    await context.threads.run(request, lambda: owners.share("atlas", id, asked.visibility))
    return Response(status_code=204)


@router.get("/{id}", response_model=AtlasDescription)
async def read_atlas(request: Request, context: Context, id: AtlasId) -> Response:
    """One atlas: detectors, the card of every head, clusters."""
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
    atlases = context.atlases
    return await respond(request, context, lambda: atlases.search(id, search, stack, type), keep=REVALIDATE)


@router.get("/{id}/beside/{other}", response_model=AtlasPairs)
async def compare_atlases(request: Request, context: Context, id: AtlasId, other: AtlasId) -> Response:
    """Two atlases: heads in pairs, of the same place or of the same behaviour, and what differs."""
    context.access.require_atlas(other)  # the first one was checked by its rule
    return await respond(
        request, context, lambda: context.atlases.compare(id, other), keep=REVALIDATE, slow=True
    )
