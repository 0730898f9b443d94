"""Lines out of files, plain or compressed, and an account of those that cannot be read.

In:   a path; `.gz` and `.xz` are unpacked on the way.
Out:  numbered lines of text; every broken one is reported with its file and number, then refused or skipped.
"""

import gzip
import lzma
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, cast

from glassformer.errors import InputError

OnError = Literal["refuse", "skip"]

KEPT = 20  # problems that are described one by one; the others are only counted
PACKED = (".gz", ".xz")
LONGEST = 256 << 20  # bytes of one line: a book without a break fits, what never ends (/dev/zero) is refused


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that could not be read."""

    path: Path
    line: int  # from 1; 0: the file as a whole
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}" if self.line else f"{self.path}: {self.reason}"


@dataclass(slots=True)
class Problems:
    """What to do about broken lines, and what was found so far."""

    on_error: OnError = "refuse"
    advice: str = 'Mend it, or set on_error = "skip" to leave such lines out.'  # to whoever is refused
    count: int = 0
    first: list[Problem] = field(default_factory=list)

    def report(self, path: Path, line: int, reason: str) -> None:
        """Raise, or note it and go on."""
        problem = Problem(path, line, reason)
        if self.on_error == "refuse":
            raise InputError(f"{problem}. {self.advice}")
        self.count += 1
        if self.count <= KEPT:
            self.first.append(problem)

    def notes(self) -> tuple[str, ...]:
        """For a person: how much was left out, and what."""
        if not self.count:
            return ()
        more = self.count - len(self.first)
        lines = [f"{self.count} broken {'line was' if self.count == 1 else 'lines were'} skipped:"]
        lines += [f"  {problem}" for problem in self.first]
        return (*lines, f"  … and {more} more") if more else tuple(lines)


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
    """The lines of an open file; only a line feed ends one, whatever else some call a line break."""
    number = 0
    while True:
        try:
            data = file.readline(LONGEST + 1)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            problems.report(path, number + 1, f"the file cannot be read on from here ({error})")
            return
        if not data:
            return
        number += 1
        if len(data) > LONGEST:
            problems.report(
                path, number, f"the line is longer than {LONGEST >> 20} MiB (is this a file of text?)"
            )
            return  # it may have no end
        if number == 1:
            data = data.removeprefix(b"\xef\xbb\xbf")  # a byte order mark is no text
        reason, line = _decode(data)
        if reason is not None:
            problems.report(path, number, reason)
        elif not ends:
            line = line.removesuffix("\n").removesuffix("\r")
        yield number, line if reason is None else None


def open_bytes(path: Path) -> IO[bytes]:
    """A file's bytes, unpacked where its name says that it is packed."""
    try:
        match path.suffix:
            case ".gz":
                return cast("IO[bytes]", gzip.open(path, "rb"))
            case ".xz":
                return cast("IO[bytes]", lzma.open(path, "rb"))
            case _:
                return path.open("rb")
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}. Check the path.") from error


def find_format(path: Path) -> str:
    """The end of a file's name without packing: `tsv` for `train.tsv.gz`."""
    name = path.name.lower()
    for packed in PACKED:
        name = name.removesuffix(packed)
    return Path(name).suffix.removeprefix(".")


def _decode(data: bytes) -> tuple[str | None, str]:
    """Why it is no text, or None; and the text."""
    if b"\0" in data:
        return "the line holds zero bytes and is no UTF-8 text (is it UTF-16?)", ""
    try:
        return None, data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} (0x{data[error.start]:02X}) is not UTF-8", ""
