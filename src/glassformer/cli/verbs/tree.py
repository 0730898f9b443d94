"""`glassformer tree`: recordings as the tree that their branches form. Torch is not needed."""

import sys
from pathlib import Path

from glassformer.cli.output import escape_controls
from glassformer.cli.parser import Arguments, Parser

POSITION = 36
EXAMPLES = ("glassformer tree root.bundle he.bundle quiet.bundle",)


def add_arguments(parser: Parser) -> None:
    """Recordings, in any order."""
    parser.add_argument("files", metavar="FILE.bundle", nargs="+", type=Path)


def run(arguments: Arguments) -> None:
    """Print each branch below the text that it left."""
    from glassformer import bundle
    from glassformer.recording import tree

    drawn = tree([bundle.open(path) for path in arguments.files])
    print(escape_controls(str(drawn), sys.stdout))
