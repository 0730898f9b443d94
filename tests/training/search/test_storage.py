import os
from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="the extra `search` is not installed")

from glassformer.training.search.settings import Choice, Range, SearchSettings
from glassformer.training.search.storage import JOURNAL, encode_values, open_study, suggest

SPACE = {"a.heads": Choice((2, 4)), "a.list": Choice(([1], [1, 2])), "a.rate": Range(0.1, 1.0)}


def study(folder: Path):
    return open_study(folder, "s", ["minimize"], SearchSettings())


@pytest.mark.slow
def test_a_torn_line_is_removed_wherever_it_was_torn(tmp_path: Path) -> None:
    """As if the process had been killed after any byte of what it wrote last."""
    first = study(tmp_path)
    first.tell(first.ask().number, 0.5)
    whole = (tmp_path / JOURNAL).read_bytes()
    values = suggest(first.ask(), SPACE)
    journal = (tmp_path / JOURNAL).read_bytes()
    for size in range(len(whole), len(journal) + 1, 7):
        (tmp_path / JOURNAL).write_bytes(journal[:size])
        again = study(tmp_path)
        again.set_user_attr("size", size)
        trials = study(tmp_path).get_trials()
        assert trials[0].value == 0.5
        assert len(trials) in (1, 2)
        assert study(tmp_path).user_attrs == {"size": size}
    assert set(values) == set(SPACE)
    assert values["a.list"] in ([1], [1, 2])


def test_a_trial_keeps_the_values_that_it_has(tmp_path: Path) -> None:
    import optuna

    first = study(tmp_path)
    asked = first.ask()
    heads = asked.suggest_categorical("a.heads", [2, 4])  # killed after the first of three
    again = study(tmp_path)
    trial = optuna.trial.Trial(again, again.get_trials()[0]._trial_id)
    values = suggest(trial, SPACE)
    assert values["a.heads"] == heads
    third = study(tmp_path).get_trials()[0]
    assert third.params == encode_values(values, SPACE)


def test_the_lock_of_a_killed_process_is_no_obstacle(tmp_path: Path) -> None:
    study(tmp_path)
    child = os.fork()
    if not child:
        study(tmp_path)._storage._backend._lock.acquire()
        os._exit(9)
    os.waitpid(child, 0)
    again = study(tmp_path)
    again.tell(again.ask().number, 1.0)
    assert again.best_value == 1.0
