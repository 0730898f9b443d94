"""`glassformer show`: a recording in the terminal. Torch is not needed."""

from pathlib import Path

from glassformer.cli.inputs import add_place, read_place
from glassformer.cli.output import draw_recording
from glassformer.cli.parser import Arguments, Parser

POSITION = 40
EXAMPLES = ("glassformer show tom.bundle --place decoder.cross.2 --head 1",)


def add_arguments(parser: Parser) -> None:
    """A recording, and one of its heads."""
    parser.add_argument("file", metavar="FILE.bundle", type=Path)
    add_place(parser)


def run(arguments: Arguments) -> None:
    """Draw a recording in the terminal."""
    from glassformer import bundle

    place = read_place(arguments)
    print(draw_recording(bundle.open(arguments.file), place))
