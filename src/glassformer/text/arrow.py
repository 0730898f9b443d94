"""Parquet files, and folders that Hugging Face's `datasets` wrote with `save_to_disk`.

In:   a path and columns, by number or name.
Out:  rows of text. Classes that the file stores as numbers have the names that it gives them.

Both need pyarrow, which is installed with `pip install "glassformer[data]"`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.registry import suggestion
from glassformer.text.files import Problems, read_json
from glassformer.text.table import PLAIN, Column, Row, TableFormat

STATE = "state.json"  # of a dataset: the names of its Arrow files
ROWS = 1024  # that are converted at a time


def read_parquet(
    path: Path, columns: Sequence[Column], problems: Problems, table: TableFormat = PLAIN
) -> Iterator[tuple[int, Row]]:
    """Rows of a Parquet file, a part of it in memory at a time."""
    del table
    parquet = _load("pyarrow.parquet")
    with _explaining(path), parquet.ParquetFile(path) as file:
        names = find_names(path, file.schema_arrow.names, columns)
        batches = file.iter_batches(batch_size=ROWS, columns=names)
        yield from _read_batches(path, batches, file.schema_arrow, names, problems)


def read_arrow(
    path: Path, columns: Sequence[Column], problems: Problems, table: TableFormat = PLAIN
) -> Iterator[tuple[int, Row]]:
    """Rows of an Arrow file, or of a folder that `datasets` wrote."""
    del table
    arrow = _load("pyarrow")
    first = last = 0
    for part in _find_parts(path):
        with (
            _explaining(part),
            arrow.memory_map(str(part)) as source,
            arrow.ipc.open_stream(source) as reader,
        ):
            names = find_names(path, reader.schema.names, columns)
            for number, row in _read_batches(part, reader, reader.schema, names, problems):
                yield first + number, row
                last = first + number
        first = last


def is_dataset(folder: Path) -> bool:
    """Whether `datasets` wrote this folder."""
    return (folder / STATE).is_file()


def find_names(path: Path, known: Sequence[str], columns: Sequence[Column]) -> list[str]:
    """The names of the wanted columns."""
    for column in columns:
        if isinstance(column, str) and column not in known:
            near = suggestion(column, known)
            raise InputError("text.no_column_name", path=path, column=column, suggestion=near)
        if isinstance(column, int) and not 0 <= column < len(known):
            raise InputError(
                "text.no_column_number", path=path, count=len(known), column=column, row=tuple(known)
            )
    return [known[column] if isinstance(column, int) else column for column in columns]


def _find_parts(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    if not is_dataset(path):
        raise InputError("text.not_a_dataset", folder=path)
    try:
        return [path / entry["filename"] for entry in read_json(path / STATE)["_data_files"]]
    except (KeyError, TypeError) as error:
        raise InputError("text.not_a_dataset", folder=path) from error


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    """Say which file cannot be read; an error of the system has a number, one of damaged content has none."""
    try:
        yield
    except OSError as error:
        if error.strerror is not None:
            raise InputError("text.cannot_read", path=path, reason=error.strerror) from error
        raise InputError("text.bad_arrow", path=path, reason=str(error).rstrip(".")) from error
    except ValueError as error:  # pyarrow.ArrowInvalid
        raise InputError("text.bad_arrow", path=path, reason=str(error).rstrip(".")) from error


def _read_batches(
    path: Path, batches: Iterable[Any], schema: Any, names: Sequence[str], problems: Problems
) -> Iterator[tuple[int, Row]]:
    classes = [_find_class_names(schema, name) for name in names]
    number = 0
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS):
            part = batch.slice(start, ROWS)
            chosen = [part.column(name) for name in names]
            for column in chosen:
                column.validate(full=True)  # of damaged ones, pyarrow would read memory that is not theirs
            for values in zip(*(column.to_pylist() for column in chosen), strict=True):
                number += 1
                cells = [_write(value, known) for value, known in zip(values, classes, strict=True)]
                wrong = next((place for place, cell in enumerate(cells) if cell is None), None)
                if wrong is None:
                    yield number, tuple(cell for cell in cells if cell is not None)
                else:
                    shown = repr(values[wrong])[:40]
                    reason = message("text.problem.not_text", field=names[wrong], value=shown)
                    problems.report(path, number, reason)


def _write(value: Any, classes: Sequence[str]) -> str | None:
    """A value as text; None for what is neither text nor a number."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return classes[value] if 0 <= value < len(classes) else str(value)


def _find_class_names(schema: Any, name: str) -> list[str]:
    """The names of a column's classes, which `datasets` keeps beside its numbers."""
    try:
        described = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"][name]
        return list(described["names"]) if described.get("_type") == "ClassLabel" else []
    except (KeyError, ValueError, TypeError, AttributeError):
        return []


def _load(name: str) -> Any:
    """pyarrow, which is large and needed by few: installed on request."""
    from importlib import import_module

    try:
        import_module("pyarrow.ipc")
        return import_module(name)
    except ImportError as error:
        raise InputError("text.no_pyarrow") from error
