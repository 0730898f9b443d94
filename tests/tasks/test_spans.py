"""Names of several words: found as `conlleval` finds them, and scored by hand."""

import pytest

from glassformer.tasks.spans import are_spans, find_spans, score_spans


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("O O", []),
        ("B-PER I-PER O B-LOC", [("PER", 0, 2), ("LOC", 3, 4)]),
        ("B-PER B-PER", [("PER", 0, 1), ("PER", 1, 2)]),  # two names side by side
        ("I-PER I-LOC O I-LOC", [("PER", 0, 1), ("LOC", 1, 2), ("LOC", 3, 4)]),  # begun without B-
        ("S-PER B-LOC E-LOC I-LOC", [("PER", 0, 1), ("LOC", 1, 3), ("LOC", 3, 4)]),
    ],
)
def test_names_are_found(tags: str, spans: list[tuple[str, int, int]]) -> None:
    assert find_spans(tags.split()) == spans


def test_a_name_counts_only_as_a_whole() -> None:
    references = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-PER"]]
    answers = [["B-PER", "O", "O", "B-LOC"], ["O", "B-PER"]]
    scores = score_spans(answers, references)  # three names, three found, two of them right
    assert scores["span_precision"] == pytest.approx(2 / 3)
    assert scores["span_recall"] == pytest.approx(2 / 3)
    assert scores["span_f1"] == pytest.approx(2 / 3)
    assert scores["span_f1.LOC"] == 1
    assert scores["span_f1.PER"] == pytest.approx(1 / 2)
    assert set(score_spans([["O"]], [["O"]]).values()) == {0.0}


def test_only_marks_of_names_are_spans() -> None:
    assert are_spans(["B-PER", "I-PER", "O"])
    assert not are_spans(["O"])
    assert not are_spans(["NOUN", "VERB"])
    assert not are_spans(["B-PER", "I-PER", "NOUN", "O"])
