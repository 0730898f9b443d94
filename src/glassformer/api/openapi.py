"""The OpenAPI schema, complete: JSON of every route, the headers of binary frames, and the events of jobs.

In:   the application.
Out:  its schema; the same as JSON text for web/generate/generate.py, and as a list for people (/api/docs).
"""

import json
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from glassformer.api.effects import EffectsStep, PatchingStep
from glassformer.api.frames import FrameHeader


def install(app: FastAPI) -> None:
    """Let the application describe itself completely."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            for sent in (FrameHeader, EffectsStep, PatchingStep):  # in frames and events, not as JSON bodies
                own = sent.model_json_schema(
                    mode="serialization", ref_template="#/components/schemas/{model}"
                )
                schema["components"]["schemas"] |= own.pop("$defs", {}) | {sent.__name__: own}
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]


def render_schema(app: FastAPI) -> str:
    """The schema as JSON, without the version of the product: the same text for the same interface."""
    schema = app.openapi()
    schema = {**_simplify(schema), "info": {"title": schema["info"]["title"], "version": "0"}}
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def list_routes(schema: dict[str, Any]) -> Iterator[str]:
    """Every route with its description and parameters, line by line."""
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield f"\n{method.upper()} {path}\n    {operation['description']}"
            for each in operation.get("parameters", ()):
                kind = each["schema"].get("anyOf", [each["schema"]])[0]
                choices = "|".join(map(str, kind.get("enum", [kind.get("const", kind.get("type"))])))
                yield f"    - {each['name']} ({choices}) {each.get('description', '')}".rstrip()


def _simplify(node: Any) -> Any:
    """Without titles derived from names; of docstrings the first paragraph; lists of two become tuples."""
    if isinstance(node, list):
        return [_simplify(each) for each in node]
    if isinstance(node, str):
        return node.partition("\n\n")[0]
    if not isinstance(node, dict):
        return node
    simple = {
        name: _simplify(value)
        for name, value in node.items()
        if name != "title" or not isinstance(value, str)
    }
    if simple.get("minItems") == simple.get("maxItems") == 2 and "items" in simple:
        simple["prefixItems"] = [simple.pop("items")] * 2
    return simple
