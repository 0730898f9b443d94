"""Files of text: lines, plain or compressed, with reports of those that cannot be read; JSON objects.

In:   a path; `.gz` and `.xz` are unpacked on the way.
Out:  numbered lines; every broken one is reported with its file and number, then refused or skipped. Objects.
"""

import gzip
import json
import lzma
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, cast

from glassformer.errors import CheckpointError, InputError
from glassformer.messages import Message, literal, message
from glassformer.text.progress import note_opened

OnError = Literal["refuse", "skip"]

KEPT = 20  # problems that are described; the others are only counted
PACKED = (".gz", ".xz")
MAX_LINE_BYTES = 256 << 20  # a book on one line fits; /dev/zero is refused


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that could not be read."""

    path: Path
    line: int  # from 1; 0: the file as a whole
    reason: Message

    def as_message(self) -> Message:
        """The reason with its file and line; some reasons of a whole file name it already."""
        if self.line:
            return message("text.problem.in_line", path=self.path, line=self.line, reason=self.reason)
        if self.reason.parameters.get("path") == str(self.path):
            return self.reason
        return message("text.problem.in_file", path=self.path, reason=self.reason)

    def __str__(self) -> str:
        return str(self.as_message())


@dataclass(slots=True)
class Problems:
    """What to do about broken lines, and what was found so far."""

    on_error: OnError = "refuse"
    advice: Message | str | None = None  # at the end of an error; None: how to skip broken lines
    count: int = 0
    first: list[Problem] = field(default_factory=list)
    remarks: list[Message] = field(default_factory=list)  # what was guessed about files

    def remark(self, text: Message) -> None:
        """Something that a person should know, once, although nothing is broken."""
        if text not in self.remarks:
            self.remarks.append(text)

    def report(self, path: Path, line: int, reason: Message | str) -> None:
        """Raise, or count it and go on."""
        problem = Problem(path, line, reason if isinstance(reason, Message) else literal(reason))
        if self.on_error == "refuse":
            advice = self.advice or message("text.advice_skip")
            raise InputError("text.broken_line", problem=problem.as_message(), advice=advice)
        self.count += 1
        if self.count <= KEPT:
            self.first.append(problem)

    def notes(self) -> tuple[Message, ...]:
        """What was guessed; how many lines were skipped, and which."""
        if not self.count:
            return tuple(self.remarks)
        more = self.count - len(self.first)
        what = "skipped" if all(problem.line for problem in self.first) else "left_out"
        lines = [*self.remarks, message(f"text.problem.{what}", count=self.count)]
        lines += [message("text.problem.listed", problem=problem) for problem in self.first]
        return (*lines, message("text.problem.more", count=more)) if more else tuple(lines)


def read_lines(path: str | Path, problems: Problems, *, ends: bool = False) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, from 1; with `ends` what ends them stays. Broken ones are skipped."""
    for number, line in read_all_lines(path, problems, ends=ends):
        if line is not None:
            yield number, line


def read_all_lines(
    path: str | Path, problems: Problems, *, ends: bool = False
) -> Iterator[tuple[int, str | None]]:
    """The same with None for a broken line, so that lines of two files can be kept in step."""
    path = Path(path)
    with open_bytes(path) as file:
        yield from decode_lines(file, path, problems, ends=ends)


def decode_lines(
    file: IO[bytes], path: Path, problems: Problems, *, ends: bool = False
) -> Iterator[tuple[int, str | None]]:
    """The lines of an open file; only a line feed ends one, no other line break of Unicode."""
    number = 0
    while True:
        try:
            data = file.readline(MAX_LINE_BYTES + 1)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            problems.report(path, number + 1, message("text.problem.unreadable", reason=error))
            return
        if not data:
            return
        number += 1
        if len(data) > MAX_LINE_BYTES:
            problems.report(path, number, message("text.problem.long_line", most=MAX_LINE_BYTES >> 20))
            return  # it may have no end
        if number == 1:
            data = data.removeprefix(b"\xef\xbb\xbf")  # a byte order mark is not text
        reason, line = _decode(data)
        if reason is not None:
            problems.report(path, number, reason)
        elif not ends:
            line = line.removesuffix("\n").removesuffix("\r")
        yield number, line if reason is None else None


def open_bytes(path: Path) -> IO[bytes]:
    """A file's bytes, unpacked where its name says that it is packed."""
    try:
        file = _open(path)
    except OSError as error:
        raise InputError("text.cannot_read", path=path, reason=error.strerror) from error
    note_opened(file, path)
    return file


def _open(path: Path) -> IO[bytes]:
    match path.suffix:
        case ".gz":
            return cast("IO[bytes]", gzip.open(path, "rb"))
        case ".xz":
            return cast("IO[bytes]", lzma.open(path, "rb"))
        case _:
            return path.open("rb")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; anything else is said in one sentence."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CheckpointError("text.json.missing", path=path) from error
    except OSError as error:
        raise CheckpointError("text.json.unreadable", path=path, reason=error.strerror) from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CheckpointError("text.json.malformed", path=path, reason=error) from error
    if not isinstance(content, dict):
        raise CheckpointError("text.json.not_an_object", path=path, kind=type(content).__name__)
    return content


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write an object as people like to read it."""
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def find_format(path: Path) -> str:
    """The end of a file's name without packing: `tsv` for `train.tsv.gz`."""
    name = path.name.lower()
    for packed in PACKED:
        name = name.removesuffix(packed)
    return Path(name).suffix.removeprefix(".")


def _decode(data: bytes) -> tuple[Message | None, str]:
    """Why it is not text, or None; and the text."""
    if b"\0" in data:
        return message("text.problem.zero_bytes"), ""
    try:
        return None, data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"{data[error.start]:02X}"
        return message("text.problem.not_utf8", place=error.start + 1, byte=byte), ""
