"""Terminal pictures, character by character."""

import numpy as np
import pytest

from glassformer.show.terminal import draw_table, draw_weights, fit, measure, shade


@pytest.mark.parametrize(
    ("weight", "block"),
    [(0.0, " "), (1e-9, "·"), (0.049, "·"), (0.05, "░"), (0.2, "▒"), (0.4, "▓"), (0.7, "█"), (1.0, "█")],
)
def test_shades_begin_where_the_legend_says(weight: float, block: str) -> None:
    assert shade(weight) == block


@pytest.mark.parametrize(
    ("text", "columns"), [("cat", 3), ("汤姆", 4), ("étudiant", 8), ("e\u0301", 1), ("", 0)]
)
def test_wide_characters_take_two_columns(text: str, columns: int) -> None:
    assert measure(text) == columns


def test_fitting_cuts_fills_and_shows_what_cannot_be_printed() -> None:
    assert fit("animal", 3) == "ani"
    assert fit("it", 4) == "it  "
    assert fit("汤姆", 3) == "汤 "
    assert fit("a\nb", 3) == "a␣b"


def test_a_heat_map_has_a_row_for_each_query_and_a_column_for_each_key() -> None:
    picture = draw_weights(["I", "love", "you"], ["我", "爱"], np.array([[0.9, 0.1], [0.0, 1.0], [0.5, 0.5]]))
    assert picture.splitlines() == ["     我 爱", "I    ███░░░", "love    ███", "you  ▓▓▓▓▓▓"]


def test_what_does_not_fit_is_said() -> None:
    words = [f"w{index}" for index in range(50)]
    picture = draw_weights(words, words, np.eye(50), columns=34)
    assert picture.splitlines()[-1] == "(the first 10 tokens of 50 × 50)"
    assert len(picture.splitlines()) == 12
    assert all(measure(line) <= 34 for line in picture.splitlines())


def test_a_table_stands_under_its_names() -> None:
    table = draw_table(["layer 0"], ["head 0", "head 1"], np.array([[1.25, 10.0]]))
    assert table.splitlines() == ["         head 0 head 1", "layer 0     1.2   10.0"]
