"""Pictures as an encoder reads them: patches, each a row of pixels times a matrix, with a place in two
dimensions.

In:   pixels (batch, channel, row, column), scaled as the configuration says: by default from -1 to 1.
Out:  vectors (batch, token, width): a class token where there is one, then the patches row by row.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.model.layers import build_norm
from glassformer.model.linear import Linear
from glassformer.model.positions import RotaryPositions, Rotation, sinusoidal_table


def cut_patches(pixels: Tensor, size: int) -> Tensor:
    """(B, C, H, W) to (B, patch, C · size · size), row by row."""
    return F.unfold(pixels, size, stride=size).transpose(1, 2)


def grid_table(grid: int, width: int) -> Tensor:
    """Sinusoidal positions in two dimensions: half of the features for the row, half for the column."""
    line = sinusoidal_table(grid, width // 2)
    rows, columns = line[:, None].expand(-1, grid, -1), line[None].expand(grid, -1, -1)
    return torch.cat((rows, columns), dim=-1).flatten(0, 1)  # (grid · grid, width)


class GridPositions(nn.Module):
    """The fixed table of a grid; a class token, in front, has no place and gets zeros."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        table = F.pad(grid_table(config.grid, config.width), (0, 0, int(config.class_token), 0))
        self.register_buffer("table", table, persistent=False)

    def forward(self, positions: Tensor) -> Tensor:
        table: Tensor = self.get_buffer("table")
        return table[positions]


class GridRotation(RotaryPositions):
    """RoPE in two dimensions: half of the pairs turn with the row, half with the column."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config.head_width // 2)
        self.grid = config.grid
        self.first = int(config.class_token)  # which is not turned

    def forward(self, positions: Tensor) -> Rotation:
        cells = (positions - self.first).clamp(min=0)
        rows, columns = super().forward(cells // self.grid), super().forward(cells % self.grid)
        return Rotation(*(torch.cat(pair, dim=-1) for pair in zip(rows, columns, strict=True)))


class PatchEmbeddings(nn.Module):
    """Patch + position, with a class token in front where the configuration has one."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.shape = (3 if config.color else 1, config.picture_size, config.picture_size)
        self.tokens = config.grid**2 + int(config.class_token)
        self.patches = nn.Identity()  # window: (B, patch, C · size · size), the pixels of each
        self.projection = Linear(self.shape[0] * config.patch_size**2, config.width)
        self.class_vector = nn.Parameter(torch.zeros(config.width)) if config.class_token else None
        self.positions: nn.Module | None = None
        if config.positions == "learned":
            self.positions = nn.Embedding(self.tokens, config.width)
        elif config.positions == "sinusoidal":
            self.positions = GridPositions(config)
        self.norm = build_norm(config, config.width) if config.embedding_norm else None

    def forward(self, pixels: Tensor, real: Tensor | None = None) -> Tensor:
        del real  # a picture is never padded
        self.check(pixels)
        patches = self.patches(cut_patches(pixels.to(self.projection.weight.dtype), self.config.patch_size))
        hidden = self.projection(patches)
        if self.class_vector is not None:
            hidden = torch.cat((self.class_vector.expand(len(hidden), 1, -1), hidden), dim=1)
        if self.positions is not None:
            hidden = hidden + self.positions(torch.arange(self.tokens, device=pixels.device))
        if self.norm is not None:
            hidden = self.norm(hidden)
        return F.dropout(hidden, self.config.dropout, self.training)

    def check(self, pixels: Tensor) -> None:
        """Refuse what is no batch of pictures of the right size."""
        if pixels.dim() != 4 or tuple(pixels.shape[1:]) != self.shape or not pixels.is_floating_point():
            expected = ("batch", *self.shape)
            raise InputError(
                "model.pixels", type=pixels.dtype, shape=str(tuple(pixels.shape)), expected=str(expected)
            )

    def count(self, pixels: Tensor) -> int:
        """How many tokens a batch has."""
        self.check(pixels)
        return self.tokens
