"""How a piece of a vocabulary is shown to a person.

In:   a token as its vocabulary spells it: `Ġlove`, `▁love`, `##ing`, `<0xE6>`, `æ±`.
Out:  what it stands for: ` love`, ` love`, `##ing`, `‹E6›`, `‹E6›‹B1›`. Bytes that are no character by
      themselves (a Chinese character may be cut in three) are shown as what they are, never as `�`.
"""

import re
import unicodedata
from functools import cache, lru_cache
from typing import Any, Literal

Spelling = Literal["bytes", "spaces", "plain"]  # GPT-2's alphabet of bytes; ▁ for a space; the text itself

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def find_spelling(*parts: Any) -> Spelling:
    """How a vocabulary spells text, by its decoder and pre-tokenizer (of the `tokenizers` library)."""
    states = [part.__getstate__() for part in parts if part is not None]  # JSON as bytes, one part alone
    if any(b'"ByteLevel"' in state for state in states):
        return "bytes"
    return "spaces" if any("▁".encode() in state for state in states) else "plain"


@lru_cache(maxsize=1 << 16)
def display(piece: str, spelling: Spelling) -> str:
    """What a piece of the vocabulary stands for."""
    if spelling == "bytes":
        alphabet = byte_alphabet()
        if all(character in alphabet for character in piece):  # tokens added later are not spelt in bytes
            return display_bytes(bytes(alphabet[character] for character in piece))
    if spelling == "spaces":
        byte = _BYTE_TOKEN.fullmatch(piece)
        if byte is not None:
            return display_bytes(bytes.fromhex(byte.group(1)))
        piece = piece.replace("▁", " ")
    return "".join(name_private(character) for character in piece)


def display_bytes(data: bytes) -> str:
    """UTF-8 as text, and every byte that is no whole character as ‹E6›."""
    text = data.decode("utf-8", "surrogateescape")  # a stray byte becomes U+DC00 + byte
    return "".join(
        f"‹{ord(character) - 0xDC00:02X}›" if "\udc80" <= character <= "\udcff" else character
        for character in text
    )


def name_private(character: str) -> str:
    """A character that no font has (some vocabularies use them for their special tokens) by its number."""
    return f"‹U+{ord(character):04X}›" if unicodedata.category(character) == "Co" else character


@cache
def byte_alphabet() -> dict[str, int]:
    """The byte behind each letter of GPT-2's alphabet: printable ones as they are, others from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = sorted(set(range(0x100)) - set(printable))
    letters = {chr(byte): byte for byte in printable}
    return letters | {chr(0x100 + place): byte for place, byte in enumerate(moved)}
