"""From a name to a folder: a path, a model that ships with us (`zoo/…`), or one fetched from the hub.

In:   a name.
Out:  a folder on this machine; or one sentence why there is none.

The hub is huggingface_hub's: HF_ENDPOINT, HF_HOME, HF_TOKEN and HF_HUB_OFFLINE mean what they mean there.
"""

import re
from pathlib import Path

from glassformer.errors import CheckpointError
from glassformer.registry import suggest
from glassformer.weights.folder import TOKENIZER_FILES

LONGEST_NAME = 96  # on the hub
ZOO = Path(__file__).parent.parent / "zoo"
WANTED = (  # and nothing else: no pickles, no code, no weights of other frameworks
    "config.json",
    "generation_config.json",
    "preprocessor_config.json",
    "model.safetensors",
    "model.safetensors.index.json",
    "model-*-of-*.safetensors",
    *TOKENIZER_FILES,
)


def find_folder(name: str | Path) -> Path:
    """The folder of a model; what is not on this machine yet is fetched from the hub."""
    if not str(name).strip():
        raise CheckpointError("The name of the model is empty; give a folder, or a name on the hub.")
    path = _find_path(name)
    if path.is_dir():
        return path
    if path.exists():
        raise CheckpointError(f"{name} is a file; give the folder of the model that it belongs to.")
    words = str(name)
    if words.startswith("zoo/"):
        return _find_in_zoo(words.removeprefix("zoo/"))
    if _is_path(words):
        raise CheckpointError(f"There is no folder {words!r}; check the path.")
    return _fetch(words)


def could_be_model(word: str) -> bool:
    """Whether a word may name a model: a path, or a name as the hub has them; no sentence does."""
    if not word.strip():
        return False
    if not _is_path(word) or word.startswith(("/", "./", "../", "~/")):
        return True
    parted = ("/" in word or "\\" in word) and not re.search(r"\s", word)
    return parted or _find_path(word).exists()


def _find_path(name: str | Path) -> Path:
    """As a path, with ~ for the home where there is one; what can be no path at all is refused."""
    try:
        path = Path(name).expanduser()
    except RuntimeError:  # nobody has that home
        path = Path(name)
    try:
        path.exists()
    except (OSError, ValueError):
        return Path("no such path, and too long for one")
    return path


def _find_in_zoo(name: str) -> Path:
    models = sorted(path.name for path in ZOO.glob("*") if (path / "config.json").is_file())
    if name in models:
        return ZOO / name
    what = suggest(name, models) if models else " This installation has none at all."
    raise CheckpointError(f"The zoo has no model called {name!r}.{what}")


def _is_path(name: str) -> bool:
    """Hub names are `model` or `owner/model`, plain letters and digits; anything else was meant as a path."""
    word = r"\w([\w.-]*\w)?"
    named = re.fullmatch(f"{word}(/{word})?", name, re.ASCII) and not re.search(r"--|\.\.", name)
    return not named or len(name) > LONGEST_NAME


def _fetch(name: str) -> Path:
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError, RepositoryNotFoundError

    hub = constants.ENDPOINT
    try:
        folder = Path(snapshot_download(name, allow_patterns=list(WANTED)))
    except GatedRepoError as error:
        raise CheckpointError(
            f"{name} is gated: ask for access at {hub}/{name}, then set HF_TOKEN."
        ) from error
    except RepositoryNotFoundError as error:
        raise CheckpointError(
            f"There is no folder {name!r} here and no public model of that name at {hub}. "
            "Check the spelling; for a private model set HF_TOKEN."
        ) from error
    except LocalEntryNotFoundError as error:
        raise CheckpointError(_why_absent(name, hub, constants.HF_HUB_OFFLINE)) from error
    except Exception as error:  # of the HTTP library, which differs between versions of huggingface_hub
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CheckpointError(f"Fetching {name} from {hub} failed: {reason}. Try again later.") from error
    if not any(folder.glob("*.safetensors")):
        raise CheckpointError(
            f"{name} has no safetensors at {hub}, only formats refused here: a pickle can run any code "
            "when it is opened. If you trust it, convert it once with transformers: "
            f"AutoModel….from_pretrained({name!r}).save_pretrained(folder, safe_serialization=True)."
        )
    return folder


def _why_absent(name: str, hub: str, offline: bool) -> str:
    if offline:
        return (
            f"{name} was never fetched, and HF_HUB_OFFLINE forbids fetching it now. "
            "Unset HF_HUB_OFFLINE, or give a folder."
        )
    return (
        f"{name} is not on this machine, and {hub} cannot be reached. "
        "Check the connection (HF_ENDPOINT names the hub), or give a folder."
    )
