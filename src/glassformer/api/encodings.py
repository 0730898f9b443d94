"""How the body of a response is encoded, and how long browsers may keep it.

In:   bytes, and the encodings that a client accepts.
Out:  Encoded, and its response.
"""

import gzip
from dataclasses import dataclass
from typing import Literal

import zstandard
from starlette.responses import Response

Encoding = Literal["zstd", "gzip", "identity"]

IMMUTABLE = "private, max-age=604800, immutable"  # a week
REVALIDATE = "private, no-cache"
NO_STORE = "no-store"
_SHORT = 512  # bytes that are not worth compressing


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoded body."""

    body: bytes
    kind: str  # its media type
    encoding: Encoding
    mark: str = ""  # ETag, where it is made of the body alone
    state: str | None = None  # of what it describes, when it was made
    total: int | None = None  # of a list of which this is a page


def choose_encoding(accepted: str) -> Encoding:
    """zstd if the client accepts it, else gzip, else none."""
    offers = {}
    for part in accepted.lower().split(","):
        name, _, words = part.strip().partition(";")
        offers[name.strip()] = words.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    preferred: tuple[Encoding, ...] = ("zstd", "gzip")
    for name in preferred:
        if offers.get(name, offers.get("*", False)):
            return name
    return "identity"


def compress(data: bytes, kind: str, encoding: Encoding, level: int = 1) -> Encoded:
    """Compressed data; short ones, and pictures, stay as they are."""
    if kind == "image/png":
        return Encoded(data, kind, "identity")
    if encoding == "zstd" and len(data) >= _SHORT:
        packed = zstandard.ZstdCompressor(level=level).compress(data)
        # A copy: the result itself still occupies the memory of the unpacked data.
        return Encoded(bytes(memoryview(packed)), kind, "zstd")
    if encoding == "gzip" and len(data) >= _SHORT:
        return Encoded(gzip.compress(data, level, mtime=0), kind, "gzip")
    return Encoded(data, kind, "identity")


def send(encoded: Encoded, headers: dict[str, str]) -> Response:
    """An encoded body as a response."""
    if encoded.encoding != "identity":
        headers = {**headers, "content-encoding": encoded.encoding}
    return Response(encoded.body, media_type=encoded.kind, headers=headers)
