"""`glassformer backup`: the folder of a server as one checked file, also while the server runs."""

from pathlib import Path

from glassformer.cli.parser import Arguments, Parser
from glassformer.messages import message

POSITION = 172
EXAMPLES = ("glassformer backup my-recordings monday.tar",)


def add_arguments(parser: Parser) -> None:
    """A folder and a file."""
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("file", metavar="FILE.tar", type=Path)


def run(arguments: Arguments) -> None:
    """Write the file."""
    from glassformer.api.backups import back_up

    count = back_up(arguments.folder, arguments.file)
    size = arguments.file.stat().st_size / 1e6
    print(message("cli.backup.written", count=count, path=str(arguments.file), megabytes=size))
