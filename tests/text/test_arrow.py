"""Parquet files and folders of `datasets`: rows, names of classes, columns that are not there."""

import json
from pathlib import Path
from typing import Any

import pytest

from glassformer.errors import InputError
from glassformer.text.arrow import find_names, is_dataset, read_arrow, read_parquet
from glassformer.text.files import Problems

arrow: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed (glassformer[data])")


def make_table() -> Any:
    """Three rows; the second has no text, and classes are numbers with names."""
    features = {"label": {"names": ["bad", "good"], "_type": "ClassLabel"}}
    table = arrow.table({"text": ["one", None, "three"], "label": [0, 1, 1]})
    return table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})


def write_dataset(folder: Path) -> Path:
    folder.mkdir()
    names = ["data-0.arrow", "data-1.arrow"]
    for name in names:
        with (
            arrow.OSFile(str(folder / name), "wb") as file,
            arrow.ipc.new_stream(file, make_table().schema) as out,
        ):
            out.write_table(make_table())
    described = {"_data_files": [{"filename": name} for name in names]}
    (folder / "state.json").write_text(json.dumps(described), encoding="utf-8")
    return folder


@pytest.mark.parametrize("columns", [("text", "label"), (0, 1)])
def test_rows_of_parquet(tmp_path: Path, columns: tuple[Any, ...]) -> None:
    from pyarrow import parquet

    path = tmp_path / "rows.parquet"
    parquet.write_table(make_table(), path)
    problems = Problems(on_error="skip")
    assert list(read_parquet(path, columns, problems)) == [(1, ("one", "bad")), (3, ("three", "good"))]
    assert problems.count == 1


def test_rows_of_a_dataset_are_counted_over_its_files(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "films")
    assert is_dataset(folder)
    rows = list(read_arrow(folder, ("label",), Problems()))
    assert [number for number, _ in rows] == [1, 2, 3, 4, 5, 6]
    assert [row for _, row in rows][:3] == [("bad",), ("good",), ("good",)]


def test_rows_that_point_outside_of_their_file_are_refused(tmp_path: Path) -> None:
    """pyarrow reads what is written there, and the process ends."""
    schema, rows = arrow.schema([("text", arrow.string())]), arrow.table({"text": ["one", "two"]})
    path = tmp_path / "rows.arrow"
    with arrow.OSFile(str(path), "wb") as file, arrow.ipc.new_stream(file, schema) as out:
        out.write_table(rows)
    whole, ends = path.read_bytes(), (3).to_bytes(4, "little") + (6).to_bytes(4, "little")
    assert whole.count(ends) == 1  # where the texts end
    path.write_bytes(whole.replace(ends, (1 << 30).to_bytes(4, "little") * 2))
    with pytest.raises(InputError) as error:
        list(read_arrow(path, ("text",), Problems(on_error="skip")))
    assert error.value.message.code == "text.bad_arrow"


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="text") as error:
        find_names(tmp_path, ["text", "label"], ["txet"])
    assert error.value.message.code == "text.no_column_name"
    with pytest.raises(InputError) as error:
        find_names(tmp_path, ["text", "label"], [2])
    assert error.value.message.code == "text.no_column_number"


def test_what_is_no_such_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "letters.parquet"
    path.write_bytes(b"no table at all")
    with pytest.raises(InputError) as error:
        list(read_parquet(path, (0,), Problems()))
    assert error.value.message.code == "text.bad_arrow"
    with pytest.raises(InputError) as error:
        list(read_arrow(tmp_path, (0,), Problems()))
    assert error.value.message.code == "text.not_a_dataset"


def test_damage_inside_a_parquet_file_is_said(tmp_path: Path) -> None:
    from pyarrow import parquet

    path = tmp_path / "rows.parquet"
    parquet.write_table(arrow.table({"text": [f"text {n}" for n in range(5000)]}), path)
    data = path.read_bytes()
    path.write_bytes(data[:4] + bytes(200) + data[204:])  # its footer is whole
    with pytest.raises(InputError) as error:
        list(read_parquet(path, ("text",), Problems()))
    assert error.value.message.code == "text.bad_arrow"


@pytest.mark.parametrize("state", ["{}", '{"_data_files": [1]}', '{"_data_files": null}'])
def test_a_state_without_files_is_no_dataset(tmp_path: Path, state: str) -> None:
    (tmp_path / "state.json").write_text(state)
    with pytest.raises(InputError) as error:
        list(read_arrow(tmp_path, (0,), Problems()))
    assert error.value.message.code == "text.not_a_dataset"
