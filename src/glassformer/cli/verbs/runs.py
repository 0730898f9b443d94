"""`glassformer runs`: training runs as a table, the curves of one, how two differ; and removing them."""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from glassformer.cli.output import count_columns, has_colour
from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.registry import suggestion

POSITION = 110
EXAMPLES = (
    "glassformer runs",
    "glassformer runs first",
    "glassformer runs --watch",
    "glassformer runs diff first slower",
    "glassformer runs rm slower",
)
PAUSE = 2.0  # seconds between two looks of --watch


def add_arguments(parser: Parser) -> None:
    """A run or an action, and where the runs are."""
    parser.add_argument("words", metavar="NAME | diff A B | rm NAME …", nargs="*")
    parser.add_argument("--folder", metavar="FOLDER", type=Path, default=Path("runs"))
    parser.add_argument("--yes", action="store_true")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--watch", action="store_true")


def run(arguments: Arguments) -> None:
    """List the runs, draw one, compare two, or remove some."""
    match arguments.words:
        case ["rm", first, *others]:
            _remove([first, *others], arguments.folder, sure=arguments.yes)
        case ["diff", first, second]:
            _compare(_find(first, arguments.folder), _find(second, arguments.folder), json=arguments.json)
        case [] | [_]:
            if arguments.watch:
                _watch(arguments)
            else:
                print(_show(arguments))
        case _:
            raise InputError("cli.runs.words", words=" ".join(arguments.words))


def _show(arguments: Arguments) -> str:
    """All runs, or the one that is named."""
    from glassformer.render.summary import summarise_run, to_json
    from glassformer.render.terminal.curves import SPREAD, draw_run, draw_runs
    from glassformer.runlog import find_runs, read_overview
    from glassformer.runlog.thinned import read_thinned

    columns = count_columns()
    if not arguments.words:
        folders = find_runs(arguments.folder)
        if arguments.json:
            return to_json([summarise_run(folder) for folder in folders])
        runs = [read_overview(folder) for folder in folders]
        return draw_runs(runs, columns=columns, colour=has_colour())
    folder = _find(arguments.words[0], arguments.folder)
    if arguments.json:
        return to_json(summarise_run(folder))
    return draw_run(read_thinned(folder, SPREAD), columns=columns)


def _watch(arguments: Arguments) -> None:
    """Draw again and again, in place, until Ctrl-C."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    if not sys.stdout.isatty():
        raise InputError("cli.runs.watch_needs_terminal")
    console = Console(highlight=False, emoji=False)
    try:
        with Live(Text.from_ansi(_show(arguments)), console=console, screen=True, auto_refresh=False) as live:
            while True:
                time.sleep(PAUSE)
                live.update(Text.from_ansi(_show(arguments)), refresh=True)
    except KeyboardInterrupt:
        print(_show(arguments))  # what was seen last stays on the screen


def _compare(first: Path, second: Path, *, json: bool) -> None:
    from glassformer.render.summary import compare_runs, to_json
    from glassformer.render.terminal.tables import draw_table
    from glassformer.runlog import read_run

    difference = compare_runs(read_run(first), read_run(second))
    if json:
        print(to_json(difference))
        return
    header = ("", difference["runs"][0], difference["runs"][1])
    for name in ("settings", "results"):
        title = str(message(f"cli.runs.{name}"))
        rows = [(key, *(_write(value) for value in values)) for key, values in difference[name].items()]
        if rows:
            columns = count_columns()
            print(draw_table([(title, *header[1:]), *rows], columns=columns, colour=has_colour()))
        else:
            print(message("cli.runs.same_settings"))
        print()


def _write(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _remove(names: list[str], runs: Path, *, sure: bool) -> None:
    """Delete runs directly inside the folder of runs; all names are checked before the first is deleted."""
    from glassformer.runlog import find_state, is_run, read_events

    found = []
    with ExitStack() as stack:
        for name in dict.fromkeys(names):
            folder = runs / name
            if Path(name).name != name or name in (".", "..") or folder.is_symlink():
                raise InputError("cli.runs.outside", name=name, folder=runs)
            if not is_run(folder):
                raise InputError("cli.runs.unknown", name=name, suggestion=_suggest(name, runs))
            stack.enter_context(_keeping_from_training(folder))
            if find_state(folder, read_events(folder)[0]) == "running":
                raise InputError("cli.runs.is_running", name=name)
            found.append(folder)
        for folder in found:
            _remove_one(folder, sure=sure)


def _remove_one(folder: Path, *, sure: bool) -> None:
    size = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_symlink()) / 1e6
    if not sure:
        if not sys.stdin.isatty():
            raise InputError("cli.runs.not_sure", name=folder.name)
        answer = input(str(message("cli.runs.ask", folder=folder, size=size)) + " ")
        if answer.strip().lower() not in ("y", "yes", "是"):
            print(message("cli.runs.kept", name=folder.name))
            return
    shutil.rmtree(folder)
    print(message("cli.runs.removed", name=folder.name, size=size))


@contextmanager
def _keeping_from_training(folder: Path) -> Iterator[None]:
    """Hold the lock that training takes first; a run that begins to resume is not called running yet."""
    from glassformer.runlog.alive import hold_run

    with hold_run(folder) as alone:
        if not alone:
            raise InputError("cli.runs.is_running", name=folder.name)
        yield


def _find(name: str, runs: Path) -> Path:
    """A run by its name in the folder of runs, or by its own folder."""
    from glassformer.runlog import is_run

    named = runs / name
    folder = named if is_run(named) or not is_run(name) else Path(name)
    if not is_run(folder):
        raise InputError("cli.runs.unknown", name=name, suggestion=_suggest(name, runs))
    return folder


def _suggest(name: str, runs: Path) -> object:
    from glassformer.runlog import find_runs

    return suggestion(name, [path.name for path in find_runs(runs)])
