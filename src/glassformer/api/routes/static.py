"""The built page: files of one folder, compressed once, never a byte from outside it.

In:   a path.
Out:  the file; index.html for the root. Files whose names carry a hash may be kept for ever.
"""

import re
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import Response

from glassformer.api.errors import respond_with_page
from glassformer.api.languages import choose_language
from glassformer.api.limits import Encoded
from glassformer.api.responses import IMMUTABLE, REVALIDATE, Context, choose_encoding, compress, send
from glassformer.api.routes.session import show_sign_in
from glassformer.errors import ApiError
from glassformer.messages import message

router = APIRouter()

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".map": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}
_ALIASES = {"": "index.html", "favicon.ico": "icon.svg"}  # what browsers ask for by themselves
_HASHED = re.compile(r"-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$")


@router.get("/{path:path}", include_in_schema=False)
@router.head("/{path:path}", include_in_schema=False)
async def read_page(request: Request, context: Context, path: str) -> Response:
    """A file of the page."""
    if path in ("", "index.html") and context.access.limited and context.access.person is None:
        shared = request.query_params.get("recording") or request.query_params.get("run")
        sees = context.access.sees_run if "recording" not in request.query_params else context.access.sees
        if shared is None or not sees(shared):
            return show_sign_in(request, context, f"/?{request.url.query}" if request.url.query else "/")
    root = context.settings.static.resolve()
    file = find_file(root, _ALIASES.get(path, path))
    if file is None:
        if not path and not (root / "index.html").is_file():
            return respond_with_page(message("api.not_built"), choose_language(request.scope), 200)
        raise ApiError("api.no_such_page", "no_such_address", 404)
    encoding = choose_encoding(request.headers.get("accept-encoding", ""))
    state = file.stat()
    mark = f'"{state.st_mtime_ns:x}-{state.st_size:x}-{encoding}"'
    keep = IMMUTABLE if path.startswith("assets/") and _HASHED.search(path) else REVALIDATE
    headers = {"cache-control": keep, "etag": mark, "vary": "Accept-Encoding"}
    if mark in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)

    key = f"static {file} {mark}"

    def work() -> Encoded:
        made = compress(file.read_bytes(), KINDS.get(file.suffix, "application/octet-stream"), encoding, 9)
        context.cache.put(key, made)
        return made

    kept = context.cache.get(key)
    if kept is None:
        kept = await context.threads.run(request, work)
    return send(kept, headers)


def find_file(root: Path, path: str) -> Path | None:
    """The file of this path inside a folder; None for anything else, also behind links that lead outside."""
    if "\0" in path or "\\" in path or any(part.startswith(".") for part in path.split("/")):
        return None
    try:
        file = (root / path.lstrip("/")).resolve()
        return file if file.is_relative_to(root) and file.is_file() else None
    except (OSError, ValueError):
        return None
