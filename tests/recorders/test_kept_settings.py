"""Settings and edits survive the way into a recording and back."""

from dataclasses import asdict

import pytest

from glassformer.errors import InputError
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.edits import AblateHead, BlockHead, CutEdge, FirstLayers, ScaleScores
from glassformer.recorders.kept_settings import read_edits, read_stages, write_edits
from glassformer.recording import Generation, Step

STEPS = (Step(0, 3, "a", -0.5),)
EDITS = (
    AblateHead("decoder", "self", 1, 2, "mean", ("It rained.", (4, 5))),
    BlockHead("decoder", "cross", None, 0, 3, 7),
    CutEdge("decoder", "self", 0, None, 3, 1),
    FirstLayers(2),
    ScaleScores(0.5, "decoder"),
)


def test_edits_come_back_as_they_were() -> None:
    generation = Generation(STEPS, edits=write_edits(EDITS))
    assert read_edits(generation, len(EDITS)) == EDITS


def test_settings_come_back_as_they_were() -> None:
    stages = (
        (0, GenerationSettings(beams=3, forbidden=(1, 2))),
        (4, GenerationSettings(sample=True, seed=1)),
    )
    kept = tuple({"step": first, **asdict(each)} for first, each in stages)
    assert read_stages(Generation(STEPS, settings=kept)) == stages


@pytest.mark.parametrize("bad", [{}, {"edit": "no"}, {"edit": "block"}, {"edit": "first", "count": 0}])
def test_edits_that_cannot_be_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InputError):
        read_edits(Generation(STEPS, edits=(bad,)), 1)
