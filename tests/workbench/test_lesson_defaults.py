"""What ships for the playground is what its topics compute."""

from typing import Any

import pytest

from glassformer.lessons.schema import read_defaults
from glassformer.workbench.lesson_defaults import compute_defaults
from tolerances import assert_near


@pytest.mark.slow
def test_what_ships_is_what_the_topics_give() -> None:
    """After a change of a topic, its words or a model: python -m glassformer.workbench.lesson_defaults."""
    saved, now = read_defaults(), compute_defaults()
    assert saved.topics == now.topics
    assert saved.results.keys() == now.results.keys()
    for name, result in now.results.items():
        assert saved.results[name].found.code == result.found.code
        if name == "scaling":  # its sentence rounds random numbers that are the same on any machine
            assert str(saved.results[name].found) == str(result.found)
        compare(saved.results[name].model_dump(), result.model_dump(), name)


def compare(one: Any, other: Any, where: str) -> None:
    """The same but for rounding, which differs between processors; sentences may round with it."""
    assert type(one) is type(other), where
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            if key != "found":
                compare(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, tuple | list):
        assert len(one) == len(other), where
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            compare(left, right, f"{where}.{number}")
    elif isinstance(one, float):
        # the deepest model of the lessons: 6 + 3 layers of width 320
        assert_near(one, other, layers=9, summands=320, where=where)
    else:
        assert one == other, where
