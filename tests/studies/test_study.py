"""What a folder of a study says; tests/corpus/test_study.py makes some."""

import sys
from pathlib import Path

import pytest

from glassformer.errors import InputError
from glassformer.studies.study import State, Study, finish_study


def test_a_state_is_kept_and_read_back(tmp_path: Path) -> None:
    State(shards=3, digest="d", texts=2, head_keys=(("encoder", "self", 0, 1, "entropy"),)).save(tmp_path)
    found = State.open(tmp_path)
    assert (found.shards, found.digest, found.texts) == (3, "d", 2)
    assert found.head_keys == (("encoder", "self", 0, 1, "entropy"),)
    assert found.heads is None
    assert State.open(tmp_path / "none").shards == 0


def test_tables_that_are_not_there(tmp_path: Path) -> None:
    about = {"format": 2, "model": "m", "left_out": {"count": 0, "first": []}}
    study = finish_study(tmp_path, about, State(texts=1))
    assert "1 text " in str(study)
    for name, code in {"effects": "study.no_table", "hedas": "study.unknown_table"}.items():
        with pytest.raises(InputError) as error:
            study.table(name)
        assert error.value.message.code == code
    incomplete = Study(tmp_path, {**study.manifest, "complete": False})
    assert "interrupted" in str(incomplete)


def test_a_frame_without_pandas_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    study = Study(tmp_path, {"complete": True})
    with pytest.raises(InputError, match=r"pip install pandas.*table\(\)"):
        study.frame()
