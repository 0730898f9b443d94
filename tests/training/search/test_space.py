"""Which configurations are possible."""

from pathlib import Path

import pytest

from glassformer.errors import ConfigurationError
from training.search.searching import look


def test_settings_that_recipes_do_not_have_are_refused_before_training(recipe: Path) -> None:
    for space, code in (
        ({"model.headz": [1, 2]}, "training.search.in_search"),
        ({"modle.heads": [1, 2]}, "training.search.in_search"),
        ({"model.heads": [1, 0]}, "training.search.in_search"),
        ({"model.heads": [1, "two"]}, "training.search.in_search"),
        ({"train.rate": {"low": -1.0, "high": 1.0}}, "training.search.in_search"),
        ({}, "training.search.no_space"),
    ):
        with pytest.raises(ConfigurationError) as error:
            look(recipe, space)
        assert error.value.message.code == code
    assert not list((recipe.parent / "runs").glob("*"))


@pytest.mark.slow
def test_a_space_without_any_possible_configuration_trains_only_the_recipe(recipe: Path) -> None:
    found = look(recipe, {"model.heads": [3, 5, 7], "trials": 3})
    assert found.trials[0].state == "complete"
    assert {trial.state for trial in found.trials[1:]} == {"infeasible"}
    assert found.baseline.parameters == {}  # outside the space
    assert found.best is not None
    assert found.best.baseline


@pytest.mark.slow
def test_limits_keep_the_cost_equal(recipe: Path) -> None:
    space = {"model.width": [8, 16, 64], "limits": {"parameters": 1.05}, "trials": 3}
    found = look(recipe, space)
    states = {trial.parameters["model.width"]: trial.state for trial in found.trials}
    assert states[16] == "complete"
    assert states.get(64, "infeasible") == "infeasible"
    large = [trial for trial in found.trials if trial.parameters["model.width"] == 64]
    assert all(trial.reason.code == "training.search.too_large" for trial in large)
    assert sum(trial.state != "infeasible" for trial in found.trials) == 2  # nothing else is left
