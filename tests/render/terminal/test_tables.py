"""Tables in a terminal: scores, metrics and any rows."""

import numpy as np

from drawings import make_recording
from glassformer.metrics import METRICS, score
from glassformer.render.terminal.tables import draw_metrics, draw_scores, draw_table, format_value
from glassformer.render.terminal.text import measure

ROWS = [("layer", "a", "汤姆"), ("0", "1.5", "x"), ("1", "10.25", "y")]


def test_columns_stand_under_each_other() -> None:
    assert draw_table(ROWS, right={1}).splitlines() == [
        "layer      a  汤姆",
        "0        1.5  x",
        "1      10.25  y",
    ]
    assert draw_table(ROWS[1:], header=False).splitlines() == ["0  1.5    x", "1  10.25  y"]


def test_columns_that_do_not_fit_follow_below() -> None:
    blocks = draw_table(ROWS, columns=16).splitlines()
    assert blocks[0].split() == ["layer", "a"]
    assert blocks[3].split() == ["layer", "汤姆"]
    assert all(measure(line) <= 16 for line in blocks)


def test_a_number_that_is_none_is_a_dash() -> None:
    assert [format_value(value) for value in (float("nan"), 0.123456, 12345.0)] == [
        "–",
        "0.1235",
        "1.234e+04",
    ]


def test_scores_of_every_level_are_drawn_with_their_reasons() -> None:
    recording = make_recording()
    whole, layers = (score(recording, "entropy", over=over) for over in ("model", "layer"))
    text = draw_scores(
        [whole, layers, score(recording, "entropy"), score(recording, "distance")], columns=100
    )
    assert format_value(whole.value) in text
    assert "decoder layer 1, cross" in text
    assert text.splitlines()[-1].startswith("– distance: ")
    assert format_value(float(np.max(score(recording, "entropy").values))) in text
    assert max(map(measure, text.splitlines())) <= 100


def test_metrics_are_listed_with_their_parameters() -> None:
    text = draw_metrics([METRICS["nonzero_share"], METRICS["entropy"]], columns=60)
    assert text.splitlines()[0] == "sparsity"
    assert "threshold=0.01" in text
    assert max(map(measure, text.splitlines())) <= 60
