"""Schedules by name; their values are tested in test_optim.py."""

import pytest

from glassformer.errors import ConfigurationError
from glassformer.training.schedules import SCHEDULES
from glassformer.training.settings import TrainSettings


def test_all_end_where_they_should() -> None:
    settings = TrainSettings(rate=1.0, warmup=100, floor=0.2)
    ends = {name: SCHEDULES[name](400, settings, 1.0) for name in SCHEDULES}
    assert ends == pytest.approx({"inverse-sqrt": 0.5, "cosine": 0.2, "linear": 0.2, "constant": 1.0})


def test_a_mistyped_name_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'cosine'"):
        TrainSettings(rate=1.0, schedule="cosin")
