"""The OpenAPI schema, complete: JSON of every route, and the headers of binary frames.

In:   the application.
Out:  its schema; `python -m glassformer.api.openapi FILE` writes it for `make types`.
"""

import json
import sys
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from glassformer.api.frames import FrameHeader


def install(app: FastAPI) -> None:
    """Let the application describe itself completely."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            header = FrameHeader.model_json_schema(
                mode="serialization", ref_template="#/components/schemas/{model}"
            )
            schema["components"]["schemas"] |= header.pop("$defs", {}) | {"FrameHeader": header}
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]


def render_schema() -> str:
    """The schema as JSON, without the version of the product: the same text for the same interface."""
    from glassformer.api.app import create_app
    from glassformer.api.library import Library

    library = Library(shipped=None)
    try:
        schema = create_app(library).openapi()
    finally:
        library.close()
    schema = {**_drop_titles(schema), "info": {"title": schema["info"]["title"], "version": "0"}}
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _drop_titles(node: Any) -> Any:
    """Without the titles that pydantic derives from names."""
    if isinstance(node, list):
        return [_drop_titles(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        name: _drop_titles(value)
        for name, value in node.items()
        if name != "title" or not isinstance(value, str)
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render_schema(), encoding="utf-8")
