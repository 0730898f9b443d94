"""What heads give for other texts is read in the unedited model, and not twice."""

from typing import Any

import pytest

from edited_models import EVERYTHING, SOURCE, make_subject, same_output
from glassformer.recorders import references
from glassformer.recorders.edits import AblateHead, FirstLayers, ScaleScores
from glassformer.recorders.record import find_recorder
from glassformer.recorders.references import KEPT, References

TEXTS = ([5, 6, 7], [9, 8, 7, 6])


def test_a_reference_is_read_once_for_all_heads_of_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, reads = make_subject("our decoder")
    recorder: Any = find_recorder(subject)
    runs = []
    monkeypatch.setattr(
        recorder, "run", lambda request, own=recorder.run: runs.append(request) or own(request)
    )
    for head in range(4):
        subject.record(*reads, edits=[AblateHead("decoder", "self", 1, head, "mean", TEXTS)])
    assert len(runs) == len(TEXTS) + 4
    for number in range(KEPT + 2):
        subject.record(*reads, edits=[AblateHead("decoder", "self", 1, 0, "mean", [[5, number]])])
    assert len(subject.cache[References]) == KEPT


@pytest.mark.parametrize("kind", ["GPT-2", "our decoder"])
def test_other_edits_do_not_change_a_reference(kind: str) -> None:
    """The mean over the text itself, and over a text of one token, whatever else is edited."""
    subject, reads = make_subject(kind)
    mean = AblateHead("decoder", "self", 0, 1, "mean", [[7]])
    again = AblateHead("decoder", "self", 0, 1, "resample", [[7] * len(SOURCE)])
    edits = [ScaleScores(0.0), FirstLayers(2)]
    one = subject.record(*reads, edits=[mean, *edits], want=EVERYTHING)
    subject.cache.pop(References)
    same_output(one, subject.record(*reads, edits=[*edits, mean], want=EVERYTHING))
    assert len(subject.record(*reads, edits=[again]).evidence.edits) == 1


def test_a_collector_changes_nothing() -> None:
    subject, reads = make_subject("BART")
    collect = references.CollectOutputs(AblateHead("decoder", "cross", 1, 0))
    plain = subject.record(*reads, want=EVERYTHING)
    same_output(plain, subject.record(*reads, want=EVERYTHING, edits=[collect]))
    assert collect.found[-1].shape == (4, len(reads[1]) + 1, 8)
