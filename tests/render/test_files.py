"""Files are written completely or not at all."""

import os
import stat
from pathlib import Path

import pytest

from glassformer.errors import InputError
from glassformer.render.files import write_whole


def test_an_old_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(b"old")
    before = os.umask(0o027)
    try:
        assert write_whole(path, b"new") == path
    finally:
        os.umask(before)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["a.html"]


def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(b"old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(InputError, match="No space left on device"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.html"]


def test_a_place_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        write_whole(tmp_path, b"")
    assert error.value.message.code == "render.not_a_file"
    with pytest.raises(InputError, match="No such file or directory"):
        write_whole(tmp_path / "nowhere" / "a.html", b"")
