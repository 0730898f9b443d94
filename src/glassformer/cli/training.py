"""Verbs about training: run a recipe, look at the runs.

In:   a recipe in TOML; a folder of runs.
Out:  a run in `runs/<name>/`; tables and curves in the terminal.
"""

import os
from pathlib import Path

from glassformer.cli.verb import Arguments, Parser, count_columns
from glassformer.errors import InputError

RUNS = Path("runs")


def add_train(parser: Parser) -> None:
    """The words of `train`."""
    parser.add_argument("recipe", metavar="RECIPE", type=Path, help="a TOML file, as those in recipes/")
    parser.add_argument(
        "--set",
        metavar="TABLE.KEY=VALUE",
        action="append",
        default=[],
        help="change a line of the recipe, as train.rate=3e-4",
    )
    parser.add_argument("--resume", action="store_true", help="go on with the run of this name")
    parser.add_argument("--name", help="of the run; otherwise the recipe's")
    _add_folder(parser)


def run_train(arguments: Arguments) -> None:
    """Train what a recipe describes."""
    from glassformer.training.recipe import train

    outcome = train(
        arguments.recipe,
        arguments.set,
        resume=arguments.resume,
        runs=arguments.folder,
        name=arguments.name,
    )
    if os.environ.get("RANK", "0") != "0":  # under torchrun the first process speaks
        return
    for label, folder in (("Best model", outcome.best), ("Last model", outcome.last)):
        if folder is not None:
            print(f"{label}:  {folder}")
    if "asked to" in outcome.why:
        raise KeyboardInterrupt


def add_runs(parser: Parser) -> None:
    """The words of `runs`."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="draw the curves and alarms of this run")
    _add_folder(parser)
    parser.add_argument("--json", action="store_true", help="for programs")


def run_runs(arguments: Arguments) -> None:
    """List the runs, or draw one."""
    from glassformer.registry import suggest
    from glassformer.render.summary import summarise_run, to_json
    from glassformer.render.terminal.curves import draw_run, draw_runs
    from glassformer.runlog import find_runs, is_run, read_run

    if arguments.name is None:
        logs = [read_run(folder) for folder in find_runs(arguments.folder)]
        print(
            to_json([summarise_run(log) for log in logs])
            if arguments.json
            else draw_runs(logs, columns=count_columns())
        )
        return
    named = arguments.folder / arguments.name
    folder = named if is_run(named) or not is_run(arguments.name) else Path(arguments.name)
    if not is_run(folder):
        known = [path.name for path in find_runs(arguments.folder)]
        raise InputError(f"There is no run called {arguments.name!r}.{suggest(arguments.name, known)}")
    log = read_run(folder)
    print(to_json(summarise_run(log)) if arguments.json else draw_run(log, columns=count_columns()))


def _add_folder(parser: Parser) -> None:
    parser.add_argument("--folder", metavar="FOLDER", type=Path, default=RUNS, help="where runs are (runs)")
