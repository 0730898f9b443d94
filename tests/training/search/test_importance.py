from typing import Any

import pytest

from glassformer.runlog.search import Objective
from glassformer.training.search.importance import FEWEST, measure_importance


def make_study(trials: int) -> Any:
    optuna = pytest.importorskip("optuna", reason="the extra `search` is not installed")
    study = optuna.create_study(directions=["minimize", "maximize"])
    distributions = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in ("a.x", "a.y")}
    for number in range(trials):
        x, y = number % 7 / 7, number % 5 / 5
        study.add_trial(
            optuna.trial.create_trial(values=[x, y], params={"a.x": x, "a.y": y}, distributions=distributions)
        )
    return study


def test_what_matters_for_each_objective() -> None:
    objectives = (Objective("loss", "minimize"), Objective("bleu", "maximize"))
    found = measure_importance(make_study(70), objectives)
    assert found["loss"]["a.x"] > 0.9
    assert found["bleu"]["a.y"] > 0.9
    assert all(abs(sum(shares.values()) - 1) < 1e-6 for shares in found.values())
    assert measure_importance(make_study(FEWEST - 1), objectives) == {}
