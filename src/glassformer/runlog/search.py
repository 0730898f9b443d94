"""The results of a search: trials, the best of them, what mattered. Written while it runs; no Optuna needed.

In:   a folder `runs/<name>/` with search.json; the runs of trials are beside it, `runs/<name>-007`.
Out:  a `SearchLog`.
"""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from glassformer.errors import InputError
from glassformer.messages import Message
from glassformer.runlog.alive import is_alive
from glassformer.runlog.intervals import Estimate, estimate, estimate_difference
from glassformer.runlog.log import sort_by_time

if TYPE_CHECKING:
    import pandas

SEARCH = "search.json"
VERSION = 1

TrialState = Literal["running", "complete", "pruned", "infeasible", "failed"]


@dataclass(frozen=True, slots=True)
class Objective:
    """What is searched for."""

    name: str  # "loss", "parameters", "seconds" …
    direction: Literal["minimize", "maximize"]

    @property
    def sign(self) -> int:
        """1 where higher is better, else −1."""
        return 1 if self.direction == "maximize" else -1


@dataclass(frozen=True, slots=True)
class TrialRun:
    """One run of a configuration."""

    run: str  # its name
    seed: int
    step: int
    values: Mapping[str, float]  # by objective; in confirming runs also "test_loss" …


@dataclass(frozen=True, slots=True)
class Trial:
    """One configuration."""

    number: int
    state: TrialState
    parameters: Mapping[str, Any]  # by the name of a setting, "model.heads"; what the search has chosen
    runs: tuple[TrialRun, ...] = ()  # those that ended
    reason: Message | None = None  # why it was pruned, is not possible or has failed
    baseline: bool = False  # the recipe's own values
    started: float | None = None  # seconds since 1970
    ended: float | None = None
    curve: tuple[tuple[int, float], ...] = ()  # steps and scores of the first run

    def estimate(self, objective: str) -> Estimate | None:
        """The mean over seeds with its interval; None where there is no value."""
        values = [run.values[objective] for run in self.runs if objective in run.values]
        return estimate(values) if values and len(values) == len(self.runs) else None


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A configuration that was trained again with new seeds, after the search."""

    trial: int
    runs: tuple[TrialRun, ...]

    @property
    def diverged(self) -> int:
        """How many of its runs have no values, because they diverged."""
        return sum(not run.values for run in self.runs)

    def values(self, name: str) -> list[float]:
        """Of the runs that did not diverge."""
        return [run.values[name] for run in self.runs if name in run.values]

    def estimates(self) -> dict[str, Estimate]:
        """By the name of a value: its mean with an interval, over the runs that did not diverge."""
        names = dict.fromkeys(name for run in self.runs for name in run.values)
        return {name: estimate(self.values(name)) for name in names}


@dataclass(frozen=True, slots=True, eq=False)
class SearchLog:
    """One search as far as it has come.

    >>> changes = {"train.steps": 2, "task.folder": ".", "task.path": "README.md"}  # any text of yours
    >>> space = {"model.heads": [2, 4], "trials": 2}
    >>> found = gf.search("recipes/first.toml", space, overrides=changes, name="heads", silent=True)
    >>> [trial.state for trial in found.trials]
    ['complete', 'complete']
    """

    name: str
    folder: Path
    recipe: str  # TOML, with its table [search]
    objectives: tuple[Objective, ...]
    space: Mapping[str, Mapping[str, Any]]  # by name: {"kind": "choice", "values": […]} or a range
    own: Mapping[str, Any]  # the recipe's own values of these settings
    trials: tuple[Trial, ...]
    importance: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by objective and setting
    confirmed: tuple[Confirmation, ...] = ()  # the best configuration, then the recipe's own
    unstable: tuple[Confirmation, ...] = ()  # those of which a run diverged: never the best
    wanted: int = 0  # trials
    seconds: float = 0.0  # that the search has taken so far
    finished: bool = False
    updated: float = 0.0  # seconds since 1970

    @property
    def state(self) -> Literal["running", "finished", "stopped"]:
        """Stopped: it can be resumed."""
        if self.finished:
            return "finished"
        return "running" if is_alive(self.folder) else "stopped"

    @property
    def complete(self) -> tuple[Trial, ...]:
        """Trials that have all their values."""
        names = [objective.name for objective in self.objectives]
        return tuple(
            trial
            for trial in self.trials
            if trial.state == "complete" and all(trial.estimate(name) for name in names)
        )

    @property
    def best(self) -> Trial | None:
        """The trial with the best mean of the first objective, unless one of its confirming runs diverged."""
        return max(self._stable, key=self._rank, default=None)

    @property
    def _stable(self) -> tuple[Trial, ...]:
        """Complete trials of which no confirming run diverged."""
        diverged = {each.trial for each in (*self.confirmed, *self.unstable) if each.diverged}
        return tuple(trial for trial in self.complete if trial.number not in diverged)

    @property
    def baseline(self) -> Trial | None:
        """The trial of the recipe's own values."""
        return next((trial for trial in self.trials if trial.baseline), None)

    @property
    def pareto(self) -> tuple[Trial, ...]:
        """Trials that no other trial beats in all objectives, the best of the first objective first."""
        ranks = {trial.number: self._ranks(trial) for trial in self._stable}
        front = [trial for trial in self._stable if not _beaten(ranks[trial.number], ranks.values())]
        return tuple(sorted(front, key=lambda trial: ranks[trial.number], reverse=True))

    @property
    def gains(self) -> dict[str, Estimate]:
        """Of confirmed configurations: the best minus the recipe's own, by the name of a value.

        None at all where a run diverged: a mean without the worst run would not be one of the configuration.
        """
        if len(self.confirmed) < 2 or any(each.diverged for each in self.confirmed):
            return {}
        best, own = self.confirmed
        return {
            name: estimate_difference(best.values(name), own.values(name))
            for name in best.estimates()
            if own.values(name)
        }

    def rows(self) -> list[dict[str, Any]]:
        """One flat dictionary for each trial."""
        return [self._row(trial) for trial in self.trials]

    @property
    def frame(self) -> "pandas.DataFrame":
        """All trials as a pandas table."""
        try:
            import pandas
        except ImportError as error:
            raise InputError("runlog.search.no_pandas") from error
        return pandas.DataFrame(self.rows())

    def _row(self, trial: Trial) -> dict[str, Any]:
        row: dict[str, Any] = {"trial": trial.number, "state": trial.state, "baseline": trial.baseline}
        row |= {name: trial.parameters.get(name) for name in self.space}
        for objective in self.objectives:
            found = trial.estimate(objective.name)
            row[objective.name] = None if found is None else found.mean
            row[f"{objective.name}_interval"] = None if found is None else found.half
        reason = None if trial.reason is None else str(trial.reason)
        return row | {"runs": [run.run for run in trial.runs], "reason": reason}

    def _ranks(self, trial: Trial) -> tuple[float, ...]:
        found = [(each.sign, trial.estimate(each.name)) for each in self.objectives]
        return tuple(sign * value.mean for sign, value in found if value is not None)

    def _rank(self, trial: Trial) -> tuple[float, int]:
        return self._ranks(trial)[0], -trial.number


def _beaten(ranks: tuple[float, ...], others: Any) -> bool:
    return any(
        other != ranks and all(theirs >= ours for theirs, ours in zip(other, ranks, strict=True))
        for other in others
    )


def is_search(folder: str | Path) -> bool:
    """Whether a folder holds a search."""
    return (Path(folder) / SEARCH).is_file()


def find_searches(folder: str | Path = "runs") -> tuple[Path, ...]:
    """The searches in a folder of runs, the one that was written to last at the end."""
    return sort_by_time(Path(folder), SEARCH)


def read_search(folder: str | Path, runs: str | Path = "runs") -> SearchLog:
    """A search by its folder, or by its name in the folder of runs.

    >>> changes = {"train.steps": 2, "task.folder": ".", "task.path": "README.md"}  # any text of yours
    >>> space = {"model.heads": [2, 4], "trials": 2}
    >>> found = gf.search("recipes/first.toml", space, overrides=changes, name="heads", silent=True)
    >>> gf.read_search("heads").best == found.best
    True
    """
    path = Path(folder) if is_search(folder) else Path(runs) / folder
    if not is_search(path):
        known = [each.name for each in find_searches(runs)]
        raise InputError("runlog.search.none", folder=folder, file=SEARCH, known=known)
    try:
        data = json.loads((path / SEARCH).read_text(encoding="utf-8"))
        return _from_json(path, data)
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise InputError("runlog.search.damaged", file=path / SEARCH, reason=repr(error)) from error


def write_search(log: SearchLog) -> None:
    """Replace search.json in one step."""
    new = log.folder / f".{SEARCH}"
    new.write_text(json.dumps(_to_json(log), ensure_ascii=False, indent=1), encoding="utf-8")
    os.replace(new, log.folder / SEARCH)


def _to_json(log: SearchLog) -> dict[str, Any]:
    fields = {name: getattr(log, name) for name in SearchLog.__slots__ if name != "folder"}
    fields |= {
        "version": VERSION,
        "objectives": [asdict(each) for each in log.objectives],
        "trials": [_trial_to_json(trial) for trial in log.trials],
        "confirmed": _confirmations_to_json(log.confirmed),
    }
    del fields["unstable"]
    if log.unstable:
        fields["unstable"] = _confirmations_to_json(log.unstable)
    return _plain(fields)


def _confirmations_to_json(confirmed: Sequence[Confirmation]) -> list[dict[str, Any]]:
    return [{"trial": each.trial, "runs": _runs_to_json(each.runs)} for each in confirmed]


def _read_confirmations(data: Sequence[Mapping[str, Any]]) -> tuple[Confirmation, ...]:
    return tuple(Confirmation(int(each["trial"]), _read_runs(each["runs"])) for each in data)


def _trial_to_json(trial: Trial) -> dict[str, Any]:
    fields = {name: getattr(trial, name) for name in Trial.__slots__}
    reason = None if trial.reason is None else trial.reason.to_json()
    return fields | {"runs": _runs_to_json(trial.runs), "reason": reason}


def _runs_to_json(runs: Sequence[TrialRun]) -> list[dict[str, Any]]:
    return [{name: getattr(run, name) for name in TrialRun.__slots__} for run in runs]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _from_json(folder: Path, data: Mapping[str, Any]) -> SearchLog:
    return SearchLog(
        name=str(data["name"]),
        folder=folder,
        recipe=str(data["recipe"]),
        objectives=tuple(Objective(str(each["name"]), each["direction"]) for each in data["objectives"]),
        space={str(name): _read_where(where) for name, where in data["space"].items()},
        own=dict(data["own"]),
        trials=tuple(_trial_from_json(each) for each in data["trials"]),
        importance={str(name): _read_numbers(each) for name, each in data["importance"].items()},
        confirmed=_read_confirmations(data["confirmed"]),
        unstable=_read_confirmations(data.get("unstable", ())),  # left out where there are none
        wanted=int(data["wanted"]),
        seconds=float(data["seconds"]),
        finished=bool(data["finished"]),
        updated=float(data["updated"]),
    )


def _read_where(data: Mapping[str, Any]) -> dict[str, Any]:
    """Where the value of a setting is looked for."""
    where = dict(data)
    if where["kind"] == "choice":
        return where | {"values": list(where["values"])}
    if where["kind"] not in ("int", "float"):
        raise ValueError(where["kind"])
    for end in ("low", "high"):
        float(where[end])
    return where


def _trial_from_json(data: Mapping[str, Any]) -> Trial:
    return Trial(
        number=int(data["number"]),
        state=data["state"],
        parameters=dict(data["parameters"]),
        runs=_read_runs(data["runs"]),
        reason=None if data["reason"] is None else Message.from_json(data["reason"]),
        baseline=bool(data["baseline"]),
        started=data["started"],
        ended=data["ended"],
        curve=tuple((int(step), float(score)) for step, score in data["curve"] if score is not None),
    )


def _read_runs(data: Sequence[Mapping[str, Any]]) -> tuple[TrialRun, ...]:
    return tuple(
        TrialRun(str(run["run"]), int(run["seed"]), int(run["step"]), _read_numbers(run["values"]))
        for run in data
    )


def _read_numbers(data: Mapping[str, Any]) -> dict[str, float]:
    return {str(name): float(value) for name, value in data.items() if value is not None}
