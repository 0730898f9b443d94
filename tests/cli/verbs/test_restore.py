"""`glassformer restore`: tests/api/test_backups.py has the rest."""

from pathlib import Path

import pytest

from glassformer import cli


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["restore", str(tmp_path / "none.tar"), str(tmp_path / "folder")]) != 0
    assert "cannot be restored" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
