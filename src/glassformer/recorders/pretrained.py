"""Folders of models that are none of our networks: opened by transformers, recorded as they are.

In:   a folder with `config.json` and weights in safetensors; pickles and code from the folder are refused.
Out:  a `HuggingFaceSubject`.
"""

from pathlib import Path
from typing import Any

import torch

from glassformer.errors import CheckpointError
from glassformer.recorders.huggingface import HuggingFaceSubject
from glassformer.text.tokenizer import open_tokenizer


def open_pretrained(folder: str | Path, name: str | None = None) -> HuggingFaceSubject:
    """The model of a folder, of the architecture that its configuration names, and its tokenizer if any."""
    import transformers

    folder = Path(folder)
    try:
        config = transformers.AutoConfig.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
        named = (config.architectures or [None])[0]
        kind: Any = getattr(transformers, named or "", transformers.AutoModel)
        model = kind.from_pretrained(folder, local_files_only=True, use_safetensors=True, dtype=torch.float32)
    except Exception as error:  # whatever transformers raises: a missing file, an unknown architecture
        raise CheckpointError(
            f"{folder} cannot be opened by transformers: {error} Give a folder with config.json and "
            "model.safetensors, of an architecture that transformers knows."
        ) from error
    try:
        tokenizer = open_tokenizer(folder)
    except CheckpointError:
        tokenizer = None  # it still reads token ids, or pixels and sound
    return HuggingFaceSubject(model.eval(), tokenizer, name or folder.resolve().name)
