import json
import sys
from errno import ENOSPC
from pathlib import Path

import pytest

from glassformer.errors import InputError
from glassformer.studies import files


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    manifest = {"format": files.FORMAT, "model": "m", "model_hash": "h", "settings": {}, "complete": False}
    manifest |= {"texts": 0, "failed": 0, "tokens": 0, "digest": ""}
    manifest["left_out"] = {"count": 1, "first": ["a.txt:1: no text"]}
    files.write_json(path, manifest)

    def fail(beside: Path) -> None:
        beside.write_text("half")
        raise OSError(ENOSPC, "disk full")

    with pytest.raises(OSError, match="disk full") as raised:
        files.write_file(path, fail)
    assert raised.value.filename == str(path)  # what a person is told
    assert [each.name for each in tmp_path.iterdir()] == ["study.json"]
    assert files.read_manifest(tmp_path) == manifest
    for damaged in ("{", "[]", json.dumps({**manifest, "texts": "0"}), json.dumps({"format": files.FORMAT})):
        path.write_text(damaged)
        with pytest.raises(InputError) as error:
            files.read_manifest(tmp_path)
        assert error.value.message.code == "study.not_a_study"
    path.write_text(json.dumps({**manifest, "format": 1}))
    with pytest.raises(InputError, match="made by another version"):
        files.read_manifest(tmp_path)


def test_what_was_left_out_is_checked_and_was_not_told_by_earlier_versions(tmp_path: Path) -> None:
    manifest = {"format": files.FORMAT, "model": "m", "model_hash": "h", "settings": {}, "complete": True}
    manifest |= {"texts": 0, "failed": 0, "tokens": 0, "digest": ""}
    files.write_json(tmp_path / "study.json", manifest)
    assert files.read_manifest(tmp_path)["left_out"] == {"count": 0, "first": []}
    for wrong in ([], {"count": "1", "first": []}, {"count": 1}):
        files.write_json(tmp_path / "study.json", {**manifest, "left_out": wrong})
        with pytest.raises(InputError, match="no study"):
            files.read_manifest(tmp_path)


def test_without_pyarrow_there_is_an_error_to_act_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match="glassformer\\[data\\]"):
        files.load_arrow()
