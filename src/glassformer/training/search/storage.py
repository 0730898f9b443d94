"""The journal of a search: everything that Optuna knows, in one file that only grows.

In:   the folder of a search.
Out:  an Optuna study. Several processes may use it, and any of them may be killed at any moment.

A lock of the operating system protects the file: it ends with the process that holds it. A line that a killed
process left unfinished is removed before the next one is written.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.errors import ConfigurationError
from glassformer.training.search.settings import Choice, Range, SearchSettings, Space

if TYPE_CHECKING:
    import optuna

JOURNAL, LOCK = "journal.log", ".journal.lock"
FACTOR = 3  # of successive halving: a third of the trials goes on
STARTUP = 8  # trials that are drawn at random before those that follow from them


def import_optuna() -> Any:
    """Optuna, silent; where it is missing, a sentence."""
    try:
        import optuna
    except ImportError as error:
        raise ConfigurationError("training.search.no_optuna") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def open_storage(folder: Path) -> Any:
    """The journal in the folder of a search."""
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    path = folder / JOURNAL
    return JournalStorage(JournalFileBackend(str(path), lock_obj=_make_lock(path, folder / LOCK)))


def open_study(folder: Path, name: str, directions: list[str], settings: SearchSettings) -> "optuna.Study":
    """The study of a search, created where there is none."""
    optuna = import_optuna()
    study: Any = optuna.create_study(
        storage=open_storage(folder),
        study_name=name,
        directions=directions,
        pruner=optuna.pruners.NopPruner(),  # see `pruning`
        load_if_exists=True,
    )
    # a search that continues must not draw again what it drew at first
    study.sampler = _make_sampler(settings, settings.seed + len(study.get_trials(deepcopy=False)))
    return study


def suggest(trial: "optuna.Trial", space: Space) -> dict[str, Any]:
    """The values of a trial; what is in the journal already stays."""
    values: dict[str, Any] = {}
    for name, where in space.items():
        if isinstance(where, Choice):
            chosen = trial.suggest_categorical(name, [encode_value(value) for value in where.values])
            values[name] = next(value for value in where.values if _same(encode_value(value), chosen))
        elif where.whole:
            step = int(where.step or 1)
            values[name] = trial.suggest_int(name, int(where.low), int(where.high), log=where.log, step=step)
        else:
            values[name] = trial.suggest_float(name, where.low, where.high, log=where.log, step=where.step)
    return values


def encode_values(values: Mapping[str, Any], space: Space) -> dict[str, Any]:
    """Values as Optuna keeps them."""
    return {
        name: encode_value(value) if isinstance(space[name], Choice) else value
        for name, value in values.items()
    }


def encode_value(value: Any) -> Any:
    """Optuna keeps plain values; lists and tables become text."""
    import json

    return value if isinstance(value, str | int | float | bool) else json.dumps(value)


def _same(first: Any, second: Any) -> bool:
    return type(first) is type(second) and first == second


def _make_sampler(settings: SearchSettings, seed: int) -> Any:
    optuna = import_optuna()
    if settings.sampler != "tpe":  # all but the first trial of a grid are chosen by the search itself
        return optuna.samplers.RandomSampler(seed=seed)
    startup = min(STARTUP, max(1, settings.trials // 3))
    # constant_liar: trials that run at the same time differ
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=startup, constant_liar=True)


def list_values(where: Choice | Range) -> list[Any]:
    """All values of a choice, or of a range with steps."""
    if isinstance(where, Choice):
        return list(where.values)
    assert where.step is not None
    count = int((where.high - where.low) / where.step + 1e-9) + 1
    return [where.low + place * where.step for place in range(count)]


def _make_lock(path: Path, lock: Path) -> Any:
    """A lock that ends with its process; Optuna's own where the system has none."""
    try:
        import fcntl
    except ImportError:
        return None
    from optuna.storages.journal._file import BaseJournalFileLock

    class Lock(BaseJournalFileLock):
        def __init__(self) -> None:
            self.number = -1

        def acquire(self) -> bool:
            number = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.flock(number, fcntl.LOCK_EX)
            self.number = number
            _remove_torn_line(path)
            return True

        def release(self) -> None:
            os.close(self.number)

    return Lock()


def _remove_torn_line(path: Path) -> None:
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        end = size
        while end > 0:
            start = max(0, end - 4096)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            if found >= 0:
                end = start + found + 1
                break
            end = start
        if end < size:
            file.truncate(end)
