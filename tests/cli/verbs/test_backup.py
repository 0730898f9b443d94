"""`glassformer backup`: tests/api/test_backups.py has the rest."""

from pathlib import Path

import pytest

from glassformer import cli


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["backup", str(tmp_path / "none"), str(tmp_path / "file.tar")]) != 0
    assert "There is no folder" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
