"""Terminal pictures, character by character."""

from dataclasses import replace

import numpy as np
import pytest

from glassformer.place import Place
from glassformer.recording import AttentionMap, Recording
from glassformer.recording import measure as measure_statistics
from glassformer.render.choice import choose_head
from glassformer.render.terminal.heatmap import (
    describe_shades,
    draw_focus,
    draw_map,
    draw_output,
    draw_recording,
    draw_weights,
    shade,
)
from glassformer.render.terminal.text import measure
from translations import EVIDENCE, attention_map, tokens, translation

LEGEND = "· under 5 %   ░ under 20 %   ▒ under 40 %   ▓ under 70 %   █ 70 % and more"


@pytest.mark.parametrize(
    ("weight", "block"),
    [(0.0, " "), (1e-9, "·"), (0.049, "·"), (0.05, "░"), (0.2, "▒"), (0.4, "▓"), (0.7, "█"), (1.0, "█")],
)
def test_shades_begin_where_the_legend_says(weight: float, block: str) -> None:
    assert shade(weight) == block
    assert describe_shades() == LEGEND


def test_a_heat_map_has_a_row_for_each_query_and_a_column_for_each_key() -> None:
    picture = draw_weights(
        ["I", " love", "you"], ["我", "爱"], np.array([[0.9, 0.1], [0.0, 1.0], [0.5, 0.5]])
    )
    assert picture.splitlines() == ["     我 爱", "I    ███░░░", "love    ███", "you  ▓▓▓▓▓▓"]


def test_a_silenced_head_looks_at_nothing_and_is_not_the_most_focused() -> None:
    source = tokens("source", ["I", " love", " you"])
    weights = np.zeros((2, 3, 3), dtype=np.float32)
    weights[1] = 1 / 3  # head 0 is silenced: all keys are allowed, and none has any weight
    statistics = measure_statistics(weights, allowed=np.ones_like(weights, dtype=bool))
    silenced = AttentionMap(
        Place("decoder", "self", 0), source, source, statistics, dense=weights, relaxed="silenced"
    )
    edited = replace(EVIDENCE, edits=("head 0 of decoder layer 0, self: silenced",))
    recording = Recording("toy", edited, source, None, (silenced,))
    assert draw_focus(recording).splitlines()[-1].split() == ["decoder", "0", "–", "3.0"]
    assert choose_head(recording)[1] == 1
    assert choose_head(recording, head=0)[1] == 0  # asked for, it is shown


def test_a_recording_on_one_screen() -> None:
    assert draw_recording(translation(), columns=120).splitlines() == [
        "How many tokens a head looks at (exp of its mean entropy), by layer and head",
        "             0    1",
        "decoder 0  1.0",
        "cross 0    3.0  1.4",
        "",
        "decoder layer 0, cross, head 1",
        "     我 爱 你",
        "love ███░░░",
        "you     ███",
        "too  ▓▓▓   ▓▓▓",
        LEGEND,
        "Rows: the word that is written",
        "",
        "Next word:  too 75 %   ␣ 25 %",
        "",
        f"Evidence:  {EVIDENCE}",
    ]


def test_rows_can_be_named_by_the_word_that_entered() -> None:
    lines = draw_recording(translation(), columns=120, reading="entered").splitlines()
    assert lines[7:11] == ["I    ███░░░", "love    ███", "you  ▓▓▓   ▓▓▓", LEGEND]
    assert lines[11].startswith("Rows: the word that entered the decoder")


@pytest.mark.parametrize(("heads", "columns", "blocks"), [(12, 80, 1), (25, 80, 2), (25, 200, 1), (3, 1, 3)])
def test_heads_that_do_not_fit_beside_the_others_follow_below(heads: int, columns: int, blocks: int) -> None:
    words = tokens("source", ["a", "b"])
    weights = np.tile(np.eye(2, dtype=np.float32), (heads, 1, 1))
    recording = Recording("toy", EVIDENCE, words, maps=(attention_map(weights, words, words),))
    lines = draw_focus(recording, columns=columns).splitlines()[-2 * blocks :]
    assert len(lines) == 2 * blocks
    assert " ".join(lines[0::2]).split() == [str(head) for head in range(heads)]
    assert " ".join(lines[1::2]).replace("decoder 0", "").split() == ["1.0"] * heads
    assert columns < 20 or all(measure(line) <= columns for line in lines)


def test_evidence_stays_within_the_terminal() -> None:
    lines = draw_recording(translation(), columns=50).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("Evidence:"))
    assert len(lines) > start + 1
    assert all(measure(line) <= 50 for line in lines[start:])
    assert " ".join(" ".join(lines[start:]).split()) == " ".join(f"Evidence: {EVIDENCE}".split())


@pytest.mark.parametrize("columns", [16, 20, 30, 39])
def test_a_narrow_terminal_is_not_overflown(columns: int) -> None:
    text = draw_recording(translation(), columns=columns)
    assert [line for line in text.splitlines() if measure(line) > columns] == []
    for share in ("5 %", "70 % and"):
        assert share in text  # the legend is all there


def test_what_does_not_fit_is_said() -> None:
    words = tokens("source", [f"w{index}" for index in range(50)])
    picture = draw_map(
        attention_map(np.eye(50, dtype=np.float32)[None], words, words), 0, columns=48
    ).splitlines()
    assert picture[-1] == "The first 10 tokens of 50 × 50."
    assert len(picture) == 15  # the legend takes two lines
    assert all(measure(line) <= 48 for line in picture[:-2])


def test_a_map_without_weights_is_not_invented() -> None:
    words = tokens("source", ["a", "b"])
    only_statistics = attention_map(np.eye(2, dtype=np.float32)[None], words, words, dense=False)
    assert draw_map(only_statistics, 0).endswith("only its statistics were recorded.")


def test_a_model_without_attention_says_so() -> None:
    empty = Recording("recurrent", EVIDENCE, tokens("source", ["a"]))
    assert draw_recording(empty) == "recurrent computes no attention: there is nothing to draw."
    assert draw_output(empty) == ""
