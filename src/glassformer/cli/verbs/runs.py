"""`glassformer runs`: training runs as a table, and the curves and alarms of one."""

from pathlib import Path

from glassformer.cli.output import count_columns, has_colour
from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.registry import suggestion

POSITION = 110
EXAMPLES = ("glassformer runs", "glassformer runs first")


def add_arguments(parser: Parser) -> None:
    """A run, and where it is."""
    parser.add_argument("name", metavar="NAME", nargs="?")
    parser.add_argument("--folder", metavar="FOLDER", type=Path, default=Path("runs"))
    parser.add_argument("--json", action="store_true")


def run(arguments: Arguments) -> None:
    """List the runs, or draw one."""
    from glassformer.render.summary import summarise_run, to_json
    from glassformer.render.terminal.curves import draw_run, draw_runs
    from glassformer.runlog import find_runs, is_run, read_run

    columns = count_columns()
    if arguments.name is None:
        logs = [read_run(folder) for folder in find_runs(arguments.folder)]
        if arguments.json:
            print(to_json([summarise_run(log) for log in logs]))
        else:
            print(draw_runs(logs, columns=columns, colour=has_colour()))
        return
    named = arguments.folder / arguments.name
    folder = named if is_run(named) or not is_run(arguments.name) else Path(arguments.name)
    if not is_run(folder):
        known = [path.name for path in find_runs(arguments.folder)]
        near = suggestion(arguments.name, known)
        raise InputError("cli.runs.unknown", name=arguments.name, suggestion=near)
    log = read_run(folder)
    print(to_json(summarise_run(log)) if arguments.json else draw_run(log, columns=columns))
