"""Names that are several words long, marked by B-PER, I-PER, O: where they are, and how many were found.

In:   tags of the words of sentences, guessed and right.
Out:  precision, recall and F1 of whole names: one counts only with the right kind, first and last word.
"""

import re
from collections import Counter
from collections.abc import Sequence

Span = tuple[str, int, int]  # kind, first word, one past the last
MARK = re.compile(r"([BIES])-(.+)")  # of a word in a name: begins it, inside, ends it, stands alone


def are_spans(labels: Sequence[str]) -> bool:
    """Whether labels mark names: O, and B- or I- before a kind."""
    marks = [label for label in labels if label != "O"]
    return "O" in labels and bool(marks) and all(MARK.fullmatch(label) for label in marks)


def find_spans(tags: Sequence[str]) -> list[Span]:
    """The names in a sentence. I- after another kind, or after O, begins a name, as `conlleval` has it."""
    spans: list[Span] = []
    kind, start = None, 0
    for place, tag in enumerate([*tags, "O"]):
        found = MARK.fullmatch(tag)
        mark, now = (found[1], found[2]) if found else ("O", None)
        if kind is not None and (now != kind or mark in "BS"):
            spans.append((kind, start, place))
            kind = None
        if now is not None and kind is None:
            kind, start = now, place
        if kind is not None and mark in "ES":
            spans.append((kind, start, place + 1))
            kind = None
    return spans


def score_spans(answers: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> dict[str, float]:
    """Scores over all sentences, and F1 of each kind that occurs; 0 where there is nothing to divide by."""
    found, right, hits = Counter[str](), Counter[str](), Counter[str]()
    for tags, truth in zip(answers, references, strict=True):
        guessed, wanted = set(find_spans(tags)), set(find_spans(truth))
        found.update(kind for kind, _, _ in guessed)
        right.update(kind for kind, _, _ in wanted)
        hits.update(kind for kind, _, _ in guessed & wanted)
    scores = {
        "span_f1": 2 * hits.total() / max(1, found.total() + right.total()),
        "span_precision": hits.total() / max(1, found.total()),
        "span_recall": hits.total() / max(1, right.total()),
    }
    kinds = sorted({*found, *right})
    return scores | {f"span_f1.{kind}": 2 * hits[kind] / (found[kind] + right[kind]) for kind in kinds}
