"""Pictures and sounds to run a model on.

In:   a file, which is the whole body.
Out:  its id, for the field `media` of a request to run a model. Nothing is decoded here.
"""

from fastapi import APIRouter, Request

from glassformer.api.inputs import InputStore
from glassformer.api.limits import ClientCounts, find_client
from glassformer.api.responses import Context
from glassformer.api.routes.recordings import FILE_BODY, Added, write_body
from glassformer.errors import ApiError

router = APIRouter(prefix="/api", tags=["jobs"])


@router.post("/inputs", status_code=201, response_model=Added, openapi_extra=FILE_BODY)
async def add_input(request: Request, context: Context) -> Added:
    """Send a picture (PNG, JPEG, WebP) or a sound (WAV, FLAC); it is kept until a job has read it."""
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise ApiError("api.form", status=415)
    if context.workbench is None:
        raise ApiError("api.no_workbench", status=409, why=context.why_no_workbench)
    uploads: ClientCounts = request.app.state.uploads
    client = find_client(request)
    uploads.require(client, "api.too_many_uploads")
    declared = request.headers.get("content-length", "0")  # decimal: the limit of bodies has read it
    owner, most = context.access.owner, context.settings.person_bytes
    context.access.check_storage(most, int(declared))
    store = InputStore(context.library.folder)
    with uploads.hold(client):
        path = store.new_path(owner)
        part = path.with_suffix(".part")
        try:
            await write_body(request, part)
            context.access.check_storage(most, part.stat().st_size)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        await context.threads.run(request, lambda: store.limit(owner))
    return Added(id=path.stem)
