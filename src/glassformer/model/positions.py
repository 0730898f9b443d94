"""Where a token stands: sinusoidal and learned tables, rotations of queries and keys, a bias by distance.

In:   positions (token,) or (batch, token) as whole numbers.
Out:  vectors to add to embeddings, angles to turn queries and keys by, or a bias for scores.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from glassformer.config import ModelConfig

WAVELENGTH = 10_000.0  # the base of section 3.5; the longest sine is 2π times this


def count_positions(ids: Tensor, real: Tensor | None) -> Tensor:
    """0, 1, 2 … (token,), or counted over real tokens (batch, token), where padding may come first."""
    if real is None:
        return torch.arange(ids.shape[1], device=ids.device)
    return (real.long().cumsum(1) - 1).clamp(min=0)


def frequencies(width: int) -> Tensor:
    """How fast each pair of features turns, from 1 down to almost 1 / WAVELENGTH. (width / 2,)"""
    return WAVELENGTH ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)


def sinusoidal_table(length: int, width: int, *, halves: bool = False) -> Tensor:
    """PE of section 3.5: sine and cosine alternate, or stand in two halves as in Marian. (length, width)"""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    angle = position * frequencies(width)  # (length, width / 2)
    pair = (angle.sin(), angle.cos())
    table = torch.cat(pair, dim=-1) if halves else torch.stack(pair, dim=-1).flatten(1)
    return table.float()


class SinusoidalPositions(nn.Module):
    """A fixed table: nothing to learn, and a shift by k is a rotation of each pair."""

    def __init__(self, length: int, width: int, *, halves: bool) -> None:
        super().__init__()
        self.register_buffer("table", sinusoidal_table(length, width, halves=halves), persistent=False)

    def forward(self, positions: Tensor) -> Tensor:
        table: Tensor = self.get_buffer("table")
        return table[positions]


class Rotation(NamedTuple):
    """The angles of rotary positions: cosine and sine, (token, K/2) or (batch, 1, token, K/2)."""

    cosine: Tensor
    sine: Tensor


class RotaryPositions(nn.Module):
    """RoPE: pairs of features turn by an angle proportional to position, so q·k knows distance only."""

    def __init__(self, head_width: int) -> None:
        super().__init__()
        self.head_width = head_width
        self.register_buffer("frequency", frequencies(head_width).float(), persistent=False)

    def forward(self, positions: Tensor) -> Rotation:
        frequency: Tensor = self.get_buffer("frequency")
        angle = positions[..., None] * frequency  # (…, token, K/2)
        if positions.dim() == 2:
            angle = angle[:, None]  # (B, 1, token, K/2): the same for every head
        return Rotation(angle.cos(), angle.sin())

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "RotaryPositions":
        """Never below single precision: in half of it, far positions would be turned by wrong angles."""
        super()._apply(fn, recurse)
        moved = self.get_buffer("frequency")
        kind = torch.promote_types(moved.dtype, torch.float32)
        self.frequency = frequencies(self.head_width).to(moved.device, kind)
        return self


def rotate(vectors: Tensor, rotation: Rotation) -> Tensor:
    """Turn feature i together with feature i + K/2, as Llama and GPT-NeoX pair them."""
    first, second = vectors.chunk(2, dim=-1)
    cosine, sine = rotation.cosine.to(vectors.dtype), rotation.sine.to(vectors.dtype)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


class RelativeBias(nn.Module):
    """One learned number for each head and bucket of distance (T5): exact when near, logarithmic when far."""

    def __init__(self, heads: int, *, causal: bool, buckets: int = 32, farthest: int = 128) -> None:
        super().__init__()
        self.causal = causal
        self.buckets = buckets
        self.farthest = farthest
        self.table = nn.Embedding(buckets, heads)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """From positions (…, T) and (…, S) to a bias (1 or B, H, T, S)."""
        bias: Tensor = self.table(self.bucket(keys[..., None, :] - queries[..., :, None]))  # (…, T, S, H)
        bias = bias.movedim(-1, -3)
        return bias if bias.dim() == 4 else bias[None]

    def bucket(self, distance: Tensor) -> Tensor:
        """The bucket of key − query: half of them for each direction, unless there is only the past."""
        buckets, start = self.buckets, torch.zeros_like(distance)
        if self.causal:
            distance = (-distance).clamp(min=0)
        else:
            buckets //= 2
            start = (distance > 0) * buckets
            distance = distance.abs()
        exact = buckets // 2
        share = (distance.clamp(min=1).float() / exact).log() / math.log(self.farthest / exact)
        far = (exact + (share * (buckets - exact)).long()).clamp(max=buckets - 1)
        return start + torch.where(distance < exact, distance, far)


def alibi_slopes(heads: int) -> Tensor:
    """How steeply the score of each head falls with distance (head,): 2^(-8/heads), and its powers.

    Where the number of heads is no power of two: those of the next smaller one, then every second of the next
    larger one, as the authors of ALiBi have it.
    """
    smaller = 2 ** (heads.bit_length() - 1)
    slopes = 2.0 ** (-8 / smaller * torch.arange(1, smaller + 1, dtype=torch.float64))
    between = 2.0 ** (-4 / smaller * (2 * torch.arange(heads - smaller, dtype=torch.float64) + 1))
    return torch.cat((slopes, between))


class AlibiBias(nn.Module):
    """ALiBi: each head's scores fall with distance by a fixed slope; nothing to learn (Press et al. 2022).

    Both directions alike: an encoder cannot tell a text from its mirror image.
    """

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.register_buffer("slopes", alibi_slopes(heads).float(), persistent=False)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """From positions (…, T) and (…, S) to a bias (1 or B, H, T, S)."""
        slopes: Tensor = self.get_buffer("slopes")
        distance = (keys[..., None, :] - queries[..., :, None]).abs()  # (…, T, S)
        bias = -slopes[:, None, None] * distance[..., None, :, :]  # (…, H, T, S)
        return bias if bias.dim() == 4 else bias[None]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "AlibiBias":
        """Never below single precision, as `RotaryPositions`."""
        super()._apply(fn, recurse)
        moved = self.get_buffer("slopes")
        kind = torch.promote_types(moved.dtype, torch.float32)
        self.slopes = alibi_slopes(self.heads).to(moved.device, kind)
        return self


def build_bias(config: ModelConfig, *, causal: bool) -> RelativeBias | AlibiBias | None:
    """What is added to the scores of self-attention, if anything."""
    if config.positions == "relative":
        return RelativeBias(config.heads, causal=causal)
    return AlibiBias(config.heads) if config.positions == "alibi" else None


def build_positions(config: ModelConfig, width: int, length: int) -> nn.Module | None:
    """What is added to embeddings, if anything: the other kinds of positions act inside attention."""
    match config.positions:
        case "sinusoidal" | "sinusoidal-halves":
            return SinusoidalPositions(length, width, halves=config.positions.endswith("halves"))
        case "learned":
            return nn.Embedding(length, width)
        case _:
            return None
