"""Attention to near keys alone: work that grows with the window, not with the square of the text.

In:   queries (batch, head, token, width), keys and values (batch, key head, token, width) of the same tokens.
Out:  softmax(factor · Q Kᵀ) V over keys nearer than the window, of the shape of the queries.

Queries are cut into blocks; each block is given the stretch of keys that it can reach. All blocks are rows of
one call of the fused kernel.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

BLOCK = 64  # queries in a block, at least: smaller ones would be more calls than work


def attend_locally(
    queries: Tensor, keys: Tensor, values: Tensor, window: int, causal: bool, factor: float, dropout: float
) -> Tensor:
    """The product by torch's fused kernel, block by block where a block cannot reach all keys."""
    length, rows = queries.shape[-2], len(queries)
    block = max(window, BLOCK)
    before, after = window - 1, 0 if causal else window - 1
    reach = before + block + after  # keys that a block is given
    grouped = keys.shape[1] < queries.shape[1]
    if reach >= length:
        near = find_near(length, length, 0, window, causal, queries.device)
        return F.scaled_dot_product_attention(
            queries, keys, values, near, dropout, scale=factor, enable_gqa=grouped
        )
    blocks = -(-length // block)
    filled = blocks * block - length  # queries that fill the last block
    cut = F.pad(queries, (0, 0, 0, filled)).unflatten(2, (blocks, block)).transpose(1, 2).flatten(0, 1)
    near_keys, near_values = (
        F.pad(states, (0, 0, before, after + filled))
        .unfold(2, reach, block)  # (B, key head, block, width, reach)
        .permute(0, 2, 1, 4, 3)
        .flatten(0, 1)
        for states in (keys, values)
    )
    near = find_near(block, reach, before, window, causal, queries.device)
    mixed = F.scaled_dot_product_attention(
        cut,
        near_keys,
        near_values,
        (near & _find_inside(length, blocks, block, reach, before, queries.device)).repeat(rows, 1, 1, 1),
        dropout,
        scale=factor,
        enable_gqa=grouped,
    )  # (B · block, H, T of a block, width)
    return mixed.unflatten(0, (rows, blocks)).transpose(1, 2).flatten(2, 3)[:, :, :length]


def find_near(queries: int, keys: int, start: int, window: int, causal: bool, device: torch.device) -> Tensor:
    """True where a key is nearer than `window`, and not ahead if causal (T, S); query 0 is at `start`."""
    distance = torch.arange(queries, device=device)[:, None] + start - torch.arange(keys, device=device)
    near = distance.abs() < window
    return near & (distance >= 0) if causal else near


def _find_inside(
    length: int, blocks: int, block: int, reach: int, before: int, device: torch.device
) -> Tensor:
    """True at keys that exist (block, 1, T, S); queries that fill the last block may see all of them.

    Rows that see nothing would become NaN, and with them the gradients of all.
    """
    first = torch.arange(blocks, device=device)[:, None, None, None] * block
    place = first + torch.arange(reach, device=device) - before
    query = first + torch.arange(block, device=device)[:, None]
    return ((place >= 0) & (place < length)) | (query >= length)
