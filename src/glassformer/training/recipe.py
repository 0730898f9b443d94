"""Recipes: a TOML file that describes a training run, and the run itself.

In:   a path, and changes such as "train.rate=3e-4" or {"train.rate": 3e-4}.
Out:  a run in `runs/<name>/`, with a copy of the recipe.

Tables: [model] what network, or where to start from; [tokenizer] its vocabulary; [task] what to learn, from
which files; [batches]; [train]; [monitor]; [probe]. [search] says what `search` may change.
Before all tables: `plugins`, files of your own.
"""

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from glassformer.errors import ConfigurationError, InputError, TrainingError
from glassformer.messages import Message, message
from glassformer.registry import suggestion
from glassformer.runlog import RECIPE, SCALARS, find_runs, is_run
from glassformer.runlog.alive import LOCK, hold_run
from glassformer.settings import SettingsType, read_settings, read_toml
from glassformer.tasks.task import Task, build_task, read_task
from glassformer.text.batches import BatchSettings
from glassformer.text.opening import open_tokenizer
from glassformer.text.progress import showing, tracking
from glassformer.text.tokenizer import Tokenizer
from glassformer.text.vocabulary import VocabularySettings, train_vocabulary
from glassformer.training.alarm_action import check_command
from glassformer.training.changes import (
    SETTINGS,
    Overrides,
    change_saved,
    check_forkable,
    check_resumable,
    override,
    read_overrides,
)
from glassformer.training.checkpoints import Checkpoints
from glassformer.training.commands import remove_command
from glassformer.training.display import ReadingDisplay
from glassformer.training.initial_network import build_network, check_evaluation, check_model_names
from glassformer.training.loop import Fork, Judge, Outcome, Plan, run_loop
from glassformer.training.plugins import PLUGINS, find_kept, find_plugins, keep_plugins, load_plugins
from glassformer.training.settings import MonitorSettings, ProbeSettings, TrainSettings
from glassformer.weights.folder import replace_folder
from glassformer.weights.hub import find_folder

SEARCH = "search"  # a table that training ignores, see `search.settings`
TABLES = ("model", "tokenizer", "task", "batches", "train", "monitor", "probe", PLUGINS)
TOKENIZER = "tokenizer"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe as read: its tables, and the settings in those that are the same for all."""

    name: str
    text: str
    tables: Mapping[str, Mapping[str, Any]]
    batches: BatchSettings
    train: TrainSettings
    monitor: MonitorSettings
    probe: ProbeSettings

    def settings(self) -> dict[str, Any]:
        """Every value by its full name, "train.steps"; defaults too."""
        resolved = {name: asdict(getattr(self, name)) for name in ("batches", "train", "monitor", "probe")}
        tables = {**self.tables, **resolved}
        return {f"{table}.{key}": value for table in TABLES for key, value in tables.get(table, {}).items()}


def read_recipe(path: str | Path, overrides: Overrides = ()) -> Recipe:
    """Read a recipe and change it; an error names table and key."""
    path = Path(path)
    tables = read_toml(path)
    for name, value in read_overrides(overrides):
        override(tables, name, value)
    return make_recipe(path, path.read_text(encoding="utf-8"), tables)


def read_recipe_of_run(
    run: Path, path: Path | None = None, overrides: Overrides = (), *, copies: bool = False
) -> Recipe:
    """The recipe of a run that exists, with all changes that it was started with, and new ones.

    `copies`: plug-ins as the run was started with; otherwise as they are now.
    """
    file = run / RECIPE if path is None else path
    tables = change_saved(run, path, overrides)
    if PLUGINS in tables:
        tables[PLUGINS] = {"files": find_kept(run, tables[PLUGINS]["files"], copies=copies)}
    return make_recipe(file, file.read_text(encoding="utf-8"), tables)


def make_recipe(path: Path, text: str, tables: Mapping[str, Any]) -> Recipe:
    """A recipe from its tables, which were read from a file; errors name it."""
    if PLUGINS in tables and not isinstance(tables[PLUGINS], dict):
        tables = {**tables, PLUGINS: {"files": find_plugins(tables[PLUGINS], path.parent)}}
    for table, content in tables.items():
        if table not in (*TABLES, SEARCH):
            raise ConfigurationError(
                "training.recipe.unknown_table",
                file=path.name,
                table=table,
                suggestion=suggestion(table, TABLES),
            )
        if not isinstance(content, dict):
            raise ConfigurationError(
                "training.recipe.not_a_table", file=path.name, table=table, value=repr(content)
            )
    files = tables.get(PLUGINS, {}).get("files", [])
    if files:
        tables = {**tables, PLUGINS: {"files": files, "digests": load_plugins(files)}}
    if "task" not in tables:
        raise ConfigurationError("training.recipe.no_task", file=path.name)
    _in_table("task", lambda: read_task(tables["task"]))
    _in_table("model", lambda: check_model_names(tables.get("model", {})))
    if "path" not in tables.get("tokenizer", {}):
        _read("tokenizer", VocabularySettings, tables)
    return Recipe(
        path.stem,
        text,
        tables,
        _read("batches", BatchSettings, tables),
        _read("train", TrainSettings, tables),
        _read("monitor", MonitorSettings, tables),
        _read("probe", ProbeSettings, tables),
    )


def train(  # noqa: PLR0913 - options of one verb
    path: str | Path | None = None,
    overrides: Overrides = (),
    *,
    resume: bool = False,
    fork: str | Path | None = None,
    step: int | None = None,
    runs: str | Path = "runs",
    name: str | None = None,
    silent: bool = False,
    judge: Judge | None = None,
) -> Outcome:
    """Train the network that a recipe (TOML) describes; the run is a folder in `runs`.

    `overrides` change values of the recipe, by mapping or as text. `name` is the name of the run (by default
    that of the recipe); `silent` shows no progress. Ctrl-C ends the step, writes a checkpoint and returns.
    A `judge` is asked after each evaluation whether the run should go on.

    With `resume` the run of this name continues from its newest checkpoint, with the settings that it has;
    only settings on which no loss depends can be changed. `fork` names a run that a new one starts as a copy
    of, at the checkpoint of `step` (the newest by default); there the rate and other settings of training can
    be changed. Neither needs a recipe.

    >>> changes = {"train.steps": 2, "task.folder": ".", "task.path": "README.md"}  # any text of yours
    >>> outcome = gf.train("recipes/first.toml", changes, name="short", silent=True)
    >>> outcome.ending, outcome.step
    ('finished', 2)
    >>> model = gf.load(outcome.last)  # the folder of the last checkpoint
    >>> changes = {"train.rate": 1e-4, "train.steps": 3}
    >>> gf.train(None, changes, fork="short", name="slower", silent=True).step
    3
    """
    path = None if path is None else Path(path)
    if path is None and (name is None or not (resume or fork)):
        raise TrainingError("training.recipe.no_recipe")
    if fork is not None and resume:
        raise TrainingError("training.fork.resume")
    given = None if path is None or resume or fork else read_recipe(path, overrides)
    name = check_name(name or (path.stem if path else ""))
    folder = find_run(name, Path(runs)) if resume else Path(runs) / name
    first = os.environ.get("RANK", "0") == "0"
    if first and not resume:
        _check_free(folder)
    new = first and not (folder.is_dir() and any(folder.iterdir()))  # another process may have made it
    folder.mkdir(parents=True, exist_ok=True)
    with (
        locked(folder, first=first),
        _removing_if_refused(folder, new=new),
        showing(ReadingDisplay(silent=silent or not first)),
    ):
        begun: Fork | None = None
        known: Path | None = None  # a checkpoint to continue from
        if fork is not None:
            parent = find_run(fork, Path(runs), "training.fork.no_run")
            known = _find_state(parent, step)
            recipe = read_recipe_of_run(parent, path, overrides)
            begun = Fork(parent.name, known, check_forkable(parent, recipe.settings()))
        elif resume:
            known = _find_state(folder, None)
            recipe = read_recipe_of_run(folder, path, overrides)
            check_resumable(folder, recipe.settings(), path, overrides)
        else:
            assert given is not None
            recipe = given
        _in_table("monitor", lambda: check_command(recipe.monitor.on_alarm))
        torch.manual_seed(recipe.train.seed)
        with _explaining_missing_data():
            tokenizer = find_tokenizer(recipe, folder, known=known, first=first)
            task = _in_table(
                "task", lambda: build_task(recipe.tables["task"], tokenizer, seed=recipe.train.seed)
            )
        network, notes = _in_table("model", lambda: build_network(recipe.tables.get("model", {}), task))
        _in_table("model", lambda: (task.accept(network.config), task.prepare(network)))
        if first:
            _in_table("train", lambda: check_evaluation(task, recipe.train))
            _save_recipe(recipe, folder)
        plan = Plan(task, network, recipe.batches, recipe.train, recipe.monitor, tuple(notes), recipe.probe)
        return run_loop(plan, folder, resume=resume, fork=begun, silent=silent, judge=judge)


def find_run(name: str | Path, runs: Path, unknown: str = "training.recipe.no_run") -> Path:
    """The folder of a run that exists, by its name or its path; an unknown name is the error `unknown`."""
    folder = runs / name
    if not is_run(folder) and is_run(name):
        folder = Path(name)
    if not is_run(folder):
        known = [path.name for path in find_runs(runs)]
        near = suggestion(str(name), known)
        raise TrainingError(unknown, name=str(name), folder=runs, suggestion=near)
    return folder


def _find_state(run: Path, step: int | None) -> Path:
    """The checkpoint of a run that training can continue from: that of a step, or the newest."""
    checkpoints = Checkpoints(run)
    steps = checkpoints.steps()
    if not steps:
        raise TrainingError("training.checkpoint.none", run=run.name, command=remove_command(run))
    if step is None:
        return checkpoints.place(steps[-1])
    if step not in steps:
        raise TrainingError("training.fork.no_state", run=run.name, step=step, steps=steps)
    return checkpoints.place(step)


def check_name(name: str) -> str:
    """A run is a folder directly inside `runs`."""
    if name in (".", "..") or Path(name).name != name:
        raise TrainingError("training.recipe.run_name", name=name)
    return name


def _check_free(folder: Path) -> None:
    """Refuse a folder that holds a run or other files."""
    if is_run(folder):
        raise TrainingError("training.recipe.run_exists", folder=folder)
    if folder.is_dir() and not is_run(folder) and not (folder / LOCK).exists():
        other = next(folder.iterdir(), None)
        if other is not None:
            raise TrainingError("training.recipe.folder_in_use", folder=folder, name=other.name)


def _read(table: str, kind: type[SettingsType], tables: Mapping[str, Any]) -> SettingsType:
    return _in_table(table, lambda: read_settings(kind, tables.get(table, {})))


def _in_table(table: str, make: Any) -> Any:
    """Add the name of the table to an error about its settings."""
    try:
        return make()
    except ConfigurationError as error:
        raise ConfigurationError("training.recipe.in_table", table=table, problem=error.message) from error


def find_tokenizer(recipe: Recipe, folder: Path, *, known: Path | None, first: bool) -> Tokenizer | None:
    """The run's own, that of the model to start from, one in a folder, or one learnt from the task's text.

    `known` is the checkpoint that the run continues from: it has the tokenizer, too. None: no words.
    """
    if not read_task(recipe.tables["task"])[0].words:
        if recipe.tables.get("tokenizer"):
            raise ConfigurationError("training.recipe.no_words", task=recipe.tables["task"]["name"])
        return None
    table = dict(recipe.tables.get("tokenizer", {}))
    start, path = recipe.tables.get("model", {}).get("start"), table.pop("path", None)
    kept = folder / TOKENIZER
    if start is not None and recipe.tables.get("tokenizer"):
        raise ConfigurationError("training.recipe.start_has_tokenizer")
    if path is not None and table:
        raise ConfigurationError("training.recipe.path_with_settings", names=list(table))
    if not first:
        while not kept.is_dir():  # the first process makes it
            time.sleep(0.1)
    elif known is None or not kept.is_dir():
        ready = known or start or path
        if ready is not None:
            tokenizer = open_tokenizer(find_folder(str(ready)))
        else:
            settings = _read("tokenizer", VocabularySettings, {"tokenizer": table})
            kind, about = _in_table("task", lambda: read_task(recipe.tables["task"]))
            tokenizer = _learn_vocabulary(kind, about, settings)
        with replace_folder(kept) as new:
            tokenizer.save(new)
            shutil.rmtree(kept, ignore_errors=True)
    return open_tokenizer(kept)


def _learn_vocabulary(kind: type[Task], about: Any, settings: VocabularySettings) -> Tokenizer:
    """A vocabulary of the training text, with progress while it is read."""

    def describe() -> Message:
        return message("training.learning_vocabulary")

    with tracking(describe, kind.source_files(about, "train")) as tracker:

        def texts() -> Iterator[str]:
            for text in kind.texts(about):
                tracker.tick()
                yield text

        return train_vocabulary(texts(), settings, style=kind.style, tags=kind.tags(about))


def _save_recipe(recipe: Recipe, folder: Path) -> None:
    """All values and the text of a recipe, and its plug-ins; each text is replaced in one step."""
    keep_plugins(recipe.tables.get(PLUGINS, {}).get("files", ()), folder)
    for name, text in ((SETTINGS, json.dumps(recipe.settings(), indent=2)), (RECIPE, recipe.text)):
        new = folder / f".{name}"
        new.write_text(text, encoding="utf-8")
        os.replace(new, folder / name)


@contextmanager
def _explaining_missing_data() -> Iterator[None]:
    """Add to an error about a missing file that the data of recipes does not ship."""
    try:
        yield
    except InputError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
        raise InputError("training.recipe.no_data", problem=error.message) from error


@contextmanager
def locked(folder: Path, *, first: bool) -> Iterator[None]:
    """Only one process trains a run, or the first of several that train it together."""
    if not first:
        yield
        return
    with hold_run(folder) as alone:
        if not alone:
            raise TrainingError("training.recipe.in_use", folder=folder)
        yield


@contextmanager
def _removing_if_refused(folder: Path, *, new: bool) -> Iterator[None]:
    """Remove the folder of a run that fails before its first step, so that its name is free."""
    try:
        yield
    except BaseException:
        scalars = folder / SCALARS
        if new and not (scalars.is_file() and scalars.stat().st_size):
            shutil.rmtree(folder, ignore_errors=True)
        raise
