"""Scores of a checkpoint on any split, as training computes them.

In:   a folder of a model in a run, or any folder of a model and a recipe that describes the task.
Out:  scores by name.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.errors import ConfigurationError, InputError
from glassformer.messages import message
from glassformer.tasks.pairs import TranslationSettings
from glassformer.tasks.task import build_task, read_task
from glassformer.text.opening import open_tokenizer
from glassformer.training.changes import SETTINGS, Overrides
from glassformer.training.checkpoints import BEST, LAST
from glassformer.training.distributed import choose_device
from glassformer.training.recipe import read_recipe, read_recipe_of_run
from glassformer.weights.checkpoint import open_checkpoint

# Settings that decide which text of one file is in which split.
DIVIDING = ("held_out", "held_out_test", "split_seed", "column", "text", "second_text")


def evaluate(
    checkpoint: str | Path,
    split: str = "test",
    *,
    recipe: str | Path | None = None,
    overrides: Overrides = (),
    limit: int | None = None,
    device: str = "auto",
) -> Mapping[str, float]:
    """The scores of a checkpoint on a split; `limit` examples all over it, or all.

    The task is that of the run to which the checkpoint belongs, or of a recipe. The folder of a run means its
    best checkpoint.
    """
    if limit is not None and limit < 1:
        raise InputError("training.evaluate.wrong_limit", limit=limit)
    folder = Path(checkpoint)
    if (folder / SETTINGS).is_file():
        folder = next((folder / name for name in (BEST, LAST) if (folder / name).is_dir()), folder)
    if not folder.is_dir():
        raise InputError("training.evaluate.no_checkpoint", folder=folder)
    opened = open_checkpoint(folder)
    run = next((parent for parent in folder.absolute().parents if (parent / SETTINGS).is_file()), None)
    if recipe is not None:
        read = read_recipe(recipe, overrides)
    elif run is not None:
        read = read_recipe_of_run(run, None, overrides, copies=True)
    else:
        raise InputError("training.evaluate.no_recipe", folder=folder)
    if opened.tokenizer is None and read_task(read.tables["task"])[0].words:
        raise InputError("training.evaluate.no_tokenizer", folder=folder)
    tokenizer = None if opened.tokenizer is None else open_tokenizer(opened.tokenizer)
    task = build_task(read.tables["task"], tokenizer, seed=read.train.seed)
    task.accept(opened.config)
    task.scores = tuple(read.train.scores)
    if run is not None and task.describe_held_out():
        _check_splits(read_task(read_recipe_of_run(run, copies=True).tables["task"])[1], task.settings)
    if len(task.examples(split).lengths) == 0:
        raise ConfigurationError("training.evaluate.nothing", split=split)
    return task.evaluate(opened.network.to(choose_device(device)), split, limit=limit)


def _check_splits(before: Any, now: Any) -> None:
    """Refuse to divide the files of a run otherwise than it did: it may have learnt from the result."""
    if _list_paths(before) != _list_paths(now):
        return  # other data
    changes = [
        message("training.recipe.changed_setting", name=f"task.{name}", before=repr(old), now=repr(new))
        for name in DIVIDING
        if (old := getattr(before, name, None)) != (new := getattr(now, name, None))
    ]
    if changes:
        raise ConfigurationError("training.evaluate.other_splits", changes=changes)


def _list_paths(settings: Any) -> list[str]:
    if isinstance(settings, TranslationSettings):
        return [file.path for file in settings.pairs()]
    return [getattr(settings, "path", "")]
