"""What data is, by its content: a short digest of arrays, the same however and wherever they are stored.

In:   named arrays, such as the tokens and labels of a split; a tokenizer; the code of a class.
Out:  a hexadecimal digest.
"""

import hashlib
import inspect
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
from numpy.typing import NDArray

from glassformer.text.tokenizer import Tokenizer

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


def identify_tokenizer(tokenizer: Tokenizer) -> str:
    """A digest of everything that a tokenizer saves, and of the library that runs it."""
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save(folder)
        return _hash_files(sorted(Path(folder).rglob("*")), tokenizers.__version__)


@lru_cache
def identify_code(kind: type[Any]) -> str:
    """A digest of the code that reads and tokenises, and of the files of a class, which may be a plug-in."""
    packages = Path(__file__).parent, Path(__file__).parents[1] / "tasks"
    files = {path for package in packages for path in package.glob("*.py")}
    for each in kind.__mro__:
        with suppress(TypeError):  # built in
            files.add(Path(inspect.getsourcefile(each) or ""))
    return _hash_files(sorted(files), kind.__qualname__)


def _hash_files(paths: Iterable[Path], start: str) -> str:
    digest = hashlib.sha256(start.encode())
    for path in paths:
        if path.is_file():
            digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:32]
