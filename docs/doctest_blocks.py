"""For mkdocstrings: examples of docstrings (`>>> …`) become blocks of code."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> (?:.+\n?)+", re.MULTILINE)  # up to the next empty line


class DoctestBlocks(griffe.Extension):
    """Fences every example before its docstring is rendered as Markdown."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(
                lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", obj.docstring.value
            )
