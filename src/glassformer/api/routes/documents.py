"""The API in words: one small page made from its schema, without a byte from anywhere else.

In:   the application's own OpenAPI schema.
Out:  HTML that lists every address. The schema itself is at /api/openapi.json.
"""

from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

router = APIRouter(prefix="/api", include_in_schema=False)

_HEAD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Glassformer API</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/api/docs.css"></head>"""
_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
h2 { font-size: 1rem; margin: 2rem 0 0; padding-top: 1rem; border-top: 1px solid #8884; }
h2 code { overflow-wrap: anywhere; }
code { font-family: ui-monospace, monospace; }
p, ul { margin: 0.25rem 0; }
"""
_ERROR = '{"error": {"sentence": "…", "code": "…", "message": {"code": "…", "parameters": {…}}}}'


@router.get("/docs")
async def read_documents(request: Request) -> HTMLResponse:
    """Every address with what it takes and what it answers."""
    schema = request.app.openapi()
    rows = [
        _describe(method, path, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]
    intro = (
        f"<h1>Glassformer API {escape(schema['info']['version'])}</h1>"
        f"<p>{escape(schema['info']['description'])} "
        'The same for programs: <a href="/api/openapi.json">/api/openapi.json</a>. '
        f"Errors are <code>{escape(_ERROR)}</code> with a 4xx status.</p>"
    )
    return HTMLResponse(f"{_HEAD}<body><main>{intro}{''.join(rows)}</main></body></html>")


@router.get("/docs.css")
async def read_style() -> Response:
    """How the page above looks."""
    return Response(_STYLE, media_type="text/css")


def _describe(method: str, path: str, operation: dict[str, Any]) -> str:
    words = []
    for each in operation.get("parameters", ()):
        kind = _spell(each.get("schema", {}))
        needed = "" if each.get("required") else ", optional"
        meaning = f": {each['description']}" if each.get("description") else ""
        words.append(
            f"<li><code>{escape(each['name'])}</code> ({escape(kind + needed)}){escape(meaning)}</li>"
        )
    listed = f"<ul>{''.join(words)}</ul>" if words else ""
    kinds = sorted({kind for each in operation["responses"].values() for kind in each.get("content", {})})
    return (
        f"<section><h2><code>{method.upper()} {escape(path)}</code></h2>"
        f"<p>{escape(operation.get('description', ''))}</p>{listed}"
        f"<p>Answers {escape(', '.join(kinds) or 'nothing')}.</p></section>"
    )


def _spell(schema: dict[str, Any]) -> str:
    """The type of a parameter in a few words."""
    if "anyOf" in schema:
        return " or ".join(_spell(each) for each in schema["anyOf"] if each.get("type") != "null")
    if "enum" in schema:
        return " or ".join(str(each) for each in schema["enum"])
    return str(schema.get("const", schema.get("type", "anything")))
