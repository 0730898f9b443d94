"""A builder writes steps into chapters, with their shapes and the reason for what is missing."""

from glassformer.messages import message
from glassformer.recording import Recording
from glassformer.walk import Arrays
from glassformer.walk.builder import PlanBuilder
from glassformer.walk.types import StepParameters

MISSING = message("walk.not_kept")
OUTSIDE = message("walk.outside")


def test_a_step_knows_its_place_its_shapes_and_whether_it_can_be_explained(full: Recording) -> None:
    builder = PlanBuilder(Arrays(full), MISSING, OUTSIDE)
    builder.open("encoder/0/self", "self", "encoder", 0)
    weights = "encoder/0/self/weights"
    given = builder.write("weights", "softmax", ["encoder/0/self/scaled"], ("head", "source", "source"))
    assert given == weights
    nowhere = StepParameters(weight="parameters/nowhere")
    builder.write("again", "product", [weights], ("head", "source", "source"), nowhere, output=weights)
    builder.write("lost", "product", [weights], ("source", "feature"), nowhere)
    builder.write("outside", "states", [], ("source", "feature"), missing=OUTSIDE)
    builder.open("encoder/1/self", "self", "encoder", 1)
    [chapter] = builder.close()  # one without steps is left out
    assert (chapter.id, chapter.stack, chapter.layer) == ("encoder.0.self", "encoder", 0)
    known, unexplained, lost, outside = chapter.steps
    assert known.id == "encoder.0.self.weights"
    assert known.shape.inputs == (known.shape.output,) == ((2, 4, 4),)
    assert (known.arithmetic, unexplained.arithmetic, lost.arithmetic) == (True, False, False)
    assert (known.missing, lost.missing, outside.missing) == (None, MISSING, OUTSIDE)
