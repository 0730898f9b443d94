"""Tokenizers opened or wrapped: from a model folder, the `tokenizers` library, or transformers.

In:   a folder, a `tokenizers.Tokenizer`, or a tokenizer object of transformers.
Out:  a `Tokenizer`.
"""

from pathlib import Path
from typing import Any

import tokenizers

from glassformer.errors import CheckpointError, InputError
from glassformer.text.files import read_json
from glassformer.text.tokenizer import LibraryTokenizer, Tokenizer
from glassformer.text.transformers_tokenizer import TransformersTokenizer


def open_tokenizer(folder: str | Path) -> Tokenizer:
    """The tokenizer of a model folder: its `tokenizer.json`, or what transformers makes of other files."""
    folder = Path(folder)
    if not folder.is_dir():
        raise CheckpointError("text.no_folder", folder=folder)
    path = folder / "tokenizer.json"
    if not path.is_file():
        return _open_with_transformers(folder)
    try:
        library = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more precise
        raise CheckpointError("text.bad_tokenizer", path=path, reason=error) from error
    settings: dict[str, Any] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        settings |= read_json(folder / name) if (folder / name).is_file() else {}
    return LibraryTokenizer(library, settings)


def wrap_tokenizer(tokenizer: Any) -> Tokenizer:
    """Any tokenizer as one of ours: our own, one of the `tokenizers` library, a live one of transformers."""
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    if isinstance(tokenizer, tokenizers.Tokenizer):
        return LibraryTokenizer(tokenizers.Tokenizer.from_str(tokenizer.to_str()))  # theirs stays as it is
    if callable(tokenizer) and hasattr(tokenizer, "convert_ids_to_tokens"):
        return TransformersTokenizer(tokenizer)
    raise InputError("text.not_a_tokenizer", kind=type(tokenizer).__name__)


def _open_with_transformers(folder: Path) -> Tokenizer:
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # a missing file, a missing package, a class that it does not know
        reason = " ".join(str(error).split())  # on one line
        raise CheckpointError("text.no_tokenizer", folder=folder, reason=reason) from error
    return wrap_tokenizer(tokenizer)
