"""Folders of models on the disk: which files belong to one, and how a new one takes the place of an old one.

In:   a folder's path.
Out:  a temporary sibling to write into, which becomes the folder when nothing went wrong.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from glassformer.errors import CheckpointError

TOKENIZER_FILES = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
    "merges.txt", "vocab.txt", "spiece.model", "tokenizer.model", "sentencepiece.bpe.model", "source.spm",
    "target.spm",
)  # fmt: skip
WEIGHT_FILES = ("model.safetensors", "model-*-of-*.safetensors", "model.safetensors.index.json")
CONFIG = "config.json"  # without it a folder is no model: removed first, put back last


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """A new folder beside this one, whose files take their places at the end, or not at all."""
    parent = folder.absolute().parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=parent))
    except OSError as error:
        raise CheckpointError("weights.cannot_write_in", folder=parent, reason=error.strerror) from error
    try:
        yield new
        new.chmod(0o755)  # a temporary folder is for its owner only
        _put_in_place(new, folder)
    except (OSError, SafetensorError, UnicodeError) as error:
        raise CheckpointError("weights.cannot_write", folder=folder, reason=error) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _put_in_place(new: Path, folder: Path) -> None:
    if not folder.exists():
        new.rename(folder)
        return
    files = sorted(path.name for path in new.iterdir())
    old_weights = {path.name for pattern in WEIGHT_FILES for path in folder.glob(pattern)}
    in_one_step = old_weights == {"model.safetensors"} and "model.safetensors" in files and _same(new, folder)
    if not in_one_step:
        (folder / CONFIG).unlink(missing_ok=True)
    for name in old_weights - set(files):
        (folder / name).unlink()
    for name in sorted(files, key=lambda name: name == CONFIG):
        os.replace(new / name, folder / name)


def _same(new: Path, folder: Path) -> bool:
    config = folder / CONFIG
    return config.is_file() and config.read_bytes() == (new / CONFIG).read_bytes()
