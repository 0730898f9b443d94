"""From a name to a folder: a path, a shipped model (`zoo/…`), or a model downloaded from the hub.

In:   a name.
Out:  a folder on this machine, or an error that says why there is none.

The hub is that of huggingface_hub; HF_ENDPOINT, HF_HOME, HF_TOKEN and HF_HUB_OFFLINE work as there.
"""

import math
import re
from fnmatch import fnmatch
from pathlib import Path

from glassformer.errors import CheckpointError
from glassformer.registry import suggestion
from glassformer.weights.folder import TOKENIZER_FILES

LONGEST_NAME = 96  # on the hub
ZOO = Path(__file__).parent.parent / "zoo"
DOWNLOADED = (  # nothing else: no pickles, no code, no weights of other frameworks
    "config.json",
    "generation_config.json",
    "preprocessor_config.json",
    "model.safetensors",
    "model.safetensors.index.json",
    "model-*-of-*.safetensors",
    *TOKENIZER_FILES,
)


def find_folder(name: str | Path) -> Path:
    """The folder of a model; it is downloaded from the hub if it is not on this machine."""
    if not str(name).strip():
        raise CheckpointError("weights.hub.empty_name")
    path = _find_path(name)
    if path is not None and path.is_dir():
        return path
    if path is not None:
        raise CheckpointError("weights.hub.is_file", name=name)
    text = str(name)
    if text.startswith("zoo/"):
        return _find_in_zoo(text.removeprefix("zoo/"))
    if _is_path(text):
        raise CheckpointError("weights.hub.no_folder", name=text)
    return _download(text)


def is_on_hub(name: str) -> bool:
    """Whether `find_folder` would ask the hub for a model of this name."""
    return _find_path(name) is None and not name.startswith("zoo/") and not _is_path(name)


def could_be_model(text: str) -> bool:
    """Whether a text may name a model: a path, or a name on the hub; a sentence is neither."""
    if not text.strip():
        return False
    if not _is_path(text) or text.startswith(("/", "./", "../", "~/")):
        return True
    has_separator = ("/" in text or "\\" in text) and not re.search(r"\s", text)
    return has_separator or _find_path(text) is not None


def _find_path(name: str | Path) -> Path | None:
    """The existing file or folder with this name, `~` expanded; None where there is none."""
    try:
        path = Path(name).expanduser()
    except RuntimeError:  # no such user
        path = Path(name)
    try:
        return path if path.exists() else None
    except (OSError, ValueError):  # too long, or a zero byte
        return None


def _find_in_zoo(name: str) -> Path:
    models = sorted(path.name for path in ZOO.glob("*") if (path / "config.json").is_file())
    if name in models:
        return ZOO / name
    raise CheckpointError("weights.hub.not_in_zoo", name=name, suggestion=suggestion(name, models))


def _is_path(name: str) -> bool:
    """Hub names are `model` or `owner/model`, letters and digits; anything else is meant as a path."""
    word = r"\w([\w.-]*\w)?"
    named = re.fullmatch(f"{word}(/{word})?", name, re.ASCII) and not re.search(r"--|\.\.", name)
    return not named or len(name) > LONGEST_NAME


def check_download(name: str, most: int) -> None:
    """CheckpointError where what would be downloaded has more bytes, or nobody can say how many."""
    from huggingface_hub import HfApi, constants

    if constants.HF_HUB_OFFLINE:
        return
    try:
        files = HfApi().model_info(name, files_metadata=True, timeout=30).siblings or []
    except Exception as error:  # of the HTTP library, which differs between versions of huggingface_hub
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CheckpointError(
            "weights.hub.failed", name=name, hub=constants.ENDPOINT, reason=reason
        ) from error
    wanted = [each for each in files if any(fnmatch(each.rfilename, pattern) for pattern in DOWNLOADED)]
    sizes = [each.size for each in wanted]
    size = math.inf if None in sizes else sum(each or 0 for each in sizes)
    if size > most:
        raise CheckpointError("weights.hub.too_large", name=name, size=size / 1e9, most=most / 1e9)


def _download(name: str) -> Path:
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError, RepositoryNotFoundError

    hub = constants.ENDPOINT
    try:
        folder = Path(snapshot_download(name, allow_patterns=list(DOWNLOADED)))
    except GatedRepoError as error:
        raise CheckpointError("weights.hub.gated", name=name, hub=hub) from error
    except RepositoryNotFoundError as error:
        raise CheckpointError("weights.hub.unknown", name=name, hub=hub) from error
    except LocalEntryNotFoundError as error:
        code = "weights.hub.offline" if constants.HF_HUB_OFFLINE else "weights.hub.unreachable"
        raise CheckpointError(code, name=name, hub=hub) from error
    except Exception as error:  # of the HTTP library, which differs between versions of huggingface_hub
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CheckpointError("weights.hub.failed", name=name, hub=hub, reason=reason) from error
    if not any(folder.glob("*.safetensors")):
        raise CheckpointError("weights.hub.only_pickles", name=name, hub=hub)
    return folder
