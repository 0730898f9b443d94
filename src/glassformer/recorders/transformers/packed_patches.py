"""Patches that a model is given as rows of one list, as Qwen-VL's: where in the picture each of them lies.

In:   a model of transformers that is about to read such rows.
Out:  rows and columns of the picture, the cell of each position of the stack, and the picture itself.

The order of the rows differs between models: squares of patches that are merged later stand together, and
squares of a window do. So nothing is assumed. The row and column of each patch are those that the module for
rotary positions is given; a stack that has its patches in another order gives its blocks the angles of these
positions in that order.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


class Packed(NamedTuple):
    """One picture that was given as rows of patches."""

    rows: int
    columns: int
    cells: NDArray[np.int64]  # (position of the stack,) row · columns + column
    pixels: Tensor  # (colour, height, width)


class PackedPatches:
    """What is seen of one convolution over rows of patches, and of the modules around it, during a pass."""

    def __init__(self, model: nn.Module, path: str) -> None:
        self.convolution = model.get_submodule(path)
        self.around = _find_around(model, path)
        self.patches: Tensor | None = None  # (patch, colour, frame, row, column) of pixels
        self.places: Tensor | None = None  # (patch, 2): row and column
        self.angles: Tensor | None = None  # (patch, angle) of these places
        self.turned: Tensor | None = None  # (position, angle) that the first block is given

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside this context patches, places and angles are noticed."""
        with ExitStack() as hooks:
            hooks.enter_context(self.convolution.register_forward_hook(self._see_patches))
            for module in () if self.around is None else self.around.children():
                if not isinstance(module, nn.ModuleList):
                    hooks.enter_context(module.register_forward_hook(self._see_places, with_kwargs=True))
                elif len(module):
                    first = module[0]
                    hooks.enter_context(first.register_forward_pre_hook(self._see_block, with_kwargs=True))
            yield

    def _see_patches(self, module: nn.Module, given: Any, _: Tensor) -> None:
        assert isinstance(module, nn.Conv2d | nn.Conv3d)
        if tuple(given[0].shape[2:]) == tuple(module.kernel_size):  # each is a patch of its own
            self.patches, self.places, self.angles, self.turned = given[0].detach(), None, None, None

    def _see_places(self, _: nn.Module, given: Any, named: dict[str, Any], output: Any) -> None:
        if self.patches is None or self.places is not None:
            return
        for each in (*given, *named.values()):
            whole = isinstance(each, Tensor) and not each.is_floating_point()
            if whole and tuple(each.shape) == (len(self.patches), 2):
                self.places, self.angles = each, _join(output)

    def _see_block(self, _: nn.Module, given: Any, named: dict[str, Any]) -> None:
        del given
        if self.turned is None:
            self.turned = _join(named.get("position_embeddings"))

    def find(self) -> Packed | None:
        """The picture, where every patch has a place of its own and its position is known."""
        if self.patches is None or self.places is None or self.angles is None or self.turned is None:
            return None
        rows, columns = (int(each) + 1 for each in self.places.amax(0))
        cells = (self.places[:, 0] * columns + self.places[:, 1]).cpu()
        order = _match(self.angles, self.turned)
        if order is None or sorted(cells.tolist()) != list(range(rows * columns)):
            return None  # several pictures, or a film
        pixels = self.patches.float().cpu()
        pixels = pixels[:, :, 0] if pixels.dim() == 5 else pixels  # of the frames of a patch the first
        grid = torch.empty_like(pixels)
        grid[cells] = pixels
        shown = grid.unflatten(0, (rows, columns)).permute(2, 0, 3, 1, 4).flatten(3).flatten(1, 2)
        return Packed(rows, columns, cells[order].numpy(), shown)


def _find_around(model: nn.Module, path: str) -> nn.Module | None:
    """The nearest module around a path that has a list of blocks."""
    parts = path.split(".")
    for depth in range(len(parts) - 1, -1, -1):
        around = model.get_submodule(".".join(parts[:depth]))
        if any(isinstance(child, nn.ModuleList) for child in around.children()):
            return around
    return None


def _join(values: Any) -> Tensor | None:
    """Sines and cosines side by side."""
    tensors = [each for each in values if isinstance(each, Tensor)] if isinstance(values, tuple) else []
    return torch.cat(tensors, dim=-1).detach().cpu() if tensors else None


def _match(known: Tensor, seen: Tensor) -> Tensor | None:
    """The number of the row of `known` that each row of `seen` is; None: not every one is one of them."""
    if known.shape != seen.shape:
        return None
    numbers = {row.numpy().tobytes(): number for number, row in enumerate(known)}
    found = [numbers.get(row.numpy().tobytes()) for row in seen]
    if len(numbers) < len(known) or set(found) != set(range(len(known))):
        return None
    return torch.tensor(found)
