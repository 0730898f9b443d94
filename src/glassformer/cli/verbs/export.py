"""`glassformer export`: a recording as one HTML file. Torch is not needed."""

from pathlib import Path

from glassformer.cli.inputs import add_bundle
from glassformer.cli.parser import Arguments, Parser, help_text
from glassformer.cli.verb import Verb
from glassformer.messages import message


def add_arguments(parser: Parser) -> None:
    """A recording, a file, and what to put into it."""
    add_bundle(parser)
    parser.add_argument(
        "output", metavar="FILE.html", type=Path, nargs="?", help=help_text("cli.help.export.output")
    )
    parser.add_argument("--hidden", action="store_true", help=help_text("cli.help.export.hidden"))
    parser.add_argument("--vectors", action="store_true", help=help_text("cli.help.export.vectors"))
    parser.add_argument("--exact", action="store_true", help=help_text("cli.help.export.exact"))
    parser.add_argument("--title", help=help_text("cli.help.export.title"))


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
    print(message("cli.export.written", path=path, size=path.stat().st_size / 1e6))


VERB = Verb(
    "export",
    add_arguments,
    run,
    examples=("glassformer export tom.bundle tom.html --hidden",),
    position=50,
)
