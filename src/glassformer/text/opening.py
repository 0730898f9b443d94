"""Tokenizers opened or wrapped: from a model folder, the `tokenizers` library, or transformers.

In:   a folder, a `tokenizers.Tokenizer`, or a tokenizer object of transformers.
Out:  a `Tokenizer`.
"""

import json
from pathlib import Path
from typing import Any

import tokenizers

from glassformer.errors import CheckpointError, InputError
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
    settings = _read_json(folder / "special_tokens_map.json") | _read_json(folder / "tokenizer_config.json")
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


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError("text.bad_json", path=path, reason=error) from error
    if not isinstance(content, dict):
        raise CheckpointError("text.not_an_object", path=path, kind=type(content).__name__)
    return content
