"""What the verbs read: models, texts, files and settings as a person writes them; options that verbs share.

In:   arguments of a terminal, files, stdin.
Out:  the same, checked.
"""

import io
import sys
from argparse import SUPPRESS
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, get_args

from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.place import Place, Reading
from glassformer.settings import parse_toml

if TYPE_CHECKING:
    from glassformer.atlases import Atlas
    from glassformer.corpus.sources import TextFiles
    from glassformer.recording import Recording
    from glassformer.runlog import RunLog
    from glassformer.studies import Study


def add_language(parser: Parser) -> None:
    """The language to translate into."""
    parser.add_argument("--to", "--target-language", dest="target_language", metavar="LANGUAGE")


def add_text_files(parser: Parser) -> None:
    """A file or a folder of texts, the columns of tables, a second file with translations."""
    parser.add_argument("texts", metavar="FILE | FOLDER", type=Path, nargs="?")
    parser.add_argument("--column", metavar="NAME", action="append", default=[])
    parser.add_argument("--parallel", metavar="FILE", type=Path)
    parser.add_argument("--no-header", dest="header", action="store_false", default=None)
    parser.add_argument("--limit", metavar="N", type=int)


def open_text_files(arguments: Arguments, *, trees: bool = False) -> "TextFiles":
    """The texts of those files, read anew by each iteration; of CoNLL-U their trees, if wanted."""
    from glassformer.corpus.sources import TextFiles

    columns = tuple(int(each) if each.isdecimal() else each for each in arguments.column) or (0,)
    how = {"header": arguments.header, "limit": arguments.limit}
    return TextFiles(arguments.texts, columns, arguments.parallel, trees=trees, **how)


def add_workers(parser: Parser) -> None:
    """Which processes or machines do the work."""
    parser.add_argument("--jobs", metavar="N", type=int, default=1)
    parser.add_argument("--engine", choices=("local", "ray"), default="local")
    parser.add_argument("--address", metavar="HOST:PORT")
    parser.add_argument("--gpus", metavar="N", type=float, default=0.0)
    parser.add_argument("--device")


def read_workers(arguments: Arguments) -> dict[str, Any]:
    """The same as `study` and `atlas` take it."""
    names = ("jobs", "engine", "address", "gpus", "device")
    return {name: getattr(arguments, name) for name in names}


def add_place(parser: Parser, *, heads: type[str] | None = None) -> None:
    """The head that is drawn; or several of them, of this type."""
    parser.add_argument("--place", metavar="ADDRESS", type=Place.parse)
    parser.add_argument("--layer", type=int, metavar="N")
    parser.add_argument("--head", type=heads or int, metavar="N", nargs=None if heads is None else "+")
    parser.add_argument("--part", choices=("encoder", "decoder", "cross"), help=SUPPRESS)  # before --place
    parser.add_argument("--reading", choices=get_args(Reading), default="written")


def read_place(arguments: Arguments) -> dict[str, Any]:
    """Which head is drawn, as `figure` and `draw_recording` take it."""
    if arguments.part is not None:
        print(message("cli.errors.part_is_deprecated"), file=sys.stderr)
    if arguments.place is not None and (arguments.part, arguments.layer) != (None, None):
        raise InputError("cli.errors.place_and_layer", address=arguments.place.address)
    return {name: getattr(arguments, name) for name in ("place", "part", "layer", "head", "reading")}


def open_result(name: str) -> "Recording | RunLog | Atlas | Study":
    """What a name on the command line stands for: a bundle, zoo/NAME, the folder of a run, atlas or study."""
    from glassformer import bundle
    from glassformer.atlases import open_atlas
    from glassformer.atlases.atlas import FILE
    from glassformer.runlog import is_run, read_run
    from glassformer.studies import is_study, open_study

    if is_run(name):
        return read_run(name)
    if name.startswith("zoo/") or (Path(name) / FILE).is_file():
        return open_atlas(name)
    if is_study(name):
        return open_study(name)
    return bundle.open(name)


def require_model(name: str) -> str:
    """The name of a model; a sentence in its place means that the model was left out."""
    from glassformer.weights.hub import could_be_model

    if not could_be_model(name):
        raise InputError("cli.errors.not_a_model", name=name)
    return name


def require_text(text: str) -> str:
    """The text, if there is any in it."""
    if not text.strip():
        raise InputError("cli.errors.empty_text")
    return text


def read_text(path: Path) -> str:
    """All of a file, or of stdin where the path is `-`."""
    return "".join(line for _, line in read_texts(path, ends=True)).replace("\r\n", "\n")


def read_texts(path: Path, *, ends: bool = False) -> Iterator[tuple[int, str]]:
    """Numbered lines of a file (`.gz` and `.xz` are unpacked), or of stdin where the path is `-`."""
    from glassformer.text.files import Problems, decode_lines, read_lines

    problems = Problems(advice=str(message("cli.errors.convert_file")))
    if str(path) != "-":
        yield from read_lines(path, problems, ends=ends)
        return
    for number, line in decode_lines(open_stdin(), Path("stdin"), problems, ends=ends):
        assert line is not None  # it would have been refused
        yield number, line


def open_stdin() -> IO[bytes]:
    """The bytes of stdin, whatever the encoding of the terminal is."""
    if sys.stdin is None:  # closed by the calling process
        raise InputError("cli.errors.no_stdin")
    if isinstance(sys.stdin, io.TextIOWrapper):
        return sys.stdin.buffer
    return io.BytesIO(sys.stdin.read().encode())


def read_assignments(texts: Iterable[str]) -> dict[str, Any]:
    """Settings such as `threshold=0.02`; values as in TOML, `True` and `False` as in Python; else text."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InputError("cli.errors.not_an_assignment", text=text)
        try:
            found[name.strip()] = parse_toml(f"value = {value}")["value"]
        except ValueError:
            found[name.strip()] = {"True": True, "False": False}.get(value.strip(), value)
    return found
