"""Bytes as text that can be put anywhere into an HTML page: deflate, then base-91.

In:   bytes.
Out:  text of 91 characters: printable ASCII without `<`, `>` and `&`, so that no tag, comment or entity can
      begin in it. Two characters hold 13 bits: 1.23 characters per byte, base64 needs 1.33 (decision 0024).

web/src/api/packing.ts decodes it.
"""

import zlib

import numpy as np

_LETTERS = np.array([each for each in range(ord("!"), ord("~") + 1) if each not in b"<>&"], dtype=np.uint8)
_BITS = 13  # of two characters: 91 * 91 is at least 2**13
_ALONE = 6  # bits of a last character without a second
_NUMBERS = np.arange(1 << _BITS)
_PAIRS = np.stack((_LETTERS[_NUMBERS // 91], _LETTERS[_NUMBERS % 91]), axis=1).view(np.uint16).ravel()


def pack(data: bytes, level: int = 1) -> bytes:
    """Level 1 for numbers, which hardly compress further; 9 for text."""
    compressor = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL + 1)
    return encode_base91(compressor.compress(data) + compressor.flush())


def encode_base91(data: bytes) -> bytes:
    """Bits from the lowest of the first byte on, 13 for a pair of characters; up to 6 left over take one."""
    pairs, rest = divmod(8 * len(data), _BITS)
    blocks = len(data) // _BITS + 1
    padded = np.zeros(blocks * _BITS, dtype=np.uint8)
    padded[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    bytes_of = np.zeros((_BITS + 1, blocks), dtype=np.uint32)  # (byte, block); a last one of nothing
    bytes_of[:_BITS] = padded.reshape(blocks, _BITS).T
    numbers = np.empty((blocks, 8), dtype=np.uint16)  # 13 bytes hold 8 numbers of 13 bits
    for place in range(8):
        byte, shift = divmod(_BITS * place, 8)
        three = bytes_of[byte] | bytes_of[byte + 1] << 8 | bytes_of[byte + 2] << 16
        numbers[:, place] = three >> shift & (1 << _BITS) - 1
    flat = numbers.reshape(-1)
    whole, last = flat[:pairs], flat[pairs : pairs + (rest > 0)]
    end = _LETTERS[last].tobytes() if rest <= _ALONE else _PAIRS[last].tobytes()
    return _PAIRS[whole].tobytes() + end
