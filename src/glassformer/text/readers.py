"""Files of many formats into rows: text, TSV, CSV, JSON lines, parallel files, folders by label.

In:   a path and the columns that are wanted, by number (from 0) or by the name that the header gives them.
Out:  rows of text, in the order of the file. Broken rows are reported to `Problems`.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.registry import suggestion
from glassformer.text.files import Problems, find_format, read_all_lines, read_lines

Column = int | str
Row = tuple[str, ...]
_SURROGATE = re.compile("[\ud800-\udfff]")  # half of a character


def read_rows(path: str | Path, columns: Sequence[Column], problems: Problems) -> Iterator[Row]:
    """The wanted columns of each row; the file's name says which format it has."""
    return (row for _, row in read_numbered_rows(path, columns, problems))


def read_numbered_rows(
    path: str | Path, columns: Sequence[Column], problems: Problems
) -> Iterator[tuple[int, Row]]:
    """The same with the line that each row begins on."""
    path = Path(path)
    name = find_format(path)
    if name not in FORMATS:
        raise InputError("text.unknown_format", path=path, suggestion=suggestion(name, FORMATS))
    for number, row in FORMATS[name](path, columns, problems):
        empty = next((column for column, text in zip(columns, row, strict=True) if not text.strip()), None)
        if empty is None:
            yield number, row
        else:
            problems.report(path, number, message("text.problem.empty_column", column=empty))


def read_plain(path: Path, columns: Sequence[Column], problems: Problems) -> Iterator[tuple[int, Row]]:
    """Plain text: one column, a row for each line."""
    if tuple(columns) != (0,):
        raise InputError("text.one_column", path=path, columns=str(list(columns)))
    for number, line in read_lines(path, problems):
        yield number, (line,)


def read_tsv(path: Path, columns: Sequence[Column], problems: Problems) -> Iterator[tuple[int, Row]]:
    """Columns between tabs, without any quoting."""
    rows = ((number, line.split("\t")) for number, line in read_lines(path, problems))
    return _pick(path, rows, columns, problems)


def read_csv(path: Path, columns: Sequence[Column], problems: Problems) -> Iterator[tuple[int, Row]]:
    """Columns between commas; quotation marks as RFC 4180 has them, line breaks inside them included."""
    return _pick(path, _parse_csv(path, problems), columns, problems)


def read_jsonl(path: Path, columns: Sequence[Column], problems: Problems) -> Iterator[tuple[int, Row]]:
    """One JSON object on each line, whose fields are text or whole numbers."""
    for number, line in read_lines(path, problems):
        try:
            content = json.loads(line)
        except (ValueError, RecursionError) as error:
            problems.report(path, number, message("text.problem.not_json", reason=error))
            continue
        found = _pick_fields(content, columns)
        if isinstance(found, Message):
            problems.report(path, number, found)
        else:
            yield number, found


def read_parallel(first: str | Path, second: str | Path, problems: Problems) -> Iterator[Row]:
    """Line n of one file with line n of the other, as translations come."""
    first, second = Path(first), Path(second)
    pairs = zip_longest(read_all_lines(first, problems), read_all_lines(second, problems))
    for here, there in pairs:
        if here is None or there is None:
            short, (number, _) = (first, there) if here is None else (second, here)
            other = second if here is None else first
            problems.report(short, number, message("text.problem.file_ends", other=other))
            return
        (number, one), (_, two) = here, there
        if one is None or two is None:
            continue  # reported already
        if one.strip() and two.strip():
            yield one, two
        else:
            problems.report(second if one.strip() else first, number, message("text.problem.empty_line"))


def read_labelled_folders(folder: str | Path, problems: Problems) -> Iterator[Row]:
    """(label, text) of `folder/label/*.txt`, as IMDb's reviews come; its `unsup` has no label: not read."""
    folder = Path(folder)
    labels = sorted(path for path in folder.glob("*") if path.is_dir() and path.name != "unsup")
    if not labels:
        raise InputError("text.no_label_folders", folder=folder)
    for label in labels:
        for path in sorted(label.glob("*.txt")):
            text = "".join(line for _, line in read_lines(path, problems, ends=True))
            if text.strip():
                yield label.name, text.replace("<br />", "\n").strip()
            else:
                problems.report(path, 0, message("text.problem.empty_file"))


FORMATS: dict[str, Callable[[Path, Sequence[Column], Problems], Iterator[tuple[int, Row]]]] = {
    "txt": read_plain,
    "tsv": read_tsv,
    "csv": read_csv,
    "jsonl": read_jsonl,
}


def _pick(
    path: Path, rows: Iterator[tuple[int, list[str]]], columns: Sequence[Column], problems: Problems
) -> Iterator[tuple[int, Row]]:
    """The wanted columns. If any is wanted by name, the first row is the header."""
    places: list[int] | None = None
    width = 0
    for number, row in rows:
        if places is None and not "".join(row).strip():  # it would say how many columns there are
            problems.report(path, number, message("text.problem.empty_line"))
            continue
        if places is None:
            places, width = _find_places(path, row, columns), len(row)
            if any(isinstance(column, str) for column in columns):
                continue
        if len(row) != width:
            problems.report(path, number, message("text.problem.width", count=len(row), expected=width))
        else:
            yield number, tuple(row[place] for place in places)


def _find_places(path: Path, row: Sequence[str], columns: Sequence[Column]) -> list[int]:
    for column in columns:
        if isinstance(column, str) and column not in row:
            raise InputError(
                "text.no_column_name", path=path, column=column, suggestion=suggestion(column, row)
            )
        if isinstance(column, int) and not 0 <= column < len(row):
            missing = {"tsv": "text.no_separator.tab", "csv": "text.no_separator.comma"}
            if len(row) == 1 and find_format(path) in missing:
                raise InputError(missing[find_format(path)], path=path, column=column)
            raise InputError("text.no_column_number", path=path, count=len(row), column=column)
    return [column if isinstance(column, int) else row.index(column) for column in columns]


def _parse_csv(path: Path, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    started: list[int] = []  # numbers of the lines of the row that is being read

    def feed() -> Iterator[str]:
        for number, line in read_lines(path, problems, ends=True):
            started.append(number)
            yield line

    parser = csv.reader(feed(), strict=True)
    while True:
        started.clear()
        try:
            row = next(parser)
        except StopIteration:
            return
        except csv.Error as error:
            problems.report(path, started[0], message("text.problem.not_csv", reason=error))
            continue
        yield started[0], row


def _pick_fields(content: Any, columns: Sequence[Column]) -> Row | Message:
    """The wanted fields of a JSON object, or why there are none."""
    if not isinstance(content, dict):
        return message("text.problem.not_object", kind=type(content).__name__, fields=str(list(columns)))
    values = []
    for column in columns:
        value = content.get(str(column))
        if isinstance(value, bool) or not isinstance(value, str | int):
            return message("text.problem.not_text", field=column, value=json.dumps(value)[:40])
        values.append(str(value))
        if _SURROGATE.search(values[-1]):  # JSON can spell it, UTF-8 cannot
            return message("text.problem.half_character", field=column)
    return tuple(values)
