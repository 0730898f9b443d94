"""Folders in the order in which a file in them was written."""

import os
from pathlib import Path

import pytest

from glassformer.runlog.files import sort_by_time


def write(folder: Path, name: str, time: float) -> Path:
    (folder / name).mkdir()
    file = folder / name / "log"
    file.write_text("", encoding="utf-8")
    os.utime(file, (time, time))
    return folder / name


def test_the_one_written_last_is_at_the_end(tmp_path: Path) -> None:
    late, early = write(tmp_path, "a", 200), write(tmp_path, "b", 100)
    same = write(tmp_path, "c", 200)
    assert sort_by_time(tmp_path, "log") == (early, late, same)


def test_folders_without_the_file_are_left_out(tmp_path: Path) -> None:
    kept = write(tmp_path, "a", 100)
    (tmp_path / "empty").mkdir()
    (tmp_path / "other" / "log").mkdir(parents=True)
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert sort_by_time(tmp_path, "log") == (kept,)
    assert sort_by_time(tmp_path / "nowhere", "log") == ()


def test_one_that_is_removed_meanwhile_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = write(tmp_path, "a", 100)
    gone = tmp_path / "gone"
    monkeypatch.setattr(Path, "glob", lambda *_: iter([gone, kept]))
    assert sort_by_time(tmp_path, "log") == (kept,)
