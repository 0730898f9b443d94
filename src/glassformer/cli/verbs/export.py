"""`glassformer export`: a recording as one HTML file. Torch is not needed."""

import sys
from pathlib import Path

from glassformer.cli.parser import Arguments, Parser
from glassformer.messages import message

POSITION = 50
EXAMPLES = ("glassformer export tom.bundle tom.html --hidden",)


def add_arguments(parser: Parser) -> None:
    """A recording, a file, and what to put into it."""
    parser.add_argument("file", metavar="FILE.bundle", type=Path)
    parser.add_argument("output", metavar="FILE.html", type=Path, nargs="?")
    parser.add_argument("--hidden", action="store_true")
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--title")


def run(arguments: Arguments) -> None:
    """Write one HTML file that needs no server and no network."""
    from glassformer import bundle
    from glassformer.render.html.export import export

    recording = bundle.open(arguments.file)
    path = export(
        recording,
        arguments.output or Path(arguments.file).with_suffix(".html"),
        hidden=arguments.hidden,
        vectors=arguments.vectors,
        exact=arguments.exact,
        title=arguments.title,
    )
    if arguments.hidden and not recording.hidden:
        print(message("cli.export.no_hidden", path=arguments.file), file=sys.stderr)
    if arguments.vectors and all(each.queries is None for each in recording.maps):
        print(message("cli.export.no_vectors", path=arguments.file), file=sys.stderr)
    print(message("cli.export.written", path=path, size=path.stat().st_size / 1e6))
