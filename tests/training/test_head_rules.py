"""Rules over heads: each trouble is named, and what is nearly trouble is not."""

import math

import pytest

from glassformer.runlog import ALARM
from glassformer.training.alarms import AlarmWatch
from glassformer.training.settings import MonitorSettings
from training.watching import HEALTHY, PLACE, Changes, look, told


@pytest.mark.parametrize(
    ("cause", "trouble", "text", "nearly"),
    [
        (
            "collapsed_heads",
            {"entropy_share": [0.01, 0.02, 0.7]},
            "head 0 of",
            {"entropy_share": [0.05, 0.02, 0.7]},
        ),
        (
            "collapsed_heads",
            {"entropy_share": [0.01, 0.02, 0.03]},
            "heads 0, 1 and 2 of",
            {"entropy_share": [0.05] * 3},
        ),
        (
            "uniform_heads",
            {"entropy_share": [1.0, 0.02, 0.7]},
            "head 0 of",
            {"entropy_share": [0.99, 0.02, 0.7]},
        ),
        ("uniform_heads", {"spread": [5.0, 0.0, 3.0]}, "head 1 of", {"spread": [5.0, 0.001, 3.0]}),
        ("dead_heads", {"contribution": [1.0, 0.5, 0.001]}, "head 2 of", {"contribution": [1.0, 0.5, 0.02]}),
        ("dead_heads", {"contribution": [1e-5] * 3}, "heads 0, 1 and 2 of", {"contribution": [0.02] * 3}),
        ("exploding_scores", {"spread": [5.0, 101.0, 3.0]}, "head 1 of", {"spread": [5.0, 99.0, 3.0]}),
        (
            "identical_heads",
            {"likeness": [0.995, 0.5, 0.995]},
            "heads 0 and 2 of",
            {"likeness": [0.98, 0.5, 0.98]},
        ),
    ],
)
def test_heads_in_trouble_are_named_and_what_is_nearly_trouble_is_not(
    cause: str, trouble: Changes, text: str, nearly: Changes
) -> None:
    events = look({}, *[trouble] * 4)
    first = next(event for event in events if event.alarm and event.alarm["cause"] == cause)
    assert (first.kind, first.place, first.topic) == (ALARM, PLACE.address, cause.replace("_", " "))
    assert first.step <= 2
    assert f"{text} decoder layer 3, self" in first.message
    assert first.as_message().text("zh") != first.message
    assert look({}, *[nearly] * 4) == []


def test_a_network_that_begins_with_sharp_heads_has_no_collapse() -> None:
    """As when a trained one is fine-tuned: its heads did not become sharp now."""
    assert look(*[{"entropy_share": [0.004, 0.02, 0.7]}] * 4) == []


def test_hard_attention_by_design_has_no_collapse() -> None:
    """With one key there is no entropy to have a share of."""
    assert look(*[{"entropy_share": [math.nan] * 3}] * 4) == []


def test_one_look_may_be_chance_but_scores_explode_at_once() -> None:
    assert look({}, {"contribution": [1.0, 0.5, 0.001]}) == []
    assert len(look({}, {"spread": [500.0, 1.0, 1.0]})) == 1


def test_heads_that_look_everywhere_are_not_alike() -> None:
    assert look(*[{"likeness": [1.0, 1.0, 1.0], "entropy_share": [0.99, 0.99, 0.99]}] * 3) == []


def test_all_heads_that_look_evenly_late_in_a_run_have_learnt_nothing() -> None:
    even = {PLACE: HEALTHY | {"entropy_share": [0.9999] * 3}}
    watch = AlarmWatch(MonitorSettings())
    assert [event for step in (0, 500, 1000) for event in watch.check_look(step, even)] == []
    events = [event for step in (2000, 2500) for event in watch.check_look(step, even)]
    assert told(events) == [(2500, ALARM, "uniform_heads")]


def test_a_map_of_one_head_without_contribution_is_fine() -> None:
    nothing = [math.nan]
    alone = {
        "entropy_share": [0.5],
        "spread": [1.0],
        "contribution": nothing,
        "likeness": nothing,
        "twin": nothing,
    }
    watch = AlarmWatch(MonitorSettings())
    assert [watch.check_look(step, {PLACE: alone}) for step in range(3)] == [[], [], []]
