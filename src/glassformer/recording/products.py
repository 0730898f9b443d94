"""Matrix products in small blocks: one thread, no surprises.

In:   query vectors (query, width) and key vectors (key, width).
Out:  their dot products (query, key).

A large product makes BLAS start a thread for every core and wait for them by spinning; on a busy machine that
cost twenty times the product itself. Products of 64 x 64 stay below the size at which it does so, run as fast
as one large product on one thread, and leave the threads to the caller.
"""

from typing import Any

import numpy as np

from glassformer.recording.arrays import Floats

BLOCK = 64  # rows and columns of one small product


def arrange_keys(keys: Floats, precision: type[np.floating[Any]]) -> Floats:
    """Keys (key, width) as (block, width, 64), zeros after the last: the layout that `multiply` reads."""
    count, width = keys.shape
    blocks = -(-count // BLOCK)
    padded = np.zeros((blocks * BLOCK, width), dtype=precision)
    padded[:count] = keys
    return np.ascontiguousarray(padded.reshape(blocks, BLOCK, width).swapaxes(1, 2))


def multiply(queries: Floats, arranged: Floats) -> Floats:
    """Dot products of queries (query, width) with arranged keys: (query, block * 64)."""
    count, width = queries.shape
    height = min(BLOCK, max(count, 1))
    panels = -(-count // height)
    padded = queries
    if panels * height != count:
        padded = np.zeros((panels * height, width), dtype=queries.dtype)
        padded[:count] = queries
    blocks = arranged.shape[0]
    products = np.empty((panels * height, blocks * BLOCK), dtype=arranged.dtype)
    left = padded.reshape(panels, 1, height, width)
    out = products.reshape(panels, height, blocks, BLOCK).swapaxes(1, 2)  # (panel, block, height, 64)
    np.matmul(left, arranged[None], out=out)
    return products[:count]
