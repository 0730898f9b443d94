"""Alarms of a log: joined from their events; damaged records are counted, not guessed."""

import json
from pathlib import Path

import pytest

from glassformer.messages import message
from glassformer.place import Place
from glassformer.runlog import ALARM, GREW, PASSED, AlarmRecord, Event, RunWriter, read_run

SELF = Place("decoder", "self", 0)
CROSS = Place("decoder", "cross", 1)


def tell(step: int, kind: str, record: AlarmRecord) -> Event:
    text = message(
        "training.alarm.passed", topic="dead heads", first=record.first_step, last=record.last_step
    )
    return Event.from_message(step, kind, text, topic="dead heads", value=step / 10, alarm=record)


def test_an_alarm_is_joined_from_its_beginning_growth_and_end(tmp_path: Path) -> None:
    first = AlarmRecord(1, "dead_heads", 20, 20, {SELF: (1,)})
    grown = AlarmRecord(1, "dead_heads", 20, 40, {SELF: (1, 3), CROSS: (0,)})
    other = AlarmRecord(2, "vanishing_gradient", 30, 30, layers=("encoder.0",))
    with RunWriter(tmp_path) as writer:
        for event in (
            tell(20, ALARM, first),
            tell(30, ALARM, other),
            tell(40, GREW, grown),
            tell(60, PASSED, grown),
        ):
            writer.write_event(event)
    log = read_run(tmp_path)
    dead, gradient = log.alarms
    assert (dead.cause, dead.first_step, dead.last_step, dead.passed_at) == ("dead_heads", 20, 40, 60)
    assert (dead.heads, dead.value, dead.topic) == ({SELF: (1, 3), CROSS: (0,)}, 4.0, "dead heads")
    assert (gradient.passed_at, gradient.layers, gradient.heads) == (None, ("encoder.0",), {})
    with RunWriter(tmp_path) as writer:  # what was said after a step from which the run goes on is void
        writer.write_event(Event(30, "resumed", "Go."))
    dead, _ = read_run(tmp_path).alarms
    assert (dead.heads, dead.last_step, dead.passed_at) == ({SELF: (1,)}, 20, None)


@pytest.mark.parametrize(
    "changes",
    [
        {"number": "1"},
        {"cause": None},
        {"heads": {"nowhere": [1]}},
        {"heads": [3]},
        {"layers": [3]},
        {"last_step": -1},
    ],
)
def test_a_damaged_record_of_an_alarm_is_counted(tmp_path: Path, changes: dict[str, object]) -> None:
    record = AlarmRecord(1, "dead_heads", 2, 2, {SELF: (1,)}).to_json() | changes
    line = {"step": 2, "kind": "alarm", "message": "Look!", "alarm": record}
    (tmp_path / "events.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    log = read_run(tmp_path)
    assert (log.alarms, log.damaged) == ((), 1)
