"""Names of the positions that an image is cut into.

In:   a model of transformers that is about to read an image.
Out:  tokens for the axes of a stack: what stands before the patches ([CLS], [DIST], registers), then each
      patch by its row and column; plain numbers where the positions are something else.

Patches are made by a convolution whose kernel is as large as its stride; its result, seen by a hook, is the
grid. What is put in front is a parameter of the module around it.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from glassformer.recording import Tokens

COLOURS = (1, 3, 4)  # channels of an image
# Parts of the names of parameters that stand before the patches, in their order.
FRONT = (("cls", "[CLS]"), ("class", "[CLS]"), ("dist", "[DIST]"), ("register", "[REG]"))


class Grid(NamedTuple):
    """The patches of one image."""

    path: str  # of the convolution
    shape: tuple[int, ...]  # (row, column), or (frame, row, column)
    front: tuple[str, ...]  # names of what stands before them


class PatchNames:
    """The grids that a model made in its last pass."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.grids: dict[str, Grid] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside this context grids are noticed."""
        with ExitStack() as hooks:
            for path, module in self.model.named_modules():
                if _cuts_patches(module):
                    hooks.enter_context(module.register_forward_hook(self._notice(path)))
            yield

    def name(self, path: str, count: int) -> Tokens:
        """The positions of a stack whose blocks are at this path."""
        fitting = [grid for grid in self.grids.values() if len(grid.front) + np.prod(grid.shape) == count]
        if not fitting:
            return Tokens.positional("source", count)
        grid = max(fitting, key=lambda each: count_shared(each.path, path))
        patches = (",".join(map(str, index)) for index in np.ndindex(grid.shape))
        special = np.arange(count) < len(grid.front)
        return Tokens("source", (*grid.front, *patches), np.arange(count), special=special)

    def _notice(self, path: str) -> Any:
        def hook(_: nn.Module, __: Any, output: Tensor) -> None:
            if len(output) == 1:
                self.grids[path] = Grid(path, tuple(output.shape[2:]), self._find_front(path))

        return hook

    def _find_front(self, path: str) -> tuple[str, ...]:
        parts = path.split(".")
        for depth in range(len(parts) - 1, -1, -1):
            around = self.model.get_submodule(".".join(parts[:depth]))
            found = [
                name
                for part, name in FRONT
                for parameter, value in around.named_parameters(recurse=False)
                if part in parameter
                for _ in range(value.shape[-2] if value.dim() > 1 else 1)
            ]
            if found:
                return tuple(found)
        return ()


def count_shared(one: str, other: str) -> int:
    """How many parts two paths share from the left."""
    pairs = zip(one.split("."), other.split("."), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _cuts_patches(module: nn.Module) -> bool:
    if not isinstance(module, nn.Conv2d | nn.Conv3d) or module.in_channels not in COLOURS:
        return False
    return module.kernel_size == module.stride and max(module.kernel_size) > 1
