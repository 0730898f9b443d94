"""The OpenAPI schema, complete: JSON of every route, and the headers of binary frames.

In:   the application.
Out:  its schema; schema_text.py makes a text of it.
"""

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
