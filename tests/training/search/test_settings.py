import tomllib
from typing import Any

import pytest

from glassformer.errors import ConfigurationError
from glassformer.training.search.settings import Choice, Range, read_search


def read(text: str) -> Any:
    return read_search(tomllib.loads(text))


def test_a_table_is_settings_and_space() -> None:
    settings, space = read("""
trials = 7
"model.heads" = [2, 4]
"train.rate" = { low = 1e-4, high = 1, log = true }
"model.layers" = { low = 2, high = 6, step = 2 }
""")
    assert settings.trials == 7
    assert space == {
        "model.heads": Choice((2, 4)),
        "train.rate": Range(1e-4, 1.0, log=True),
        "model.layers": Range(2, 6, step=2),
    }
    assert space["model.layers"].contains(4)
    assert not space["model.layers"].contains(3)
    assert not space["model.layers"].contains(4.0)
    assert space["train.rate"].contains(1)
    assert not space["model.heads"].contains(True)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("trials = 3", "training.search.no_space"),
        ('"model.heads" = [4]', "training.search.few_choices"),
        ('"model.heads" = [4, 4]', "training.search.few_choices"),
        ('"model.heads" = 4', "training.search.bad_parameter"),
        ('"model.heads" = { low = 1 }', "training.search.bad_parameter"),
        ('"model.heads" = { low = 4, high = 2 }', "training.search.bad_range"),
        ('"model.heads" = { low = 1, high = inf }', "training.search.bad_range"),
        ('"train.rate" = { low = 0.0, high = 1.0, log = true }', "training.search.bad_range"),
        ('"train.rate" = { low = 0.1, high = 1.0, log = true, step = 0.1 }', "training.search.bad_range"),
        ('"train.seed" = [1, 2]', "training.search.seed_in_space"),
        ('sampler = "grid"\n"train.rate" = { low = 0.1, high = 1.0 }', "training.search.grid_needs_steps"),
        ('objectives = []\n"model.heads" = [1, 2]', "training.search.no_objective"),
        ('objectives = ["seconds"]\n"model.heads" = [1, 2]', "training.search.first_objective"),
        ('objectives = ["score", "score"]\n"model.heads" = [1, 2]', "training.search.same_objectives"),
        ('prune_on = ["collapsed_head"]\n"model.heads" = [1, 2]', "training.search.unknown_alarm"),
        ('limits = { memory = 1 }\n"model.heads" = [1, 2]', "training.search.unknown_limit"),
        ('limits = { parameters = 0 }\n"model.heads" = [1, 2]', "training.search.wrong_limit"),
        ('trails = 3\n"model.heads" = [1, 2]', "settings.unknown"),
    ],
)
def test_what_cannot_be_searched_is_refused(text: str, code: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        read(text)
    assert error.value.message.code == code
    assert len(str(error.value)) > 20
