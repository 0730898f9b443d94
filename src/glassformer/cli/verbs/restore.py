"""`glassformer restore`: what `glassformer backup` wrote as a folder again, whole or not at all."""

from pathlib import Path

from glassformer.cli.parser import Arguments, Parser
from glassformer.messages import message

POSITION = 174
EXAMPLES = ("glassformer restore monday.tar my-recordings",)


def add_arguments(parser: Parser) -> None:
    """A file and a folder."""
    parser.add_argument("file", metavar="FILE.tar", type=Path)
    parser.add_argument("folder", metavar="FOLDER", type=Path)


def run(arguments: Arguments) -> None:
    """Write the folder."""
    from glassformer.api.backups import restore

    count = restore(arguments.file, arguments.folder)
    print(message("cli.backup.restored", count=count, folder=str(arguments.folder)))
