"""`glassformer export`: a recording, a training run or an atlas as one HTML file. Torch is not needed."""

import sys
from pathlib import Path

from glassformer.cli.inputs import open_result
from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.messages import message

POSITION = 50
EXAMPLES = ("glassformer export tom.bundle tom.html --hidden", "glassformer export atlases/mine mine.html")


def add_arguments(parser: Parser) -> None:
    """A recording, a run or an atlas, a file, and what to put into it."""
    parser.add_argument("file", metavar="FILE.bundle | RUN | ATLAS")
    parser.add_argument("output", metavar="FILE.html", type=Path, nargs="?")
    parser.add_argument("--hidden", action="store_true")
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--megabytes", type=float, metavar="X")
    parser.add_argument("--title")


def run(arguments: Arguments) -> None:
    """Write one HTML file that needs no server and no network."""
    from glassformer.recording import Recording
    from glassformer.render.html.export import export
    from glassformer.studies import Study

    source = open_result(arguments.file)
    if isinstance(source, Study):
        raise InputError("cli.export.study", path=arguments.file)
    recording = source if isinstance(source, Recording) else None
    given = Path(arguments.file)
    usual = given.with_suffix(".html") if recording else Path(f"{given.name}.html")
    path = export(
        source,
        arguments.output or usual,
        hidden=arguments.hidden,
        vectors=arguments.vectors,
        exact=arguments.exact,
        title=arguments.title,
        megabytes=arguments.megabytes,
    )
    if arguments.hidden and recording is not None and not recording.hidden:
        print(message("cli.export.no_hidden", path=arguments.file), file=sys.stderr)
    maps = () if recording is None else recording.maps
    if arguments.vectors and recording is not None and all(each.peek("queries") is None for each in maps):
        print(message("cli.export.no_vectors", path=arguments.file), file=sys.stderr)
    print(message("cli.export.written", path=path, size=path.stat().st_size / 1e6))
