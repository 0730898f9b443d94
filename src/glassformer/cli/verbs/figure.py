"""`glassformer figure`: a recording or a training run as a figure for a paper. Torch is not needed."""

from pathlib import Path

from glassformer.cli.inputs import add_parameters, add_place, read_assignments
from glassformer.cli.parser import Arguments, Parser, help_text
from glassformer.cli.verb import Verb
from glassformer.errors import InputError
from glassformer.messages import known_languages, message


def add_arguments(parser: Parser) -> None:
    """A recording or a run, a file, and what to draw."""
    parser.add_argument("source", metavar="FILE.bundle | RUN", help=help_text("cli.help.figure.source"))
    parser.add_argument("output", metavar="FILE.pdf", type=Path, help=help_text("cli.help.figure.output"))
    parser.add_argument("--view", help=help_text("cli.help.figure.view"))
    add_place(parser, several=True)
    parser.add_argument("--metric", default="entropy", help=help_text("cli.help.figure.metric"))
    add_parameters(parser)
    parser.add_argument("--curve", metavar="NAME", action="append", help=help_text("cli.help.figure.curve"))
    parser.add_argument("--title", help=help_text("cli.help.figure.title"))
    parser.add_argument("--width", default="column", help=help_text("cli.help.figure.width"))
    parser.add_argument(
        "--font", metavar="NAME", action="append", default=[], help=help_text("cli.help.figure.font")
    )
    parser.add_argument("--language", choices=known_languages(), help=help_text("cli.help.figure.language"))


def run(arguments: Arguments) -> None:
    """Draw a figure for a paper."""
    from glassformer import bundle
    from glassformer.render.figures import figure
    from glassformer.runlog import is_run, read_run

    source = read_run(arguments.source) if is_run(arguments.source) else bundle.open(arguments.source)
    drawn = figure(
        source,
        arguments.view,
        part=arguments.part,
        layer=arguments.layer,
        head=arguments.head,
        metric=arguments.metric,
        parameters=read_assignments(arguments.set),
        names=arguments.curve,
        title=arguments.title,
        width=_read_width(arguments.width),
        fonts=arguments.font,
        language=arguments.language,
    )
    print(message("cli.figure.written", path=drawn.save(arguments.output)))


def _read_width(text: str) -> str | float:
    if text in ("column", "page"):
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError("cli.figure.width", width=text) from None


VERB = Verb(
    "figure",
    add_arguments,
    run,
    examples=(
        "glassformer figure tom.bundle tom.pdf --part cross --layer 2",
        "glassformer figure tom.bundle heads.svg --view heads --width page",
        "glassformer figure runs/first curves.pdf",
    ),
    position=60,
)
