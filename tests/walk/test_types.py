"""The schema of a walk."""

from glassformer.walk.types import StepParameters


def test_parameters_name_the_arrays_that_a_step_reads() -> None:
    assert StepParameters().names() == ()
    assert StepParameters(weight="w", bias="b", columns=(0, 4), transposed=True).names() == ("w", "b")
