"""Positions that are places of a feature map, as DETR's, and queries that are learned, as its objects.

In:   a model of transformers that is about to look at a picture.
Out:  rows and columns of the feature map whose places a stack reads; how many queries a decoder learned.

Between convolutions and a stack of blocks stands a projection of each place. Where the first block is given
exactly what the projection made, place by place in rows, these are its positions; otherwise nothing is said.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

COLOURS = (1, 3, 4)  # channels of an image


class FeatureMaps:
    """What projections made of a picture and first blocks were given, during a pass."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.picture: Tensor | None = None  # (colour, height, width), as the first convolution is given it
        self.shapes: list[tuple[int, int]] = []  # of the maps whose places a stack reads
        self._made: Tensor | None = None  # (width, row, column) by the last projection

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside this context projections and first blocks are noticed."""
        with ExitStack() as hooks:
            for module in self.model.modules():
                if isinstance(module, nn.Conv2d):
                    hooks.enter_context(module.register_forward_hook(self._see_convolution))
                elif isinstance(module, nn.ModuleList) and len(module):
                    first = module[0]
                    hooks.enter_context(first.register_forward_pre_hook(self._see_block, with_kwargs=True))
            yield

    def _see_convolution(self, module: nn.Module, given: Any, output: Tensor) -> None:
        assert isinstance(module, nn.Conv2d)
        if len(output) > 1:
            return
        if self.picture is None and module.in_channels in COLOURS:
            self.picture = given[0][0].detach()
        self._made = output[0].detach() if module.kernel_size == (1, 1) else None

    def _see_block(self, _: nn.Module, given: Any, named: dict[str, Any]) -> None:
        states = [each for each in (*given, *named.values()) if isinstance(each, Tensor) and each.dim() == 3]
        if self._made is None or not states or len(states[0]) > 1:
            return
        places = self._made.flatten(1).t()  # (row · column, width)
        if states[0][0].shape == places.shape and torch.equal(states[0][0], places):
            self.shapes.append((self._made.shape[1], self._made.shape[2]))

    def find(self, count: int) -> tuple[int, int] | None:
        """Rows and columns of the feature map that a stack of so many positions reads; None: of none."""
        return next((shape for shape in self.shapes if shape[0] * shape[1] == count), None)

    def has_queries(self, count: int) -> bool:
        """Whether the model learned so many queries, each a vector of a table."""
        return any(
            isinstance(module, nn.Embedding)
            and module.num_embeddings == count
            and "query" in path.rpartition(".")[2]
            for path, module in self.model.named_modules()
        )
