"""Training: one loop, its optimiser and schedules, checkpoints that survive, a monitor of every head.

In:   a recipe (TOML).
Out:  a run: checkpoints in Hugging Face layout and a `RunLog`.

The verb `glassformer.train` and this room have one name. So the room can be called, whoever comes first: the
import system puts a package under its name as soon as anyone imports something from it.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glassformer.train.loop import Outcome


class _Room(ModuleType):
    def __call__(
        self,
        path: str | Path,
        overrides: Sequence[str] = (),
        *,
        resume: bool = False,
        runs: str | Path = "runs",
        name: str | None = None,
        silent: bool = False,
    ) -> "Outcome":
        """See `glassformer.train.recipe.run_recipe`."""
        from glassformer.train.recipe import run_recipe

        return run_recipe(path, overrides, resume=resume, runs=runs, name=name, silent=silent)


sys.modules[__name__].__class__ = _Room
