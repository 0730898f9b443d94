"""`glassformer train`: a recipe in TOML becomes a run in `runs/NAME/`."""

import os
from pathlib import Path

from glassformer.cli.parser import Arguments, Parser
from glassformer.messages import message

POSITION = 100
EXAMPLES = ("glassformer train recipes/first.toml --set task.folder=. --set task.path=my-text.txt",)


def add_arguments(parser: Parser) -> None:
    """A recipe, and changes to it."""
    parser.add_argument("recipe", metavar="RECIPE", type=Path)
    parser.add_argument("--set", metavar="TABLE.KEY=VALUE", action="append", default=[])
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--name")
    parser.add_argument("--folder", metavar="FOLDER", type=Path, default=Path("runs"))


def run(arguments: Arguments) -> None:
    """Train what a recipe describes."""
    from glassformer.training.recipe import train

    outcome = train(
        arguments.recipe, arguments.set, resume=arguments.resume, runs=arguments.folder, name=arguments.name
    )
    if os.environ.get("RANK", "0") != "0":  # under torchrun only the first process prints
        return
    if outcome.best is not None:
        print(message("cli.train.best", folder=outcome.best))
    if outcome.last is not None:
        print(message("cli.train.last", folder=outcome.last))
    if outcome.ending == "interrupted":
        raise KeyboardInterrupt
