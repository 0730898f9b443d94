"""The log of a run: what is written is read, torn and void lines are not, and nobody waits for the other."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.errors import InputError
from glassformer.messages import literal, message
from glassformer.place import Place
from glassformer.runlog import (
    EVENTS,
    HEADS,
    SCALARS,
    Alarm,
    Event,
    RunWriter,
    find_runs,
    is_run,
    read_run,
)
from glassformer.runlog.log import sort_by_time

SELF = Place("decoder", "self", 0)
CROSS = Place("decoder", "cross", 1)


def write(folder: Path, steps: range) -> None:
    with RunWriter(folder) as writer:
        writer.write_event(Event(steps.start - 1, "resumed" if steps.start > 1 else "started", "Go."))
        for step in steps:
            writer.write_scalars([(step, {"loss": 1 / step, "rate": 0.1})])


def test_what_is_written_is_read(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.write_event(Event(0, "started", "Go.", time=12.5))
        writer.write_scalars([(1, {"loss": 0.1 + 0.2}), (2, {"loss": 1e-300})])
        writer.write_scalars([(2, {"dev_loss": 4})])
        writer.write_heads(
            2, {SELF: {"entropy": [1.0, 0.123456], "peak": [0.5, float("nan")]}, CROSS: {"peak": [1.0]}}
        )
        writer.write_event(Event(2, "alarm", "Look!", topic="loss spike", place="head 1", value=9.5))
        writer.write_event(Event(2, "finished", "Done."))
    log = read_run(tmp_path)
    assert log.name == tmp_path.name
    assert log.scalars["loss"].values.tolist() == [0.1 + 0.2, 1e-300]  # exactly
    assert log.scalars["dev_loss"].steps.tolist() == [2]
    assert log.heads[SELF].steps.tolist() == [2]
    np.testing.assert_array_equal(log.heads[SELF].statistics["entropy"], [[1.0, 0.12346]])
    np.testing.assert_array_equal(log.heads[SELF].statistics["peak"], [[0.5, np.nan]])
    assert log.heads[SELF].heads == 2
    assert str(CROSS) == "decoder layer 1, cross"
    assert [event.kind for event in log.events] == ["started", "alarm", "finished"]
    assert log.alarms == (
        Alarm("loss spike", 2, 2, None, literal("Look!"), value=9.5),
    )  # as version 0.1 wrote it
    assert (log.last_step, log.state, log.damaged) == (2, "finished", 0)


def test_numbers_that_are_not_finite_are_valid_json_and_read_as_nan(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.write_event(Event(0, "started", "Go."))
        writer.write_scalars([(1, {"loss": float("inf")}), (2, {"loss": float("nan")})])
    for line in (tmp_path / SCALARS).read_text().splitlines():
        json.loads(line, parse_constant=pytest.fail)
    assert np.isnan(read_run(tmp_path).scalars["loss"].values).all()


def test_a_resumed_run_makes_later_lines_void(tmp_path: Path) -> None:
    write(tmp_path, range(1, 8))
    with RunWriter(tmp_path) as writer:
        writer.write_event(Event(6, "alarm", "Void.", topic="loss spike"))
    write(tmp_path, range(5, 7))
    log = read_run(tmp_path)
    assert log.scalars["loss"].steps.tolist() == [1, 2, 3, 4, 5, 6]
    assert log.alarms == ()
    assert log.state == "killed"


@given(cut=st.integers(1, 60))
def test_a_torn_line_is_left_out_and_the_next_run_goes_on_behind_it(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("run")
    write(folder, range(1, 6))
    path = folder / SCALARS
    path.write_bytes(path.read_bytes()[:-cut])
    before = read_run(folder)
    assert before.damaged == 0  # a last line without its end is nothing strange
    kept = before.scalars["loss"].steps.tolist()
    assert kept == list(range(1, len(kept) + 1))
    write(folder, range(len(kept) + 1, 9))
    after = read_run(folder)
    assert after.scalars["loss"].steps.tolist() == list(range(1, 9))
    assert after.damaged <= 1


def test_damage_is_counted_not_hidden(tmp_path: Path) -> None:
    write(tmp_path, range(1, 4))
    with (tmp_path / SCALARS).open("a") as file:
        file.write('{broken\n[]\n{"step": true}\n{"step": 4, "loss": 2}\n')
    with (tmp_path / HEADS).open("a") as file:
        uneven = '{"stack": "decoder", "kind": "self", "layer": 0, "a": [1], "b": [1, 2]}'
        file.write('{"step": 1}\n{"step": 2, "maps": [' + uneven + "]}\n")
    with (tmp_path / EVENTS).open("a") as file:
        file.write('{"step": 1, "kind": "alarm", "nonsense": 3}\n')
    log = read_run(tmp_path)
    assert log.damaged == 6
    assert log.scalars["loss"].values.tolist() == [1, 1 / 2, 1 / 3, 2]


@pytest.mark.parametrize(
    ("file", "line"),
    [
        (SCALARS, '{"step": 1' + "0" * 400 + ', "loss": 1}'),
        (SCALARS, "[" * 100_000),
        (HEADS, '{"step": 4, "maps": 3}'),
        (HEADS, '{"step": 4, "maps": [{"stack": "decoder", "kind": "self", "layer": 1e99, "a": [1]}]}'),
        (HEADS, '{"step": 4, "maps": [{"stack": "decoder", "kind": "both", "layer": 0, "a": [1]}]}'),
        (HEADS, '{"step": 4, "maps": [{"stack": "decoder", "kind": "self", "layer": 0, "a": ["x"]}]}'),
        (HEADS, '{"step": 4, "maps": [{"stack": "decoder", "kind": "self", "layer": 0, "a": [[1]]}]}'),
        (EVENTS, '{"step": 4, "kind": 5, "message": "x"}'),
        (EVENTS, '{"step": 4, "kind": "alarm", "message": "x", "value": "high"}'),
        (EVENTS, '{"step": 4, "kind": "alarm", "message": "x", "new": 1}'),
    ],
)
def test_a_line_that_cannot_be_is_damage(tmp_path: Path, file: str, line: str) -> None:
    write(tmp_path, range(1, 4))
    before = read_run(tmp_path)
    with (tmp_path / file).open("a") as opened:
        opened.write(line + "\n")
    log = read_run(tmp_path)
    assert log.damaged == 1
    assert log.scalars["loss"].values.tolist() == before.scalars["loss"].values.tolist()
    assert log.events == before.events
    assert list(log.heads) == list(before.heads)


def test_a_number_that_is_none_is_not_a_number(tmp_path: Path) -> None:
    write(tmp_path, range(1, 2))
    with (tmp_path / SCALARS).open("a") as file:
        file.write('{"step": 2, "loss": 1' + "0" * 400 + ', "rate": "x", "norm": Infinity}\n')
    log = read_run(tmp_path)
    assert [math.isnan(log.scalars[name].values[-1]) for name in ("loss", "rate", "norm")] == [True] * 3


def test_heads_that_change_in_number_are_damage(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.write_event(Event(0, "started", "Go."))
        writer.write_heads(1, {SELF: {"peak": [1.0]}})
        writer.write_heads(2, {SELF: {"peak": [1.0, 2.0]}})
    log = read_run(tmp_path)
    assert (log.heads[SELF].steps.tolist(), log.damaged) == ([1], 1)


def test_runs_are_found_by_their_events(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path / "one", range(1, 2))
    assert find_runs(tmp_path) == (tmp_path / "one",)
    assert not is_run(tmp_path)
    with pytest.raises(InputError, match="holds no training run"):
        read_run(tmp_path)


def test_reading_needs_no_torch() -> None:
    import subprocess
    import sys

    code = "import glassformer.runlog, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_event_keeps_its_message_and_place(tmp_path: Path) -> None:
    place = Place("decoder", "cross", 3)
    heads = [message("training.alarm.heads", place=place, heads=(2,), count=1)]
    text = message("training.alarm.dead_heads", value=math.nan, heads=heads)
    with RunWriter(tmp_path) as writer:
        writer.write_event(Event.from_message(4, "alarm", text, topic="dead head", place=place))
    (event,) = read_run(tmp_path).events
    assert "down to nan% of what is usual: head 2 of decoder layer 3, cross." in event.message
    assert event.find_place() == place
    assert event.as_message().code == text.code
    assert "第 2 头" in event.as_message().text("zh")


def test_statistics_that_an_older_version_did_not_write_are_undefined_there(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.write_event(Event(0, "started", "Go."))
        writer.write_heads(1, {SELF: {"score": [3.0, 4.0], "peak": [0.5, 0.6]}})
        writer.write_heads(2, {SELF: {"spread": [1.0, 2.0], "peak": [0.7, 0.8]}})
    history = read_run(tmp_path).heads[SELF]
    assert history.steps.tolist() == [1, 2]
    np.testing.assert_array_equal(history.statistics["score"], [[3.0, 4.0], [np.nan, np.nan]])
    np.testing.assert_array_equal(history.statistics["spread"], [[np.nan, np.nan], [1.0, 2.0]])
    np.testing.assert_array_equal(history.statistics["peak"], [[0.5, 0.6], [0.7, 0.8]])


def test_events_of_old_logs_are_read_as_they_were_written(tmp_path: Path) -> None:
    line = {"step": 2, "kind": "alarm", "message": "Look!", "topic": "dead head", "place": "decoder head 1"}
    (tmp_path / "events.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    (event,) = read_run(tmp_path).events
    assert str(event.as_message()) == "Look!"
    assert event.find_place() is None


def write_in_folder(folder: Path, name: str, time: float) -> Path:
    (folder / name).mkdir()
    file = folder / name / "log"
    file.write_text("", encoding="utf-8")
    os.utime(file, (time, time))
    return folder / name


def test_the_one_written_last_is_at_the_end(tmp_path: Path) -> None:
    late, early = write_in_folder(tmp_path, "a", 200), write_in_folder(tmp_path, "b", 100)
    same = write_in_folder(tmp_path, "c", 200)
    assert sort_by_time(tmp_path, "log") == (early, late, same)


def test_folders_without_the_file_are_left_out(tmp_path: Path) -> None:
    kept = write_in_folder(tmp_path, "a", 100)
    (tmp_path / "empty").mkdir()
    (tmp_path / "other" / "log").mkdir(parents=True)
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert sort_by_time(tmp_path, "log") == (kept,)
    assert sort_by_time(tmp_path / "nowhere", "log") == ()


def test_one_that_is_removed_meanwhile_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = write_in_folder(tmp_path, "a", 100)
    gone = tmp_path / "gone"
    monkeypatch.setattr(Path, "glob", lambda *_: iter([gone, kept]))
    assert sort_by_time(tmp_path, "log") == (kept,)
