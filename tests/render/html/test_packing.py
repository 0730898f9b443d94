"""Letters of an exported file: every byte comes back, and nothing in them can begin a tag."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from glassformer.render.html.packing import encode_base91, pack
from unpacking import decode_base91, unpack


@given(some.binary(max_size=200))
def test_bytes_come_back(data: bytes) -> None:
    text = encode_base91(data)
    assert decode_base91(text) == data
    assert not set(text) & set(b"<>&")
    assert all(ord("!") <= letter <= ord("~") for letter in text)


def test_every_length_and_every_pair_of_letters() -> None:
    random = np.random.default_rng(0)
    for length in (*range(40), 100_003):
        data = random.bytes(length)
        text = encode_base91(data)
        assert decode_base91(text) == data
        assert len(text) <= 16 * length / 13 + 2
    every = np.unpackbits(
        np.arange(8192, dtype="<u2").view(np.uint8).reshape(-1, 2), axis=1, bitorder="little"
    )
    numbers = np.packbits(every[:, :13].reshape(-1), bitorder="little").tobytes()  # all numbers of 13 bits
    text = encode_base91(numbers)
    assert len({text[place : place + 2] for place in range(0, len(text), 2)}) == 8192
    assert decode_base91(text) == numbers


def test_what_the_page_reads() -> None:
    """web/src/api/packing.test.ts reads the same letters."""
    assert encode_base91(b"Glassformer") == b"FUp)u3z^e-X^'#"


def test_hostile_words_are_letters() -> None:
    words = b"</script><!--<script>]]>&lt;" * 50
    for level in (0, 1, 9):  # 0 leaves words as they are
        text = pack(words, level)
        assert not set(text) & set(b"<>&\r\n\0")
        assert unpack(text) == words
