"""Evidence: one line that says how numbers were made."""

from dataclasses import replace
from math import nan

import pytest

from glassformer.errors import RecordingError
from glassformer.recording import Evidence


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_hash": ""}, "Evidence.model_hash is ''"),
        ({"exact": 1}, "Evidence.exact is 1"),
        ({"largest_error": nan}, "Evidence.largest_error is nan"),
        ({"largest_error": -1.0}, "Evidence.largest_error is -1.0"),
        ({"reference": None}, "Evidence.reference is None. Expected what the error was measured against"),
        ({"edits": ("",)}, "Evidence.edits is ''"),
        ({"versions": {"torch": 2}}, r"Evidence.versions\['torch'\] is 2"),
    ],
)
def test_evidence_that_says_nothing_is_refused(evidence, changes, message):
    with pytest.raises(RecordingError, match=message):
        replace(evidence, **changes)


def test_evidence_in_one_line(evidence):
    line = "tiny (0123456789ab) · kernel: eager · float32 · exact"
    assert str(evidence) == f"{line} · no difference from eager"
    assert str(replace(evidence, largest_error=1.25e-6)) == f"{line} · largest error 1.3e-06 against eager"
    approximate = replace(evidence, exact=False, largest_error=0.5)
    assert str(approximate) == line.replace("exact", "approximate · largest error 5.0e-01 against eager")


@pytest.mark.parametrize("exact", [True, False])
def test_what_was_not_compared_is_called_neither_exact_nor_approximate(exact):
    evidence = Evidence("m", "ab", "sdpa + recomputed", "bfloat16", exact)
    assert not evidence.exact
    assert str(evidence) == ("m (ab) · kernel: sdpa + recomputed · bfloat16 · not compared with a reference")
    assert "未与参考结果比较" in evidence.text("zh")
