"""Text in the columns of a terminal."""

import pytest

from glassformer.render.terminal.text import fit, measure, wrap


@pytest.mark.parametrize(
    ("text", "columns"), [("cat", 3), ("汤姆", 4), ("étudiant", 8), ("e\u0301", 1), ("", 0)]
)
def test_wide_characters_take_two_columns(text: str, columns: int) -> None:
    assert measure(text) == columns


def test_fitting_cuts_and_fills() -> None:
    assert fit("animal", 3) == "ani"
    assert fit("it", 4) == "it  "
    assert fit("汤姆", 3) == "汤 "


def test_lines_are_cut_between_words_or_where_they_must_be() -> None:
    assert wrap("one two three", 80) == "one two three"
    assert wrap("one two three four", 16, hanging=2) == "one two three\n  four"
    assert wrap("a" * 20, 16, indent=2) == "  " + "a" * 14 + "\n  " + "a" * 6
    assert wrap("我爱" * 9, 16).split("\n") == ["我爱" * 4, "我爱" * 4, "我爱"]
    assert wrap("文件夹或 zoo 中的名称。", 16).split("\n") == ["文件夹或 zoo 中", "的名称。"]
    assert wrap("一二三四五六七八，九", 16).split("\n") == [
        "一二三四五六七",
        "八，九",
    ]  # no line begins with it
    assert wrap("a b   c d   e f   g h", 17, separator="   ") == "a b   c d   e f\ng h"
