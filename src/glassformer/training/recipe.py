"""Recipes: a TOML file with everything that a model is made of, and the run that follows from it.

In:   a path, and changes to it such as "train.rate=3e-4".
Out:  a run in `runs/<name>/`, with a copy of the recipe.

Tables: [model] what network, or where to start from; [tokenizer] its vocabulary; [task] what to learn, from
which files; [batches]; [train]; [monitor].
"""

import json
import os
import shutil
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch

from glassformer.config import read_settings, read_toml
from glassformer.errors import ConfigurationError, InputError
from glassformer.registry import suggest
from glassformer.runlog import RECIPE, SCALARS, is_run
from glassformer.tasks.task import build_task, read_task
from glassformer.text.batches import BatchSettings
from glassformer.text.opening import open_tokenizer
from glassformer.text.tokenizer import Tokenizer
from glassformer.text.vocabulary import VocabularySettings, train_vocabulary
from glassformer.training.checkpoints import LAST
from glassformer.training.errors import TrainingError
from glassformer.training.loop import Outcome, Plan, run_loop
from glassformer.training.settings import MonitorSettings, TrainSettings
from glassformer.training.starting import build_network, check_evaluation, check_names
from glassformer.weights.hub import find_folder

TABLES = ("model", "tokenizer", "task", "batches", "train", "monitor")
SETTINGS, TOKENIZER, LOCK = "settings.json", "tokenizer", ".lock"
FREE = (  # what may be another when a run goes on: no loss depends on it
    "train.device",
    "train.parallel",
    "train.compile",
    "train.recompute",
    "train.log_every",
    "train.patience",
    "batches.prefetch",
    "monitor.tensorboard",
)
OPEN_ENDED = ("inverse-sqrt", "constant")  # schedules that do not know how many steps there are

Settings = TypeVar("Settings")


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe as read: its tables, and the settings in those that are the same for all."""

    name: str
    text: str
    tables: Mapping[str, Mapping[str, Any]]
    batches: BatchSettings
    train: TrainSettings
    monitor: MonitorSettings

    def settings(self) -> dict[str, Any]:
        """Every value by its full name, "train.steps"; defaults too."""
        resolved = {name: asdict(getattr(self, name)) for name in ("batches", "train", "monitor")}
        tables = {**self.tables, **resolved}
        return {f"{table}.{key}": value for table in TABLES for key, value in tables.get(table, {}).items()}


def read_recipe(path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe and change it; whatever cannot be is an error that names table and key."""
    path = Path(path)
    tables = read_toml(path)
    for override in overrides:
        _override(tables, override)
    for table, content in tables.items():
        if table not in TABLES:
            raise ConfigurationError(f"{path.name} has a table [{table}].{suggest(table, TABLES)}")
        if not isinstance(content, dict):
            raise ConfigurationError(f"{path.name} says {table} = {content!r}; wanted a table, [{table}].")
    if "task" not in tables:
        raise ConfigurationError(f"{path.name} has no table [task]: what is to be learnt, and from what?")
    _named("task", lambda: read_task(tables["task"]))
    _named("model", lambda: check_names(tables.get("model", {})))
    if "path" not in tables.get("tokenizer", {}):
        _read("tokenizer", VocabularySettings, tables)
    return Recipe(
        path.stem,
        path.read_text(encoding="utf-8"),
        tables,
        _read("batches", BatchSettings, tables),
        _read("train", TrainSettings, tables),
        _read("monitor", MonitorSettings, tables),
    )


def train(
    path: str | Path,
    overrides: Sequence[str] = (),
    *,
    resume: bool = False,
    runs: str | Path = "runs",
    name: str | None = None,
    silent: bool = False,
) -> Outcome:
    """Train what a recipe describes; with `resume` go on where a run of this name was, if there is one."""
    recipe = read_recipe(path, overrides)
    folder = Path(runs) / _check_name(name or recipe.name)
    first = os.environ.get("RANK", "0") == "0"
    if first:
        _check_free(folder, resume=resume)
    new = first and not (folder.is_dir() and any(folder.iterdir()))  # another process may have made it
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder, first=first), _leaving_nothing(folder, new=new):
        going_on = resume and (folder / SETTINGS).is_file()
        if going_on:
            _check_unchanged(recipe, folder)
        torch.manual_seed(recipe.train.seed)
        with _telling_of_data():
            tokenizer = _find_tokenizer(recipe, folder, going_on=going_on, first=first)
            task = _named(
                "task", lambda: build_task(recipe.tables["task"], tokenizer, seed=recipe.train.seed)
            )
        network, notes = build_network(recipe.tables.get("model", {}), task)
        _named("model", lambda: task.accept(network.config))
        if first:
            _named("train", lambda: check_evaluation(task, recipe.train))
        if first and not going_on:
            _write_down(recipe, folder)
        plan = Plan(task, network, recipe.batches, recipe.train, recipe.monitor, tuple(notes))
        return run_loop(plan, folder, resume=resume, silent=silent)


def _check_name(name: str) -> str:
    """A run is a folder among others: `runs` finds it there, and nowhere else."""
    if name in (".", "..") or Path(name).name != name:
        raise TrainingError(f"A run cannot be called {name!r}; wanted one word without slashes (--name).")
    return name


def _check_free(folder: Path, *, resume: bool) -> None:
    """Nothing of anybody else's is written over."""
    if is_run(folder) and not resume:
        raise TrainingError(
            f"{folder} holds a run already. Go on with it (--resume), or give the new one a --name."
        )
    if folder.is_dir() and not is_run(folder) and not (folder / LOCK).exists():
        other = next(folder.iterdir(), None)
        if other is not None:
            raise TrainingError(
                f"{folder} is no run and holds {other.name}; a run wants a folder of its own. "
                "Choose another --name."
            )


def _override(tables: dict[str, Any], override: str) -> None:
    """One "table.key=value"; a value that is no TOML is taken as text."""
    name, equals, value = override.partition("=")
    table, dot, key = name.strip().partition(".")
    if not equals or not dot or not key:
        raise ConfigurationError(f"{override!r} is no change; write table.key=value, as train.rate=3e-4.")
    if "." in key:
        inner = key.partition(".")[0]
        raise ConfigurationError(
            f"{override!r} reaches into {table}.{inner}, and --set changes nothing but the lines of a table "
            f"themselves; change [[{table}.{inner}]] in the recipe."
        )
    try:
        read = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        read = value
    content = tables.setdefault(table, {})
    if isinstance(content, dict):  # or it is refused when all tables are looked at
        content[key] = read


def _read(table: str, kind: type[Settings], tables: Mapping[str, Any]) -> Settings:
    return _named(table, lambda: read_settings(kind, tables.get(table, {})))


def _named(table: str, make: Any) -> Any:
    """What goes wrong with the settings of a table says which table."""
    try:
        return make()
    except ConfigurationError as error:
        raise ConfigurationError(f"[{table}] {error}") from error


def _find_tokenizer(recipe: Recipe, folder: Path, *, going_on: bool, first: bool) -> Tokenizer:
    """The run's own, that of the model to start from, one in a folder, or one learnt from the task's text."""
    table = dict(recipe.tables.get("tokenizer", {}))
    start, path = recipe.tables.get("model", {}).get("start"), table.pop("path", None)
    kept = folder / TOKENIZER
    if start is not None and recipe.tables.get("tokenizer"):
        raise ConfigurationError("[tokenizer] A model to start from has its tokenizer; leave this table out.")
    if path is not None and table:
        raise ConfigurationError(f"[tokenizer] `path` names a ready one; leave out {', '.join(table)}.")
    if not first:
        while not kept.is_dir():  # the first process makes it
            time.sleep(0.1)
    elif not (going_on and kept.is_dir()):
        learnt = folder / LAST
        # A run whose tokenizer was deleted has it in its checkpoints: learnt anew it may be another.
        ready = learnt if going_on and learnt.is_dir() else start or path
        if ready is not None:
            tokenizer = open_tokenizer(find_folder(str(ready)))
        else:
            settings = _read("tokenizer", VocabularySettings, {"tokenizer": table})
            kind, about = _named("task", lambda: read_task(recipe.tables["task"]))
            tokenizer = train_vocabulary(kind.texts(about), settings, style=kind.style, tags=kind.tags(about))
        new = folder / f".{TOKENIZER}"
        shutil.rmtree(new, ignore_errors=True)
        tokenizer.save(new)
        shutil.rmtree(kept, ignore_errors=True)
        os.replace(new, kept)
    return open_tokenizer(kept)


def _write_down(recipe: Recipe, folder: Path) -> None:
    (folder / RECIPE).write_text(recipe.text, encoding="utf-8")
    new = folder / f".{SETTINGS}"
    new.write_text(json.dumps(recipe.settings(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(new, folder / SETTINGS)


def _check_unchanged(recipe: Recipe, folder: Path) -> None:
    """A run goes on with the recipe that it began with, or its losses would be no one's."""
    before = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    now = json.loads(json.dumps(recipe.settings()))
    free = (*FREE, "train.steps", "train.minutes") if recipe.train.schedule in OPEN_ENDED else FREE
    changed = [
        f"{name} was {before.get(name, 'absent')!r} and is {now.get(name, 'absent')!r}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name) and name not in free
    ]
    if changed:
        raise TrainingError(
            f"The recipe has changed since {folder} began: {'; '.join(changed)}. Change it back, or begin a "
            "new run under another name (--name)."
        )


@contextmanager
def _telling_of_data() -> Iterator[None]:
    """Whoever runs a recipe of ours without its files is told that nobody has them at first."""
    try:
        yield
    except InputError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
        raise InputError(
            f"{error} The data of the recipes in recipes/ does not ship with them; docs/how-to/translator.md "
            "says what to give."
        ) from error


@contextmanager
def _alone(folder: Path, *, first: bool) -> Iterator[None]:
    """No two trainings write to one run; the lock goes with the process, however it ends."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    if not first:
        yield
        return
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise TrainingError(
                f"{folder} is in training right now; wait, or choose another name."
            ) from error
        yield


@contextmanager
def _leaving_nothing(folder: Path, *, new: bool) -> Iterator[None]:
    """What is refused before its first step is no run: its name is free for the next try."""
    try:
        yield
    except BaseException:
        scalars = folder / SCALARS
        if new and not (scalars.is_file() and scalars.stat().st_size):
            shutil.rmtree(folder, ignore_errors=True)
        raise
