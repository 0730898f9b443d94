"""What the verbs share: a row of the table, a parser that complains in one sentence, small checks of words.

In:   words from a terminal.
Out:  the same, checked; text on stderr.
"""

import argparse
import io
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn, TextIO

from glassformer.errors import InputError
from glassformer.registry import suggest

Arguments = argparse.Namespace

MODEL = "a folder, a zoo name, or a name on the Hugging Face hub; `glassformer models` lists some"
ENDLESS = re.compile(r"(\S{60})\S{200,}(\S{20})")  # a word that nobody reads to its end
WIDEST = 160  # columns that a picture takes
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")  # not tab, not line feed


class Formatter(argparse.HelpFormatter):
    """A help whose explanations begin in one column, behind the longest verb too."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)
        self._action_max_length = 14

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Examples stay the lines that they are."""
        return text if "\n" in text else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one sentence, and to which words and options may come in any order."""

    _mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """`translate MODEL --to fr TEXT` is `translate MODEL TEXT --to fr`; argparse alone refuses it."""
        if self._mixing or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        self._mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False

    def _get_formatter(self) -> argparse.HelpFormatter:
        return Formatter(self.prog)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """A verb that is none is answered like any other unknown name."""
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            raise argparse.ArgumentError(None, f"There is no verb {value!r}.{suggest(value, action.choices)}")
        super()._check_value(action, value)

    def error(self, message: str) -> NoReturn:
        self.exit(refuse(f"{message.removesuffix('.')}. `{self.prog} --help` says what there is."))


@dataclass(frozen=True, slots=True)
class Verb:
    """One row of the table of verbs: a word, what it does, its arguments and its function."""

    name: str
    summary: str
    add_arguments: Callable[[Parser], None]
    run: Callable[[Arguments], None]


def refuse(message: str) -> int:
    """Say in one line what is wrong; the exit code for what a person can mend."""
    shown = ENDLESS.sub(lambda word: f"{word[1]}…{word[2]}", message)
    print(f"glassformer: {for_people(shown, sys.stderr)}", file=sys.stderr)
    return 2


def add_nothing(_: Parser) -> None:
    """For a verb without arguments."""


def add_model(parser: Parser) -> None:
    """The first argument of most verbs."""
    parser.add_argument("model", metavar="MODEL", help=MODEL)


def add_language(parser: Parser) -> None:
    """What to translate into."""
    parser.add_argument(
        "--to",
        "--target-language",
        dest="target_language",
        metavar="LANGUAGE",
        help="what to translate into, as `de`",
    )


def require_model(name: str) -> str:
    """The name of a model; a sentence in its place means that the model was left out."""
    from glassformer.weights.hub import could_be_model

    if not could_be_model(name):
        raise InputError(
            f"{name!r} is no model; give the model first and then the text, such as zoo/gpt2 {name!r}. "
            "`glassformer models` lists what there is."
        )
    return name


def require_text(text: str) -> str:
    """The text, if there is any in it."""
    if not text.strip():
        raise InputError("The text is empty; give a sentence, in quotation marks.")
    return text


def read_text(path: Path) -> str:
    """All of a file, or of stdin where the path is `-`."""
    return "".join(line for _, line in read_texts(path, ends=True)).replace("\r\n", "\n")


def read_texts(path: Path, *, ends: bool = False) -> Iterator[tuple[int, str]]:
    """Numbered lines of a file (`.gz` and `.xz` are unpacked), or of stdin where the path is `-`."""
    from glassformer.text.files import Problems, decode_lines, read_lines

    problems = Problems(advice="Nothing is left out here: mend it, or convert the file to UTF-8 text.")
    if str(path) != "-":
        yield from read_lines(path, problems, ends=ends)
        return
    for number, line in decode_lines(open_stdin(), Path("stdin"), problems, ends=ends):
        assert line is not None  # it would have been refused
        yield number, line


def open_stdin() -> IO[bytes]:
    """The bytes of stdin, whatever this terminal takes them for."""
    if sys.stdin is None:  # closed by whoever started us
        raise InputError("There is no text and no stdin; give a TEXT, or a file.")
    if isinstance(sys.stdin, io.TextIOWrapper):
        return sys.stdin.buffer
    return io.BytesIO(sys.stdin.read().encode())


def for_people(text: str, stream: TextIO) -> str:
    """The text; to a terminal, what would move its cursor or turn its lines round is spelt out."""
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text) if stream.isatty() else text


def read_assignments(words: Iterable[str]) -> dict[str, Any]:
    """Changes such as `threshold=0.02`; values as in TOML, `True` and `False` as in Python; else text."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise InputError(f"{word!r} sets nothing; write NAME=VALUE, as threshold=0.02.")
        try:
            found[name.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name.strip()] = {"True": True, "False": False}.get(value.strip(), value)
    return found


def count_columns() -> int:
    """How wide a picture may be."""
    return min(shutil.get_terminal_size().columns, WIDEST)


def with_progress(things: Iterable[Any], what: str) -> Iterator[Any]:
    """The same things, counted on stderr while somebody looks at it."""
    if not sys.stderr.isatty():
        yield from things
        return
    count = 0
    try:
        for count, thing in enumerate(things, 1):
            yield thing
            sys.stderr.write(f"\r\x1b[2K{count} {what}")
            sys.stderr.flush()
    finally:
        sys.stderr.write("\r\x1b[2K" if count else "")
        sys.stderr.flush()
