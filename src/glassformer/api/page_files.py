"""The built page: files of one folder, compressed once, never a byte from outside it.

In:   a path, and the encodings that a client accepts.
Out:  PageFile: the file with the headers of its response. Those whose names carry a
      hash may be kept for ever.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from glassformer.api.encodings import IMMUTABLE, REVALIDATE, Encoded, Encoding, choose_encoding, compress

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".map": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}
_ALIASES = {"": "index.html", "favicon.ico": "icon.svg"}  # what browsers ask for by themselves
_HASHED = re.compile(r"-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$")


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file, as one client gets it."""

    name: Path  # the requested path, which may be a symbolic link
    path: Path
    encoding: Encoding
    headers: dict[str, str]

    @property
    def mark(self) -> str:
        """Its ETag."""
        return self.headers["etag"]

    def read_mark(self) -> str | None:
        """The ETag that it has now; None where it is gone."""
        try:
            return _mark(self.name.stat(), self.encoding)
        except OSError:
            return None

    def read(self) -> Encoded:
        """Its bytes, compressed."""
        kind = KINDS.get(self.path.suffix, "application/octet-stream")
        return compress(self.path.read_bytes(), kind, self.encoding, 9)


def find_page_file(folder: Path, path: str, accepted: str) -> PageFile | None:
    """The file that an address names; None where there is none."""
    root, name = folder.resolve(), _ALIASES.get(path, path)
    file = find_file(root, name)
    if file is None:
        return None
    encoding = choose_encoding(accepted)
    keep = IMMUTABLE if path.startswith("assets/") and _HASHED.search(path) else REVALIDATE
    headers = {"cache-control": keep, "etag": _mark(file.stat(), encoding), "vary": "Accept-Encoding"}
    return PageFile(root / name, file, encoding, headers)


def _mark(state: os.stat_result, encoding: Encoding) -> str:
    return f'"{state.st_mtime_ns:x}-{state.st_size:x}-{encoding}"'


def find_file(root: Path, path: str) -> Path | None:
    """The file of this path inside a folder; None for anything else, also behind links that lead outside."""
    hidden = any(part.startswith(".") for part in path.split("/"))
    if hidden or path.startswith("/") or "\0" in path or "\\" in path:
        return None
    try:
        file = (root / path).resolve()
        return file if file.is_relative_to(root) and file.is_file() else None
    except (OSError, ValueError):
        return None
