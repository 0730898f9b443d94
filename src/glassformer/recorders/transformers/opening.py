"""Folders of models that are none of our networks: opened by transformers, recorded as they are.

In:   a folder with `config.json` and weights in safetensors; pickles and code from the folder are refused.
Out:  a `HuggingFaceSubject`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from glassformer.errors import CheckpointError
from glassformer.recorders.transformers.recorder import HuggingFaceSubject
from glassformer.text.opening import open_tokenizer


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
        with _quiet():
            model, report = kind.from_pretrained(
                folder,
                local_files_only=True,
                use_safetensors=True,
                dtype=torch.float32,
                output_loading_info=True,
            )
    except Exception as error:  # whatever transformers raises: a missing file, an unknown architecture
        raise CheckpointError(
            f"{folder} cannot be opened by transformers: {error} Give a folder with config.json and "
            "model.safetensors, of an architecture that transformers knows."
        ) from error
    try:
        tokenizer = open_tokenizer(folder)
    except CheckpointError:
        tokenizer = None  # it still reads token ids, or pixels and sound
    subject = HuggingFaceSubject(model.eval(), tokenizer, name or folder.resolve().name)
    subject.notes = _tell_missing(sorted(report["missing_keys"]), folder)
    return subject


def _tell_missing(names: Sequence[str], folder: Path) -> tuple[str, ...]:
    """A note on weights that transformers made up; inside a block they would change every map above it."""
    if not names:
        return ()
    inside = [name for name in names if any(part.isdigit() for part in name.split("."))]
    shown = ", ".join((inside or names)[:3]) + (" …" if len(inside or names) > 3 else "")
    if inside:
        raise CheckpointError(
            f"{folder} lacks {len(inside)} weights of the model's blocks ({shown}); their numbers would be "
            "random. Give the folder of the whole model."
        )
    return (f"weights outside the blocks that are not in the folder have random numbers: {shown}",)


@contextmanager
def _quiet() -> Iterator[None]:
    """Opening tells nothing on its way: what there is to tell stands in the evidence."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
