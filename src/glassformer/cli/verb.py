"""What the verbs share: a row of the table, a parser that complains in one sentence, small checks of words.

In:   words from a terminal.
Out:  the same, checked; text on stderr.
"""

import argparse
import io
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TextIO

from glassformer.errors import InputError

Arguments = argparse.Namespace

MODEL = "a folder, a zoo name, or a name on the Hugging Face hub; `glassformer models` lists some"
WIDEST = 160  # columns that a picture takes


class Formatter(argparse.HelpFormatter):
    """A help whose explanations begin in one column, behind the longest verb too."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)
        self._action_max_length = 14

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Examples stay the lines that they are."""
        return text if "\n" in text else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one sentence, as all others here."""

    def _get_formatter(self) -> argparse.HelpFormatter:
        return Formatter(self.prog)

    def error(self, message: str) -> NoReturn:
        self.exit(refuse(f"{message}. `{self.prog} --help` says what there is."))


@dataclass(frozen=True, slots=True)
class Verb:
    """One row of the table of verbs: a word, what it does, its arguments and its function."""

    name: str
    summary: str
    add_arguments: Callable[[Parser], None]
    run: Callable[[Arguments], None]


def refuse(message: str) -> int:
    """Say in one line what is wrong; the exit code for what a person can mend."""
    print(f"glassformer: {message}", file=sys.stderr)
    return 2


def add_nothing(_: Parser) -> None:
    """For a verb without arguments."""


def add_model(parser: Parser) -> None:
    """The first argument of most verbs."""
    parser.add_argument("model", metavar="MODEL", help=MODEL)


def require_model(name: str) -> str:
    """The name of a model; a sentence in its place means that the model was left out."""
    if " " in name.strip() and not Path(name).expanduser().exists():
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
    try:
        return open_stdin().read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start + 1}); convert it first.") from error


def open_stdin() -> TextIO:
    """Stdin as UTF-8, whatever the language of this terminal; other bytes are an error, not half letters."""
    if sys.stdin is None:  # closed by whoever started us
        raise InputError("There is no text and no stdin; give a TEXT, or a file.")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    return sys.stdin


def read_assignments(words: Iterable[str]) -> dict[str, Any]:
    """Changes such as `threshold=0.02`; values as in TOML, and anything else is text."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise InputError(f"{word!r} sets nothing; write NAME=VALUE, as threshold=0.02.")
        try:
            found[name.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name.strip()] = value
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
