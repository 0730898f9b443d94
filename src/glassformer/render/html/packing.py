"""Bytes as text that may stand anywhere in a page.

In:   bytes.
Out:  deflated, then written with 91 letters: printable ASCII without `<`, `>` and `&`: no tag, comment or
      entity can begin in it, whatever the bytes are. Two letters hold 13 bits: 1.23 letters a byte, where
      base64 takes 1.33.

web/src/api/packing.ts is the way back in the page; `unpack` is the one in Python.
"""

import zlib

import numpy as np

_LETTERS = np.array([each for each in range(ord("!"), ord("~") + 1) if each not in b"<>&"], dtype=np.uint8)
_BITS = 13  # of two letters: 91 * 91 is at least 2**13
_ALONE = 6  # bits of a last letter without a second
_NUMBERS = np.arange(1 << _BITS)
_PAIRS = np.stack((_LETTERS[_NUMBERS // 91], _LETTERS[_NUMBERS % 91]), axis=1).view(np.uint16)[
    :, 0
]  # (number,)


def pack(data: bytes, level: int = 1) -> bytes:
    """Level 1 for numbers, of which there are many and which hardly shrink further; 9 for words."""
    squeezer = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL + 1)
    return write_letters(squeezer.compress(data) + squeezer.flush())


def unpack(text: bytes) -> bytes:
    """What was packed."""
    return zlib.decompress(read_letters(text), -zlib.MAX_WBITS)


def write_letters(data: bytes) -> bytes:
    """Bits from the lowest of the first byte on, 13 to a pair of letters; up to 6 left over take one."""
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


def read_letters(text: bytes) -> bytes:
    """The bytes that were written so."""
    digits = np.searchsorted(_LETTERS, np.frombuffer(text, dtype=np.uint8))
    pairs, alone = divmod(len(text), 2)
    numbers = digits[: 2 * pairs : 2] * 91 + digits[1 : 2 * pairs : 2]
    bits = (numbers[:, None] >> np.arange(_BITS) & 1).reshape(-1)  # (pair, bit), the lowest first
    last = digits[-1] >> np.arange(_ALONE) & 1 if alone else bits[:0]
    return np.packbits(np.concatenate((bits, last)).astype(np.uint8), bitorder="little").tobytes()[
        : (len(bits) + len(last)) // 8
    ]
