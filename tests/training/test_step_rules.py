"""Rules over losses, gradients and scores: what the first rules missed is found, health is left alone."""

import json
import math

import pytest

from glassformer.runlog import ALARM, PASSED
from glassformer.training.alarms import QUIET, AlarmWatch
from glassformer.training.settings import MonitorSettings
from training.watching import falling, follow, told


def grow(losses: list[float], factor: float) -> list[float]:
    return losses[:500] + [loss * factor**step for step, loss in enumerate(losses[500:540], 1)]


@pytest.mark.parametrize("seed", range(5))
def test_a_falling_noisy_loss_is_no_trouble(seed: int) -> None:
    assert follow(falling(2000, seed)) == []


def test_a_spike_begins_and_passes() -> None:
    losses = falling(600)
    losses[499] += 3
    events = follow(losses)
    assert told(events) == [(500, ALARM, "loss_spike"), (500 + QUIET, PASSED, "loss_spike")]
    assert events[0].value == losses[499]


@pytest.mark.parametrize(
    ("what", "change", "begins"),
    [
        ("4 to 96", lambda losses: [4 + 92 * min(1, step / 20) for step in range(60)], 1),
        ("times 3 at step 40", lambda losses: losses[:39] + [3 * loss for loss in losses[39:100]], 40),
        ("2 to 5 after a fall from 8", lambda losses: losses[:500] + [5.0, 5.1] * 20, 501),
        ("0.5 % a step", lambda losses: grow(losses, 1.005), 501),
        ("1 % a step", lambda losses: grow(losses, 1.01), 501),
        ("2 % a step", lambda losses: grow(losses, 1.02), 501),
        ("a spike of 50 %", lambda losses: [*losses[:500], 1.5 * losses[500], *losses[501:]], 501),
    ],
)
def test_what_was_once_missed_is_found_within_20_steps(what: str, change: object, begins: int) -> None:
    events = [event for event in follow(change(falling(600))) if event.kind == ALARM]  # type: ignore[operator]
    assert begins <= events[0].step <= begins + 20, what


def test_dev_that_rises_while_training_falls_is_over_fitting() -> None:
    watch = AlarmWatch(MonitorSettings())
    events = []
    for evaluation, dev in enumerate((1.2, 0.9, 0.83, 0.95, 1.4, 2.6, 5.5)):
        follow([1.2 * 0.5**evaluation] * 10, watch, start=10 * evaluation)
        events += watch.check_scores(10 * evaluation + 10, {"loss": dev})
    assert told(events) == [(50, ALARM, "over_fitting")]


def test_a_loss_that_is_not_finite_names_layers() -> None:
    watch = AlarmWatch(MonitorSettings())
    (event,) = watch.check_step(5, math.nan, math.inf, 1e-3, {"encoder.0": 1.0, "decoder.1": math.nan})
    assert event.alarm is not None
    assert (event.alarm["cause"], event.alarm["layers"], event.value) == ("not_finite", ["decoder.1"], None)
    assert "decoder.1" in event.message
    json.dumps(event.parameters, allow_nan=False)


def test_a_layer_without_gradient_is_named() -> None:
    watch = AlarmWatch(MonitorSettings())
    events = []
    for step in range(1, 80):
        layers = {"encoder.0": 1.0, "encoder.1": 0.0 if step > 50 else 0.5} if step % 10 == 0 else {}
        events += watch.check_step(step, 2.0, 1.1, 1e-3, layers)
    assert told(events) == [(60, ALARM, "vanishing_gradient")]
    assert events[0].alarm is not None
    assert events[0].alarm["layers"] == ["encoder.1"]
