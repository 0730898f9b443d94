"""Names of the positions that an image is cut into, and the image as the model saw it.

In:   a model of transformers that is about to read an image.
Out:  tokens for the axes of a stack: what stands before the patches ([CLS], [DIST], registers), then each
      patch by its row and column, beside the picture; plain numbers where the positions are something else.

Patches are made by a convolution whose kernel is as large as its stride; its result, seen by a hook, is the
grid; or they are given one by one, see `packed_patches`. What is put in front is a parameter of the module
around it. Places of a feature map are named like patches, see `feature_maps`; queries that a decoder learned
are objects. Where a text has a place for every patch, as LLaVA's, or for every square of them, as Gemma's,
these places have the patches, too.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import takewhile
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.loaded.processor import Colours
from glassformer.recorders.transformers.feature_maps import COLOURS, FeatureMaps
from glassformer.recorders.transformers.packed_patches import PackedPatches
from glassformer.recording import Picture, Tokens
from glassformer.recording.media import MOST_PIXELS, NO_PATCH

# Parts of the names of parameters that stand before the patches, in their order.
FRONT = (("cls", "[CLS]"), ("class", "[CLS]"), ("dist", "[DIST]"), ("register", "[REG]"))


class Grid(NamedTuple):
    """The patches of one image."""

    path: str  # of the convolution
    shape: tuple[int, ...]  # (row, column), or (frame, row, column)
    front: tuple[str, ...]  # names of what stands before them
    pixels: NDArray[np.uint8]  # (height, width, 3)
    cells: NDArray[np.int64] | None = None  # of the positions behind these; None: in their order

    def show(self, rows: int, columns: int, cells: NDArray[np.int64]) -> Picture | None:
        """The picture that tokens were cut from; None: of a film."""
        if len(self.shape) == 3 and self.shape[0] > 1:
            return None
        return Picture(self.pixels, rows, columns, cells)


class PatchNames:
    """The grids that a model made in its last pass."""

    def __init__(self, model: nn.Module, colours: Colours | None = None) -> None:
        self.model = model
        self.colours = colours
        self.grids: dict[str, Grid] = {}
        self.maps = FeatureMaps(model)
        self._packed: dict[str, PackedPatches] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside this context grids are noticed."""
        cutting = {path: module for path, module in self.model.named_modules() if _cuts_patches(module)}
        films = [path for path, module in cutting.items() if isinstance(module, nn.Conv3d)]
        self._packed = {path: PackedPatches(self.model, path) for path in films}
        with ExitStack() as hooks:
            for path, module in cutting.items():
                hooks.enter_context(module.register_forward_hook(self._notice(path)))
            for packed in self._packed.values():
                hooks.enter_context(packed.watching())
            if not cutting:
                hooks.enter_context(self.maps.watching())
            yield

    def name(self, path: str, count: int) -> Tokens | None:
        """The positions of a stack whose blocks are at this path; None: they are no patches."""
        grids = self.find_grids(count)
        fitting = [grid for grid in grids if len(grid.front) + np.prod(grid.shape) == count]
        if not fitting:
            return self._name_queries(count)
        grid = max(fitting, key=lambda each: count_shared(each.path, path))
        places = [",".join(map(str, index)) for index in np.ndindex(grid.shape)]
        order = np.arange(len(places)) if grid.cells is None else grid.cells
        texts = (*grid.front, *(places[each] for each in order))
        special = np.arange(count) < len(grid.front)
        rows, columns = grid.shape[-2:]
        cells = np.concatenate((np.full(len(grid.front), NO_PATCH), order))
        return Tokens(
            "source", texts, np.arange(count), special=special, picture=grid.show(rows, columns, cells)
        )

    def _name_queries(self, count: int) -> Tokens | None:
        """Queries that a decoder learned, each for an object; None: there are none, or not so many."""
        if not self.maps.shapes or not self.maps.has_queries(count):
            return None
        texts = tuple(f"object {number}" for number in range(count))
        return Tokens("source", texts, np.arange(count))

    def find_grids(self, count: int | None = None) -> list[Grid]:
        """All grids of the last pass; those of feature maps only where they have `count` places."""
        for path, packed in self._packed.items():
            if path not in self.grids and (found := packed.find()) is not None:
                pixels = show_pixels(found.pixels, self.colours)
                self.grids[path] = Grid(path, (found.rows, found.columns), (), pixels, found.cells)
        shape = None if count is None else self.maps.find(count)
        if shape is None or self.maps.picture is None:
            return list(self.grids.values())
        return [*self.grids.values(), Grid("", shape, (), show_pixels(self.maps.picture, self.colours))]

    def place(self, tokens: Tokens, token_id: int) -> Tokens:
        """A text with places for patches, which have this id, beside its picture; as it is without one."""
        places = tokens.ids == token_id
        count = int(places.sum())
        for grid in self.find_grids() if count else ():
            rows, columns = grid.shape[-2:]
            side = isqrt(rows * columns // count)  # patches on a side of each square of them
            if side and rows % side == columns % side == 0 and rows * columns == count * side**2:
                cells = np.where(places, np.cumsum(places) - 1, NO_PATCH)
                return replace(tokens, picture=grid.show(rows // side, columns // side, cells))
        return tokens

    def _notice(self, path: str) -> Any:
        def hook(_: nn.Module, given: Any, output: Tensor) -> None:
            if len(output) == 1:
                pixels = show_pixels(given[0][0], self.colours)
                self.grids[path] = Grid(path, tuple(output.shape[2:]), self._find_front(path), pixels)

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


def show_pixels(values: Tensor, colours: Colours | None) -> NDArray[np.uint8]:
    """What a model is given (colour, height, width), of a film the first picture, as bytes to look at.

    Without `colours`, which say what was done to it, the smallest number becomes black and the largest white.
    """
    shown = values.detach().float().cpu()
    if shown.dim() == 4:  # (colour, frame, height, width)
        shown = shown[:, 0]
    if colours is None:
        low, high = shown.min(), shown.max()
        shown = (shown - low) / (high - low).clamp(min=1e-6)
    else:
        mean, deviation = (shown.new_tensor(each)[:, None, None] for each in colours)
        shown = shown * deviation + mean
    shown = shown[:3].expand(3, -1, -1)
    if (pixels := shown[0].numel()) > MOST_PIXELS:
        factor = (MOST_PIXELS / pixels) ** 0.5
        size = [int(length * factor) for length in shown.shape[1:]]
        shown = F.interpolate(shown[None], size, mode="bilinear", antialias=True)[0]
    return (shown.clamp(0, 1) * 255).round().byte().permute(1, 2, 0).contiguous().numpy()


def count_shared(one: str, other: str) -> int:
    """How many parts two paths share from the left."""
    pairs = zip(one.split("."), other.split("."), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _cuts_patches(module: nn.Module) -> bool:
    if not isinstance(module, nn.Conv2d | nn.Conv3d) or module.in_channels not in COLOURS:
        return False
    return module.kernel_size == module.stride and max(module.kernel_size) > 1
