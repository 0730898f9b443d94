"""Parameters of metrics: declared in a signature, checked before a metric runs."""

import inspect
from typing import Annotated

import pytest

from glassformer.errors import ConfigurationError
from glassformer.metrics import About, score
from glassformer.metrics.parameters import declare

# Two rows, two keys: entropies log 2 and 0.
HALF = [[[0.5, 0.5], [1.0, 0.0]]]


def test_an_unknown_parameter_is_answered_with_the_nearest(make_map, record) -> None:
    with pytest.raises(ConfigurationError, match=r"no parameter called 'treshold'. Did you mean 'threshold'"):
        score(record(make_map(HALF)), "nonzero_share", treshold=0.1)
    with pytest.raises(
        ConfigurationError, match=r"entropy has no parameter called 'threshold'. There are none."
    ):
        score(record(make_map(HALF)), "entropy", threshold=0.1)


@pytest.mark.parametrize("value", [-0.1, "0.1", True, float("nan"), None])
def test_a_value_that_cannot_be_is_refused(make_map, record, value) -> None:
    with pytest.raises(ConfigurationError, match="The threshold of nonzero_share is"):
        score(record(make_map(HALF)), "nonzero_share", threshold=value)


def test_a_whole_number_does_for_a_float_but_not_for_a_bool(make_map, record) -> None:
    assert score(record(make_map(HALF)), "nonzero_share", threshold=0).parameters["threshold"] == 0.0
    with pytest.raises(ConfigurationError, match="Expected true or false"):
        score(record(make_map(HALF)), "nonzero_share", relative=1)


def test_parameters_are_declared_in_the_signature() -> None:
    def plain(attention_map: object, *, cut: Annotated[int, About("where to cut", 1, 3)]) -> None: ...

    (cut,) = declare(plain)
    assert (cut.name, cut.type, cut.required, cut.default) == ("cut", int, True, inspect.Parameter.empty)
    with pytest.raises(ConfigurationError, match=r"a whole number \(at least 1, at most 3\): where to cut"):
        cut.check("plain", 4)

    def bare(attention_map: object, *, cut: int = 0) -> None: ...

    with pytest.raises(TypeError, match="annotate cut"):
        declare(bare)
