"""Files of many formats into rows: text, TSV, CSV, JSON lines, Parquet, parallel files, folders by label.

In:   a path and the columns that are wanted, by number (from 0) or by the name that the header gives them.
Out:  rows of text, in the order of the file. Broken rows are reported to `Problems`.

A TSV or CSV file has a header where a column is wanted by name, or `TableFormat` says so, or its first row
consists of the usual names of columns; the last is reported, because it is a guess.
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
from glassformer.text.arrow import read_arrow, read_parquet
from glassformer.text.files import Problems, find_format, read_all_lines, read_lines
from glassformer.text.table import PLAIN, Column, Row, TableFormat, looks_like_header

SHOWN = 60  # characters of a first row in an error
_SURROGATE = re.compile("[\ud800-\udfff]")  # half of a character


def read_rows(
    path: str | Path, columns: Sequence[Column], problems: Problems, table: TableFormat = PLAIN
) -> Iterator[Row]:
    """The wanted columns of each row; the file's name says which format it has."""
    return (row for _, row in read_numbered_rows(path, columns, problems, table))


def read_numbered_rows(
    path: str | Path, columns: Sequence[Column], problems: Problems, table: TableFormat = PLAIN
) -> Iterator[tuple[int, Row]]:
    """The same with the line that each row begins on."""
    path = Path(path)
    name = "arrow" if path.is_dir() else find_format(path)  # a folder that `datasets` wrote
    if name not in FORMATS:
        raise InputError("text.unknown_format", path=path, suggestion=suggestion(name, FORMATS))
    for number, row in FORMATS[name](path, columns, problems, table):
        empty = next((column for column, text in zip(columns, row, strict=True) if not text.strip()), None)
        if empty is None:
            yield number, row
        else:
            problems.report(path, number, message("text.problem.empty_column", column=empty))


def read_plain(
    path: Path, columns: Sequence[Column], problems: Problems, table: TableFormat = PLAIN
) -> Iterator[tuple[int, Row]]:
    """Plain text: one column, a row for each line; blank lines stand between paragraphs."""
    del table
    if tuple(columns) != (0,):
        raise InputError("text.one_column", path=path, columns=str(list(columns)))
    for number, line in read_lines(path, problems):
        if line.strip():
            yield number, (line,)


def read_tsv(
    path: Path, columns: Sequence[Column], problems: Problems, table: TableFormat = PLAIN
) -> Iterator[tuple[int, Row]]:
    """Columns between tabs; quotation marks are characters, unless the table says otherwise."""
    if table.quotes:
        return _pick(path, _parse_csv(path, problems, "\t"), columns, problems, table)
    rows = ((number, line.split("\t")) for number, line in read_lines(path, problems))
    return _pick(path, rows, columns, problems, table)


def read_csv(
    path: Path, columns: Sequence[Column], problems: Problems, table: TableFormat = PLAIN
) -> Iterator[tuple[int, Row]]:
    """Columns between commas; quotation marks as RFC 4180 has them, line breaks inside them included."""
    if table.quotes is False:
        rows = ((number, line.split(",")) for number, line in read_lines(path, problems))
        return _pick(path, rows, columns, problems, table)
    return _pick(path, _parse_csv(path, problems, ","), columns, problems, table)


def read_jsonl(
    path: Path, columns: Sequence[Column], problems: Problems, table: TableFormat = PLAIN
) -> Iterator[tuple[int, Row]]:
    """One JSON object on each line, whose fields are text or numbers; the first one numbers them."""
    del table
    names: list[str] | None = None
    for number, line in read_lines(path, problems):
        try:
            content = json.loads(line)
        except (ValueError, RecursionError) as error:
            problems.report(path, number, message("text.problem.not_json", reason=error))
            continue
        if names is None and isinstance(content, dict):
            names = _find_fields(path, list(content), columns)
        found = _pick_fields(content, names or list(map(str, columns)))
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


FORMATS: dict[str, Callable[[Path, Sequence[Column], Problems, TableFormat], Iterator[tuple[int, Row]]]] = {
    "txt": read_plain,
    "tsv": read_tsv,
    "csv": read_csv,
    "jsonl": read_jsonl,
    "parquet": read_parquet,
    "arrow": read_arrow,
}


def _pick(
    path: Path,
    rows: Iterator[tuple[int, list[str]]],
    columns: Sequence[Column],
    problems: Problems,
    table: TableFormat,
) -> Iterator[tuple[int, Row]]:
    """The wanted columns of every row but the header."""
    places: list[int] | None = None
    width = 0
    for number, row in rows:
        if places is None and not "".join(row).strip():  # it would say how many columns there are
            problems.report(path, number, message("text.problem.empty_line"))
            continue
        if places is None:
            places, width = _find_places(path, row, columns, table), len(row)
            if _is_header(path, row, places, columns, problems, table):
                continue
        if len(row) != width:
            problems.report(path, number, message("text.problem.width", count=len(row), expected=width))
        else:
            yield number, tuple(row[place] for place in places)


def _is_header(
    path: Path,
    row: Sequence[str],
    places: Sequence[int],
    columns: Sequence[Column],
    problems: Problems,
    table: TableFormat,
) -> bool:
    """Whether the first row names the columns; said where that is a guess."""
    if any(isinstance(column, str) for column in columns):
        return True
    if table.header is not None:
        return table.header
    cells = [row[place] for place in places]
    if not looks_like_header(cells, table.names):
        return False
    problems.remark(message("text.header_guessed", path=path, cells=cells))
    return True


def _find_places(path: Path, row: Sequence[str], columns: Sequence[Column], table: TableFormat) -> list[int]:
    shown = [f"{cell[:SHOWN]}…" if len(cell) > SHOWN else cell for cell in row]
    for column in columns:
        if isinstance(column, str) and table.header is False:
            raise InputError("text.name_without_header", path=path, column=column)
        if isinstance(column, str) and column not in row:
            near = suggestion(column, shown)
            raise InputError("text.no_column_name", path=path, column=column, suggestion=near)
        if isinstance(column, int) and not 0 <= column < len(row):
            missing = {"tsv": "text.no_separator.tab", "csv": "text.no_separator.comma"}
            if len(row) == 1 and find_format(path) in missing:
                raise InputError(missing[find_format(path)], path=path, column=column)
            raise InputError(
                "text.no_column_number", path=path, count=len(row), column=column, row=tuple(shown)
            )
    return [column if isinstance(column, int) else row.index(column) for column in columns]


def _parse_csv(path: Path, problems: Problems, separator: str) -> Iterator[tuple[int, list[str]]]:
    started: list[int] = []  # numbers of the lines of the row that is being read

    def feed() -> Iterator[str]:
        for number, line in read_lines(path, problems, ends=True):
            started.append(number)
            yield line

    parser = csv.reader(feed(), delimiter=separator, strict=True)
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


def _find_fields(path: Path, known: Sequence[str], columns: Sequence[Column]) -> list[str]:
    """The names of the wanted fields, given those of the first object in their order."""
    for column in columns:
        if isinstance(column, int) and not 0 <= column < len(known) and str(column) not in known:
            raise InputError(
                "text.no_column_number", path=path, count=len(known), column=column, row=tuple(known)
            )
    return [
        str(column) if isinstance(column, str) or str(column) in known else known[column]
        for column in columns
    ]


def _pick_fields(content: Any, columns: Sequence[str]) -> Row | Message:
    """The wanted fields of a JSON object, or why there are none."""
    if not isinstance(content, dict):
        return message("text.problem.not_object", kind=type(content).__name__, fields=str(list(columns)))
    values = []
    for column in columns:
        if column not in content:
            return message("text.problem.no_field", field=column, fields=list(content))
        value = content[column]
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return message("text.problem.not_text", field=column, value=json.dumps(value)[:40])
        values.append(str(value))
        if _SURROGATE.search(values[-1]):  # JSON can spell it, UTF-8 cannot
            return message("text.problem.half_character", field=column)
    return tuple(values)
