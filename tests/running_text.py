"""A short text of two languages, and the windows of a task over it."""

from typing import Any

from glassformer.tasks.language_modelling import Windows

TEXT = "Tom chases Jerry — 汤姆追逐杰瑞。\nJerry is too quick for Tom.\n\nThe end of it.\n" * 4


def windows_of(task: Any, split: str) -> Windows:
    examples = task.examples(split)
    assert isinstance(examples, Windows)
    return examples
