"""What the tables [train] and [monitor] may say."""

import pytest

from glassformer.errors import ConfigurationError
from glassformer.training.settings import MonitorSettings, TrainSettings


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"steps": 0}, r"steps = 0 is not possible; it must be a whole number \(at least 1\)"),
        ({"ema": 1.0}, "ema = 1.0 is not possible"),
        (
            {"schedule": "cosin", "rate": 1.0},
            "schedule called 'cosin'. Did you mean 'cosine'",
        ),
        ({"schedule": "cosine"}, "needs a rate"),
        ({"warmup": 0}, "depends on `warmup`"),
        ({"rate": -1.0}, "rate = -1.0"),
        ({"evaluate_limit": 0}, "evaluate_limit = 0"),
    ],
)
def test_impossible_settings_are_refused_by_name(words: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        TrainSettings(**words)  # type: ignore[arg-type]


def test_impossible_watching_is_refused_by_name() -> None:
    for words in ({"every": -1}, {"texts": 0}, {"identical": 1.5}, {"spike": 0.0}):
        with pytest.raises(ConfigurationError, match=next(iter(words))):
            MonitorSettings(**words)  # type: ignore[arg-type]
