"""Tables of records in a file and in memory; cells that are merged; blocks that cannot be."""

from pathlib import Path

import numpy as np
import pytest

from glassformer.runlog.blocks import CELL, Table, TornIndexError, check_cells, merge_cells, to_cells

NUMBER = np.dtype([("value", "<i8")])


def numbers(*values: int) -> np.ndarray:
    return np.array([(value,) for value in values], NUMBER)


@pytest.mark.parametrize("writable", [True, False])
def test_records_in_the_file_and_in_memory_are_one_table(tmp_path: Path, writable: bool) -> None:
    path = tmp_path / "table"
    path.write_bytes(numbers(1, 2, 3).tobytes() + b"torn")
    with Table(path, NUMBER, writable=writable) as table:
        assert len(table) == 3
        table.append(numbers(4, 5))
        assert table.read(2, 5)["value"].tolist() == [3, 4, 5]
        table.truncate(4)
        table.append(numbers(6))
        table.flush()
        assert table.read(0, 5)["value"].tolist() == [1, 2, 3, 4, 6]
        table.truncate(1)
        table.append(numbers(7))
        table.flush()
        assert table.read(0, 2)["value"].tolist() == [1, 7]
    with Table(path, NUMBER, writable=False) as table:
        assert table.read(0, len(table))["value"].tolist() == ([1, 7] if writable else [1, 2, 3])


def test_a_file_that_was_cut_meanwhile_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(numbers(1, 2, 3).tobytes())
    with Table(path, NUMBER, writable=False) as table:
        path.write_bytes(numbers(1).tobytes())
        with pytest.raises(TornIndexError):
            table.read(0, 3)


def test_cells_are_merged_without_what_is_not_known() -> None:
    values = np.array([[1.0], [np.nan], [4.0], [np.nan], [np.nan]])
    merged = merge_cells(to_cells(values), np.array([0, 3]))
    assert merged["count"].tolist() == [[2], [0]]
    assert (merged["low"][0, 0], merged["high"][0, 0], merged["mean"][0, 0]) == (1, 4, 2.5)
    assert np.isnan(merged["mean"][1, 0])
    again = merge_cells(merged, np.array([0]))
    assert (again["count"][0, 0], again["mean"][0, 0]) == (2, 2.5)


def test_blocks_that_cannot_be_are_refused() -> None:
    good = merge_cells(to_cells(np.array([[0.1], [0.2], [0.3]])), np.array([0]))
    check_cells(good, 3)
    with pytest.raises(TornIndexError):
        check_cells(good, 2)
    with pytest.raises(TornIndexError):
        check_cells(np.zeros(1, CELL), 3)
    good["mean"] = 1.0
    with pytest.raises(TornIndexError):
        check_cells(good, 3)
