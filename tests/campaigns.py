"""Long campaigns: `make test-long` runs them whole, `make test` a sample that is the same every time."""

import os
import random
from collections.abc import Sequence

import pytest

LONG = os.environ.get("GLASSFORMER_LONG") == "1"


def campaign(names: str, cases: Sequence[object], *, sample: int | Sequence[object]) -> pytest.MarkDecorator:
    """Parametrize a test over many cases, as `pytest.mark.parametrize` does; `sample`: how many, or which."""
    if LONG:
        chosen = list(cases)
    elif isinstance(sample, int):
        chosen = random.Random(0).sample(list(cases), min(sample, len(cases)))
    else:
        chosen = [case for case in cases if case in sample]
    marked = [pytest.param(*_values(case), marks=pytest.mark.long) for case in chosen]
    return pytest.mark.parametrize(names, marked)


def rounds(sample: int, whole: int) -> int:
    """How often a test repeats what it does; mark such a test `long`."""
    return whole if LONG else sample


def _values(case: object) -> tuple[object, ...]:
    return case if isinstance(case, tuple) else (case,)
