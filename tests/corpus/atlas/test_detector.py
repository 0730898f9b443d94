"""A detector is a function in a file."""

from glassformer.corpus.atlas.detector import DETECTORS, applies, detector
from glassformer.corpus.atlas.texts import MarkedText
from text_views import view_text


def test_a_new_detector_is_found_by_its_name() -> None:
    @detector("look_at_b", null="uniform", threshold=0.5, rank=1)
    def find_b(view):
        """The key b."""
        return view.visible

    try:
        assert "look_at_b" in list(DETECTORS)
    finally:
        DETECTORS.discard("look_at_b")


def test_constructed_texts_are_for_their_detectors_only() -> None:
    probe = view_text("a b", MarkedText("a b", probe="marks"))
    assert [name for name in DETECTORS if applies(DETECTORS[name], probe)] == ["bracket", "quotation"]
    plain = view_text("a b")
    assert not applies(DETECTORS["alignment"], plain)
    assert applies(DETECTORS["bracket"], plain)
