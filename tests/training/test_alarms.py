"""Each alarm is provoked once, and once nearly."""

import numpy as np
import pytest

from glassformer.place import Place
from glassformer.runlog import Event
from glassformer.training.alarms import LOOKS, SETTLING, HeadWatch, LossWatch
from glassformer.training.settings import MonitorSettings

PLACE = Place("decoder", "self", 3)
HEALTHY = {
    "entropy_share": [0.5, 0.02, 0.7],  # one sharp head is fine
    "score": [5.0, 40.0, 3.0],
    "contribution": [1.0, 0.5, 0.2],
    "likeness": [0.6, 0.5, 0.6],
    "twin": [2.0, 0.0, 0.0],
}


def look(changes: dict[str, list[float]], times: int = LOOKS) -> list[Event]:
    watch = HeadWatch(MonitorSettings())
    events = []
    for step in range(times):
        events += watch.check(step, {PLACE: HEALTHY | changes})
    return events


@pytest.mark.parametrize(
    ("topic", "trouble", "text", "nearly"),
    [
        (
            "entropy collapse",
            {"entropy_share": [0.01, 0.02, 0.03]},
            "All heads of decoder layer 3, self",
            {"entropy_share": [0.01, 0.02, 0.2]},
        ),
        (
            "dead head",
            {"contribution": [1.0, 0.5, 0.001]},
            "Head 2 of decoder layer 3, self",
            {"contribution": [1.0, 0.5, 0.02]},
        ),
        (
            "exploding scores",
            {"score": [5.0, 101.0, 3.0]},
            "decoder layer 3, self, head 1",
            {"score": [5.0, 99.0, 3.0]},
        ),
        (
            "identical heads",
            {"likeness": [0.995, 0.5, 0.995]},
            "Heads 0 and 2 of decoder layer 3, self",
            {"likeness": [0.98, 0.5, 0.98]},
        ),
    ],
)
def test_trouble_is_told_once_and_what_is_nearly_trouble_is_not(
    topic: str, trouble: dict[str, list[float]], text: str, nearly: dict[str, list[float]]
) -> None:
    events = look(trouble, times=5)
    assert [(event.topic, event.place, event.is_alarm) for event in events] == [(topic, PLACE.address, True)]
    assert text in events[0].message
    assert events[0].as_message().text("zh") != events[0].message
    assert look(nearly, times=5) == []


def test_one_look_may_be_chance_but_scores_explode_at_once() -> None:
    assert look({"contribution": [1.0, 0.5, 0.001]}, times=LOOKS - 1) == []
    assert len(look({"score": [500.0, 1.0, 1.0]}, times=1)) == 1


def test_heads_that_look_everywhere_are_not_alike() -> None:
    assert look({"likeness": [1.0, 1.0, 1.0], "entropy_share": [0.99, 0.99, 0.99]}) == []


def test_trouble_that_had_passed_is_told_again() -> None:
    watch = HeadWatch(MonitorSettings())
    hot, cold = {PLACE: HEALTHY | {"score": [200.0, 1.0, 1.0]}}, {PLACE: HEALTHY}
    told = [len(watch.check(step, maps)) for step, maps in enumerate((hot, hot, cold, hot))]
    assert told == [1, 0, 0, 1]


def test_a_map_of_one_head_without_contribution_is_fine() -> None:
    alone = {
        "entropy_share": [0.5],
        "score": [1.0],
        "contribution": [np.nan],
        "likeness": [np.nan],
        "twin": [np.nan],
    }
    watch = HeadWatch(MonitorSettings())
    assert [watch.check(step, {PLACE: alone}) for step in range(3)] == [[], [], []]


def falling(steps: int, seed: int = 0) -> list[float]:
    noise = np.random.default_rng(seed).normal(0, 0.1, steps)
    return (2 + 6 * np.exp(-np.arange(steps) / 100) + noise).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_a_falling_noisy_loss_is_no_spike(seed: int) -> None:
    watch = LossWatch(MonitorSettings())
    assert all(watch.check(step, loss) is None for step, loss in enumerate(falling(2000, seed)))


def test_a_spike_is_told_once_where_it_begins() -> None:
    watch = LossWatch(MonitorSettings())
    losses = falling(600)
    for step in range(500, 520):
        losses[step] += 3
    events = [event for step, loss in enumerate(losses) if (event := watch.check(step, loss))]
    assert [(event.step, event.topic, event.value) for event in events] == [(500, "loss spike", losses[500])]


def test_a_level_that_stays_becomes_the_usual_one() -> None:
    watch = LossWatch(MonitorSettings())
    losses = [2.0 + 0.01 * (step % 3) for step in range(200)] + [
        5.0 + 0.01 * (step % 3) for step in range(400)
    ]
    told = [step for step, loss in enumerate(losses) if watch.check(step, loss)]
    assert told == [200]
    assert watch.check(700, 9.0) is not None


def test_the_beginning_is_no_spike() -> None:
    watch = LossWatch(MonitorSettings())
    assert all(watch.check(step, 1.0 + 5 * (step == 10)) is None for step in range(SETTLING - 1))


def test_memory_is_plain_numbers_and_all_there_is() -> None:
    first, second = LossWatch(MonitorSettings()), LossWatch(MonitorSettings())
    losses = falling(300)
    for step, loss in enumerate(losses[:200]):
        first.check(step, loss)
    second.memory = dict(first.memory)
    losses[250] += 5
    for step, loss in enumerate(losses[200:], 200):
        assert first.check(step, loss) == second.check(step, loss)
