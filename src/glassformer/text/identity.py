"""What data is, by its content: a short digest of arrays, the same however and wherever they are stored.

In:   named arrays, such as the tokens and labels of a split.
Out:  a hexadecimal digest.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 20  # numbers that are converted at a time


def identify(arrays: Mapping[str, NDArray[Any]]) -> str:
    """A digest of names, shapes and values; whole numbers of any type count alike, and so do fractions."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        kind = "<f8" if array.dtype.kind == "f" else "<i8"
        digest.update(f"{name} {array.shape} {kind}\n".encode())
        flat = array.reshape(-1)
        for start in range(0, len(flat), BLOCK):
            digest.update(np.ascontiguousarray(flat[start : start + BLOCK], dtype=kind).data)
    return digest.hexdigest()[:32]
