"""Where a run stands, for lists: from its events and its index, kept until the log grows."""

import json
from pathlib import Path

import numpy as np
import pytest

from glassformer.place import Place
from glassformer.runlog import Event, RunWriter, overview, read_overview, read_run

DEEP = Place("encoder", "self", 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with RunWriter(tmp_path / "first") as writer:
        writer.write_event(Event(0, "started", "It began.", time=5.0))
        for start in (1, 251):
            steps = range(start, start + 250)
            writer.write_scalars((step, {"loss": 4 / step, "rate": 1e-3}) for step in steps)
            writer.write_scalars([(start + 249, {"dev_loss": 2.0})])
        writer.write_scalars([(500, {"dev_loss": float("nan")})])
        writer.write_heads(500, {DEEP: {"entropy_share": [0.5, 0.7]}})
        writer.write_event(Event(7, "alarm", "A spike.", topic="loss spike"))
    return tmp_path / "first"


def test_an_overview_says_what_the_log_says(folder: Path) -> None:
    found, log = read_overview(folder), read_run(folder)
    assert (found.name, found.state, found.last_step) == ("first", "killed", log.last_step)
    assert (found.started, found.alarms, found.best_dev_loss) == (5.0, 1, 2.0)
    last = {name: curve.values[-1] for name, curve in log.scalars.items()}
    assert found.scalars == {name: None if np.isnan(value) else value for name, value in last.items()}
    tail = log.scalars["loss"].values[-10:].mean()  # 2 % of the rows
    assert found.loss[-1] == pytest.approx(tail, rel=5e-4)  # four digits


def test_it_is_kept_until_the_log_grows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read_overview(folder)
    with monkeypatch.context() as patch:
        patch.setattr(overview, "open_run", None)  # is not opened again
        assert read_overview(folder) == first
    with RunWriter(folder) as writer:
        writer.write_event(Event(500, "finished", "Done."))
    assert read_overview(folder).state == "finished"


@pytest.mark.parametrize("content", ["", "[]", "{", '{"version": 1}', '{"version": 0, "stamp": []}'])
def test_a_damaged_one_is_made_again(folder: Path, content: str) -> None:
    first = read_overview(folder)
    kept = folder / "index" / overview.FILE
    stamp = json.loads(kept.read_text())["stamp"]
    for damaged in (content, json.dumps({"version": 1, "stamp": stamp, "overview": {"loss": []}})):
        kept.write_text(damaged)
        assert read_overview(folder) == first


def test_a_run_that_goes_on_is_running(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "live") as writer:
        writer.write_event(Event(0, "started", "It began."))
        assert read_overview(tmp_path / "live").state == "running"
        writer.write_scalars([(1, {"loss": 2.0})])
        assert read_overview(tmp_path / "live").last_step == 1
    assert read_overview(tmp_path / "live").state == "killed"
