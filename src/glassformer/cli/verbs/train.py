"""`glassformer train`: a recipe in TOML becomes a run in `runs/NAME/`."""

import os
from pathlib import Path

from glassformer.cli.inputs import add_runs_folder
from glassformer.cli.parser import Arguments, Parser, help_text
from glassformer.cli.verb import Verb
from glassformer.messages import message


def add_arguments(parser: Parser) -> None:
    """A recipe, and changes to it."""
    parser.add_argument("recipe", metavar="RECIPE", type=Path, help=help_text("cli.help.train.recipe"))
    parser.add_argument(
        "--set", metavar="TABLE.KEY=VALUE", action="append", default=[], help=help_text("cli.help.train.set")
    )
    parser.add_argument("--resume", action="store_true", help=help_text("cli.help.train.resume"))
    parser.add_argument("--name", help=help_text("cli.help.train.name"))
    add_runs_folder(parser)


def run(arguments: Arguments) -> None:
    """Train what a recipe describes."""
    from glassformer.training.recipe import train

    outcome = train(
        arguments.recipe,
        arguments.set,
        resume=arguments.resume,
        runs=arguments.folder,
        name=arguments.name,
    )
    if os.environ.get("RANK", "0") != "0":  # under torchrun only the first process prints
        return
    if outcome.best is not None:
        print(message("cli.train.best", folder=outcome.best))
    if outcome.last is not None:
        print(message("cli.train.last", folder=outcome.last))
    if outcome.ending == "interrupted":
        raise KeyboardInterrupt


VERB = Verb(
    "train",
    add_arguments,
    run,
    examples=("glassformer train recipes/first.toml --set task.folder=. --set task.path=my-text.txt",),
    position=100,
)
