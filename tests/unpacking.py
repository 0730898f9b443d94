"""Reads what an exported file holds, as web/src/api/packing.ts does."""

import zlib

import numpy as np

LETTERS = np.array([each for each in range(ord("!"), ord("~") + 1) if each not in b"<>&"], dtype=np.uint8)


def unpack(text: bytes) -> bytes:
    """The bytes that were packed."""
    return zlib.decompress(decode_base91(text), -zlib.MAX_WBITS)


def decode_base91(text: bytes) -> bytes:
    """Two letters hold 13 bits, the lowest first; a last letter alone holds 6."""
    digits = np.searchsorted(LETTERS, np.frombuffer(text, dtype=np.uint8))
    pairs, alone = divmod(len(text), 2)
    numbers = digits[: 2 * pairs : 2] * 91 + digits[1 : 2 * pairs : 2]
    bits = (numbers[:, None] >> np.arange(13) & 1).reshape(-1)  # (pair, bit)
    last = digits[-1] >> np.arange(6) & 1 if alone else bits[:0]
    every = np.concatenate((bits, last)).astype(np.uint8)
    return np.packbits(every, bitorder="little").tobytes()[: len(every) // 8]
