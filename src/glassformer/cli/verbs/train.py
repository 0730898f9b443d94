"""`glassformer train`: a recipe in TOML becomes a run in `runs/NAME/`."""

import os
from pathlib import Path

from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.messages import message

POSITION = 100
STOPPED_BY_ALARM = 3  # the exit code
EXAMPLES = (
    "glassformer train recipes/first.toml --set task.folder=. --set task.path=my-text.txt",
    "glassformer train --resume --name first",
    "glassformer train --fork slower --from first --step 1000 --set train.rate=1e-4",
)


def add_arguments(parser: Parser) -> None:
    """A recipe and changes to it, or a run to resume or fork."""
    parser.add_argument("recipe", metavar="RECIPE", type=Path, nargs="?")
    parser.add_argument("--set", metavar="TABLE.KEY=VALUE", action="append", default=[])
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--fork", metavar="NAME")
    parser.add_argument("--from", metavar="RUN", dest="parent")
    parser.add_argument("--step", metavar="N", type=int)
    parser.add_argument("--name")
    parser.add_argument("--folder", metavar="FOLDER", type=Path, default=Path("runs"))


def run(arguments: Arguments) -> None:
    """Train what a recipe describes."""
    from glassformer.training.recipe import train

    if (arguments.fork is None) != (arguments.parent is None):
        raise InputError("cli.train.fork_from")
    if arguments.step is not None and arguments.fork is None:
        raise InputError("cli.train.step_of_fork")
    if arguments.fork is not None and arguments.name is not None:
        raise InputError("cli.train.two_names")
    outcome = train(
        arguments.recipe,
        arguments.set,
        resume=arguments.resume,
        fork=arguments.parent,
        step=arguments.step,
        runs=arguments.folder,
        name=arguments.fork or arguments.name,
    )
    if os.environ.get("RANK", "0") != "0":  # under torchrun only the first process prints
        return
    if outcome.best is not None:
        print(message("cli.train.best", folder=outcome.best))
    if outcome.last is not None:
        print(message("cli.train.last", folder=outcome.last))
    if outcome.ending == "interrupted":
        raise KeyboardInterrupt
    if outcome.ending == "alarm":
        raise SystemExit(STOPPED_BY_ALARM)
