"""Alarms: one for each cause, from when it begins until it passes; what is remembered and replayed."""

import json
from pathlib import Path

import pytest

from glassformer.place import Place
from glassformer.runlog import ALARM, GREW, PASSED, read_run
from glassformer.training.alarms import CAUSES, AlarmWatch, replay
from glassformer.training.settings import MonitorSettings
from training.runs import run
from training.watching import HEALTHY, PLACE, falling, follow, look, told


def test_an_alarm_grows_passes_and_may_begin_again() -> None:
    hot, hotter = {"spread": [200.0, 1.0, 1.0]}, {"spread": [200.0, 1.0, 300.0]}
    events = look({}, hot, hot, hotter, {}, {}, hot)
    assert told(events) == [
        (1, ALARM, "exploding_scores"),
        (3, GREW, "exploding_scores"),
        (4, PASSED, "exploding_scores"),
        (6, ALARM, "exploding_scores"),
    ]
    assert [event.alarm["number"] for event in events if event.alarm] == [1, 1, 1, 2]
    assert events[2].alarm == events[1].alarm  # first and last step, heads
    assert events[1].alarm is not None
    assert events[1].alarm["heads"] == {PLACE.address: [0, 2]}
    assert "steps 1 to 3: passed" in events[2].message


def test_one_alarm_for_the_same_trouble_in_many_maps() -> None:
    watch = AlarmWatch(MonitorSettings())
    hot = HEALTHY | {"spread": [200.0] * 3}
    maps = {Place("encoder", "self", layer): hot for layer in range(9)}
    (event,) = watch.check_look(1, maps)
    assert event.alarm is not None
    assert len(event.alarm["heads"]) == 9
    assert event.message.count("encoder layer") == 4
    assert "15 more" in event.message


@pytest.mark.parametrize("cut", [30, 205, 260])
def test_a_resumed_run_raises_the_same_alarms(cut: int) -> None:
    """The memory is JSON, and all there is."""
    losses = falling(300)
    losses[199:230] = [loss * 1.4 for loss in losses[199:230]]
    whole = follow(losses)
    first, second = AlarmWatch(MonitorSettings()), AlarmWatch(MonitorSettings())
    events = follow(losses[:cut], first)
    second.load_state(json.loads(json.dumps(first.state())))
    assert events + follow(losses[cut:], second, start=cut) == whole
    assert len(whole) > 1


def test_the_memory_of_another_version_is_left() -> None:
    watch = AlarmWatch(MonitorSettings())
    watch.load_state({"loss": {"steps": 3, "mean": 2.0}, "heads": {}})
    assert follow(falling(50), watch) == []


@pytest.mark.slow
def test_a_log_replayed_has_the_alarms_that_were_raised(recipe: Path) -> None:
    log = read_run(run(recipe, "monitor.explode=0.5", "train.rate=1.0", "train.clip=0", "train.steps=24"))
    written = [event for event in log.events if event.kind in (ALARM, GREW, PASSED)]
    again = replay(log, MonitorSettings(explode=0.5))
    assert [(event.step, event.kind, event.alarm) for event in again] == [
        (event.step, event.kind, event.alarm) for event in written
    ]
    assert len(log.alarms) >= 2
    assert all(alarm.cause in CAUSES for alarm in log.alarms)
