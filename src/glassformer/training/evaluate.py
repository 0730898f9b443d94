"""Scores of a checkpoint on any split, as training computes them.

In:   a folder of a model in a run, or any folder of a model and a recipe that describes the task.
Out:  scores by name.
"""

from collections.abc import Mapping
from pathlib import Path

from glassformer.errors import ConfigurationError, InputError
from glassformer.tasks.task import build_task
from glassformer.text.opening import open_tokenizer
from glassformer.training.changes import SETTINGS, Overrides
from glassformer.training.checkpoints import BEST, LAST
from glassformer.training.distributed import choose_device
from glassformer.training.recipe import read_recipe, read_recipe_of_run
from glassformer.weights.checkpoint import open_checkpoint


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
        read = read_recipe_of_run(run, None, overrides)
    else:
        raise InputError("training.evaluate.no_recipe", folder=folder)
    if opened.tokenizer is None:
        raise InputError("training.evaluate.no_tokenizer", folder=folder)
    task = build_task(read.tables["task"], open_tokenizer(opened.tokenizer), seed=read.train.seed)
    task.accept(opened.config)
    if len(task.examples(split).lengths) == 0:
        raise ConfigurationError("training.evaluate.nothing", split=split)
    return task.evaluate(opened.network.to(choose_device(device)), split, limit=limit)
