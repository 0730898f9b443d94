"""Plug-ins of a recipe: files of a user that add tasks, schedules, optimisers, scores, metrics and callbacks.

In:   `plugins = ["mine.py"]` at the top of a recipe; paths start from the folder of the recipe.
Out:  their names in the registries. A run keeps a copy of each file and its digest: what it was trained with
      is known, and a file that has changed since is noticed.

A plug-in is a program: it runs with all rights of the user. Only a recipe on this machine may name one.
"""

import hashlib
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from glassformer.errors import ConfigurationError, GlassformerError, TrainingError
from glassformer.metrics import METRICS
from glassformer.registry import Registry
from glassformer.tasks.scores import SCORES
from glassformer.tasks.task import TASKS
from glassformer.training.callbacks.callback import CALLBACKS
from glassformer.training.commands import fork_command
from glassformer.training.optim import OPTIMISERS
from glassformer.training.schedules import SCHEDULES

PLUGINS = "plugins"  # the key of a recipe; in a run the folder with copies of the files
FILES, DIGESTS = "plugins.files", "plugins.digests"  # settings of a run
REGISTRIES: tuple[Registry[Any], ...] = (TASKS, SCHEDULES, OPTIMISERS, SCORES, METRICS, CALLBACKS)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file as it was when it was imported."""

    digest: str
    names: tuple[tuple[Registry[Any], str], ...]  # what it has registered


_loaded: dict[str, Loaded] = {}  # by the name of the file: a run has a copy elsewhere


def find_plugins(value: Any, folder: Path) -> list[str]:
    """The files that a recipe in a folder names, as absolute paths."""
    if not (isinstance(value, list) and all(isinstance(each, str) for each in value)):
        raise ConfigurationError("training.plugins.not_a_list", value=repr(value))
    paths = [(folder / Path(each).expanduser()).resolve() for each in value]
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        raise ConfigurationError("training.plugins.same_name", names=names)
    return list(map(str, paths))


def load_plugins(files: Sequence[str]) -> dict[str, str]:
    """Import files that were not imported yet, or have changed; the digest of each by its name."""
    return {Path(file).name: _load(Path(file)) for file in files}


def _load(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigurationError("training.plugins.unreadable", path=path, reason=error.strerror) from error
    digest = hashlib.sha256(content).hexdigest()
    before = _loaded.get(path.name)
    if before is not None and before.digest == digest:
        return digest
    for registry, name in () if before is None else before.names:
        registry.discard(name)
    known = [set(registry) for registry in REGISTRIES]
    try:
        _run(content, path)
    except GlassformerError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ConfigurationError("training.plugins.failed", path=path, reason=reason) from error
    finally:
        pairs = zip(REGISTRIES, known, strict=True)
        added = tuple((registry, name) for registry, names in pairs for name in set(registry) - names)
        _loaded[path.name] = Loaded("", added)  # to be imported again, unless it came to its end
    _loaded[path.name] = Loaded(digest, added)
    return digest


def _run(content: bytes, path: Path) -> None:
    """Run a file as a module of its own; no bytecode is left beside it."""
    module = ModuleType(f"glassformer_plugin_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look for their module there
    exec(compile(content, str(path), "exec"), module.__dict__)


def keep_plugins(files: Sequence[str], run: Path) -> None:
    """Copy the files of a new run into its folder."""
    for file in files:
        (run / PLUGINS).mkdir(exist_ok=True)
        copy = run / PLUGINS / Path(file).name
        if Path(file).resolve() != copy.resolve():
            shutil.copyfile(file, copy)


def find_kept(run: Path, files: Sequence[str], *, copies: bool) -> list[str]:
    """The files of a run: the user's while they are there; with `copies`, and otherwise, those it keeps."""
    return [
        file if Path(file).is_file() and not copies else str((run / PLUGINS / Path(file).name).resolve())
        for file in files
    ]


def check_unchanged(run: Path, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Refuse to go on with other code than that of the run."""
    for name in before.keys() | now.keys():
        if before.get(name) != now.get(name):
            copy, command = run / PLUGINS / name, fork_command(run)
            raise TrainingError("training.plugins.changed", name=name, copy=copy, command=command)
