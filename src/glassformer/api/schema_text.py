"""The OpenAPI schema as a text, for the types of the page.

In:   nothing: an application without recordings.
Out:  its schema as JSON; web/generate/generate.py makes types of it.
"""

import json
from typing import Any

from glassformer.api.app import create_app
from glassformer.api.library import Library


def render_schema() -> str:
    """The schema as JSON, without the version of the product: the same text for the same interface."""
    library = Library(shipped=None)
    try:
        schema = create_app(library).openapi()
    finally:
        library.close()
    schema = {**_simplify(schema), "info": {"title": schema["info"]["title"], "version": "0"}}
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _simplify(node: Any) -> Any:
    """Without the titles that pydantic derives from names; lists of two become tuples."""
    if isinstance(node, list):
        return [_simplify(each) for each in node]
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
