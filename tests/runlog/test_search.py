import json
from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.errors import InputError
from glassformer.runlog.alive import Heartbeat
from glassformer.runlog.search import SEARCH, SearchLog, TrialRun, find_searches, read_search, write_search
from runlog.search_logs import make_search


def test_what_is_best(tmp_path: Path) -> None:
    log = make_search(tmp_path)
    assert log.best is not None
    assert log.best.number == 1
    assert log.baseline is not None
    assert log.baseline.number == 0
    assert [trial.number for trial in log.pareto] == [1, 0, 4]
    loss = log.best.estimate("loss")
    assert loss is not None
    assert loss.mean == pytest.approx(1.55)
    assert log.best.estimate("seconds") is None
    assert log.gains["loss"].mean == pytest.approx(-0.4)
    assert log.rows()[2]["reason"] == "its score at step 20 is behind those of other trials (halving)"
    assert list(log.frame["trial"]) == [0, 1, 2, 3, 4, 5]
    assert replace(log, trials=()).best is None
    assert replace(log, trials=()).pareto == ()


def test_a_search_is_written_and_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    log = make_search(folder)
    write_search(log)
    for again in (read_search(folder), read_search("s", tmp_path)):
        for name in SearchLog.__slots__:
            assert getattr(again, name) == getattr(log, name), name
        assert again.state == "finished"
    assert find_searches(tmp_path) == (folder,)


def test_the_state_of_a_search(tmp_path: Path) -> None:
    log = replace(make_search(tmp_path), finished=False)
    assert log.state == "stopped"
    with Heartbeat(tmp_path):
        assert log.state == "running"


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"name": 1}', b"null", b'{"trials": 3}', b"\xff"])
def test_broken_files_are_sentences(tmp_path: Path, text: bytes) -> None:
    (tmp_path / SEARCH).write_bytes(text)
    with pytest.raises(InputError) as error:
        read_search(tmp_path)
    assert error.value.message.code == "runlog.search.damaged"


def test_every_missing_field_is_a_sentence(tmp_path: Path) -> None:
    write_search(make_search(tmp_path))
    whole = json.loads((tmp_path / SEARCH).read_text())
    for name in whole.keys() - {"version"}:
        (tmp_path / SEARCH).write_text(json.dumps({key: whole[key] for key in whole if key != name}))
        with pytest.raises(InputError):
            read_search(tmp_path)


def test_no_search_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read_search("none", tmp_path)
    assert error.value.message.code == "runlog.search.none"


def test_runs_that_diverged_are_counted_and_leave_no_gain(tmp_path: Path) -> None:
    log = make_search(tmp_path)
    best, own = log.confirmed
    lost = replace(best, runs=(*best.runs, TrialRun("s-001-seed5", 5, 40, {})))
    assert (best.diverged, lost.diverged) == (0, 1)
    assert log.gains
    assert replace(log, confirmed=(lost, own)).gains == {}
    assert replace(log, confirmed=(best, replace(own, runs=lost.runs))).gains == {}
