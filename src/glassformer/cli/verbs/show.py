"""`glassformer show`: a recording in the terminal, or the summary of a study or an atlas.

Torch is not needed.
"""

from pathlib import Path

from glassformer.cli.inputs import add_place, read_place
from glassformer.cli.output import draw_recording
from glassformer.cli.parser import Arguments, Parser
from glassformer.messages import message

POSITION = 40
EXAMPLES = ("glassformer show tom.bundle --place decoder.cross.2 --head 1",)


def add_arguments(parser: Parser) -> None:
    """A recording, and one of its heads."""
    parser.add_argument("file", metavar="FILE.bundle", type=Path)
    add_place(parser)


def run(arguments: Arguments) -> None:
    """Draw a recording in the terminal; of a study or an atlas print what it says of itself."""
    from glassformer import bundle
    from glassformer.atlases import open_atlas
    from glassformer.atlases.atlas import is_atlas
    from glassformer.studies import is_study, open_study

    place, given = read_place(arguments), arguments.file
    if is_study(given):
        print(open_study(given))
        print(message("cli.study.more", folder=given))
    elif is_atlas(given):
        print(open_atlas(given))
    else:
        print(draw_recording(bundle.open(given), place))
