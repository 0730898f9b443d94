"""The built page.

In:   a path.
Out:  its file; index.html for the root; a visitor is led to a form to sign in.
"""

from collections.abc import Mapping

from fastapi import APIRouter, Request
from starlette.responses import Response

from glassformer.api.encodings import Encoded, send
from glassformer.api.errors import respond_with_page
from glassformer.api.languages import choose_language
from glassformer.api.page_files import find_page_file
from glassformer.api.responses import AppContext, Context
from glassformer.api.routes.session import lead_to_form
from glassformer.api.shortcuts import Shortcut
from glassformer.errors import ApiError
from glassformer.messages import message

router = APIRouter()
PAGE = ("", "index.html")
MOST_RUNS = 100  # of a link that a visitor opens


@router.get("/{path:path}", include_in_schema=False)
@router.head("/{path:path}", include_in_schema=False)
async def read_page(request: Request, context: Context, path: str) -> Response:
    """A file of the page."""
    visitor = context.access.limited and context.access.person is None
    if path in PAGE and visitor and not _is_shared(context, request.query_params):
        return lead_to_form(request, context)
    root = context.settings.static
    file = find_page_file(root, path, request.headers.get("accept-encoding", ""))
    if file is None:
        if not path and not (root / "index.html").is_file():
            return respond_with_page(message("api.not_built"), choose_language(request.scope), 200)
        raise ApiError("api.no_such_page", "no_such_address", 404)
    key = f"static {file.path} {file.mark}"
    if not context.access.limited or path not in PAGE:  # a visitor gets a form to sign in instead
        route, mark = request.scope["route"], file.mark
        known = Shortcut(None, file.read_mark, mark, key, file.headers, route, mark)
        context.shortcuts.keep(request.scope, known)
    if file.mark in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=file.headers)

    def work() -> Encoded:
        made = file.read()
        context.cache.put(key, made)
        return made

    kept = context.cache.get(key)
    if kept is None:
        kept = await context.threads.run(request, work)
    return send(kept, file.headers)


def _is_shared(context: AppContext, asked: Mapping[str, str]) -> bool:
    """Whether a link leads a visitor to something that they may see."""
    access = context.access
    if asked.get("run"):  # or several, which are compared
        return all(map(access.sees_run, asked["run"].split(",", MOST_RUNS)))
    for name, sees in (("recording", access.sees), ("study", access.sees_atlas)):
        if asked.get(name):
            return sees(asked[name][:280])
    return False
