"""`glassformer search`: the best configuration of a recipe, by many runs; `--show` prints one that exists."""

from pathlib import Path
from typing import TYPE_CHECKING

from glassformer.cli.output import count_columns, has_colour
from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError

if TYPE_CHECKING:
    from glassformer.runlog.search import SearchLog

POSITION = 105
EXAMPLES = (
    "glassformer search recipes/search.toml --jobs 4",
    "glassformer search --resume --name search-search --trials 48",
    "glassformer search --show runs/search-search",
)


def add_arguments(parser: Parser) -> None:
    """A recipe with a table [search], or a search to resume or show."""
    parser.add_argument("recipe", metavar="RECIPE", type=Path, nargs="?")
    parser.add_argument("--show", metavar="FOLDER")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--set", metavar="TABLE.KEY=VALUE", action="append", default=[])
    parser.add_argument("--trials", metavar="N", type=int)
    parser.add_argument("--minutes", metavar="M", type=float)
    parser.add_argument("--jobs", metavar="N", type=int)
    parser.add_argument("--engine", choices=("local", "ray"), default="local")
    parser.add_argument("--address", metavar="HOST:PORT")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--name")
    parser.add_argument("--folder", metavar="FOLDER", type=Path, default=Path("runs"))


def run(arguments: Arguments) -> None:
    """Search, or show what was found."""
    from glassformer.render.summary import summarise_search, to_json
    from glassformer.render.terminal.search import draw_search
    from glassformer.runlog.search import read_search

    if arguments.show is not None:
        if arguments.recipe is not None or arguments.resume:
            raise InputError("cli.search.show_alone")
        found = read_search(arguments.show, arguments.folder)
    else:
        if arguments.jobs is not None and arguments.jobs < 1:
            raise InputError("cli.search.jobs", jobs=arguments.jobs)
        found = _search(arguments)
    print(
        to_json(summarise_search(found))
        if arguments.json
        else draw_search(found, columns=count_columns(), colour=has_colour())
    )


def _search(arguments: Arguments) -> "SearchLog":
    from glassformer.training.search.search import search

    budget = {name: getattr(arguments, name) for name in ("trials", "minutes")}
    return search(
        arguments.recipe,
        {name: value for name, value in budget.items() if value is not None},
        overrides=arguments.set,
        resume=arguments.resume,
        name=arguments.name,
        runs=arguments.folder,
        jobs=arguments.jobs,
        engine=arguments.engine,
        address=arguments.address,
    )
