"""Which first row is a header."""

import pytest

from glassformer.text.table import looks_like_header


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("text", "label"), True),
        ((" Text", "LABEL "), True),
        (("text", "good"), False),  # a class, not a name
        (("text", "text"), False),  # names differ
        (("A fine film.", "positive"), False),
        (("sentence1", "sentence2", "label"), True),
    ],
)
def test_a_header_has_names_of_columns_only(cells: tuple[str, ...], expected: bool) -> None:
    assert looks_like_header(cells) is expected


def test_a_task_may_know_more_names() -> None:
    assert not looks_like_header(("nl", "en"))
    assert looks_like_header(("NL", "en"), names=("nl",))
