"""Searches of a folder of runs, and those that ship, for pages.

In:   folders with search.json (runlog).
Out:  SearchEntry and SearchDescription for JSON.
"""

import json
from pathlib import Path
from typing import Any, Literal

from glassformer.api.folders import names_folder
from glassformer.errors import ApiError, InputError
from glassformer.runlog.intervals import Estimate
from glassformer.runlog.search import SearchLog, Trial, TrialRun, find_searches, is_search, read_search
from glassformer.schema import Finite, MessageField, ResponseModel

SHIPPED = Path(__file__).parent / "shipped_searches"
LONGEST_RECIPE = 100_000  # characters
MOST_TRIALS = 2_000  # the last ones

SearchState = Literal["running", "finished", "stopped"]
Value = bool | int | float | str | None  # of a setting; lists and tables as JSON


class SearchEntry(ResponseModel):
    """One search in a list."""

    id: str
    state: SearchState  # stopped: it can be resumed
    shipped: bool  # an example: its runs are not here
    trained: int  # configurations that ended
    wanted: int
    objective: str  # the first one
    best: Finite
    updated: float  # seconds since 1970


class SearchObjective(ResponseModel):
    """What is searched for."""

    name: str
    direction: Literal["minimize", "maximize"]


class SearchParameter(ResponseModel):
    """Where the value of a setting is looked for."""

    name: str
    kind: Literal["choice", "int", "float"]
    values: tuple[Value, ...]  # of a choice
    low: Finite
    high: Finite
    log: bool
    own: Value  # the recipe's
    importance: dict[str, Finite]  # by objective; empty: too few trials


class SearchEstimate(ResponseModel):
    """A mean over seeds with its 95 % interval; null where there is one seed."""

    mean: Finite
    low: Finite
    high: Finite
    count: int


class SearchRun(ResponseModel):
    """One run of a configuration."""

    run: str
    seed: int
    step: int
    values: dict[str, Finite]


class SearchTrial(ResponseModel):
    """One configuration."""

    number: int
    state: Literal["running", "complete", "pruned", "infeasible", "failed"]
    parameters: dict[str, Value]
    values: dict[str, SearchEstimate]  # by objective
    runs: tuple[SearchRun, ...]
    reason: MessageField | None
    baseline: bool
    started: float | None
    ended: float | None
    steps: tuple[int, ...]  # of the scores while its first run was trained
    scores: tuple[Finite, ...]


class SearchConfirmation(ResponseModel):
    """A configuration that was trained again with new seeds."""

    trial: int
    runs: tuple[SearchRun, ...]
    values: dict[str, SearchEstimate]  # means over the runs that did not diverge
    diverged: int  # runs without values


class SearchDescription(SearchEntry):
    """One search as far as it has come."""

    objectives: tuple[SearchObjective, ...]
    parameters: tuple[SearchParameter, ...]
    trials: tuple[SearchTrial, ...]
    best_trial: int | None
    baseline_trial: int | None
    pareto: tuple[int, ...]
    confirmed: tuple[SearchConfirmation, ...]  # the best configuration, then the recipe's own
    gains: dict[str, SearchEstimate]  # of the confirmed ones: the best minus the recipe's own
    seconds: float
    recipe: str  # with its table [search]
    best_recipe: str  # of the best trial; empty where there is none


class Searches:
    """The searches in a folder of runs, and those that ship."""

    def __init__(self, folder: Path, shipped: Path = SHIPPED) -> None:
        self.folder = folder
        self.shipped = shipped

    def entries(self) -> list[SearchEntry]:
        """Every search that can be read, the one that was written to last first; examples at the end."""
        own = list(reversed(find_searches(self.folder)))
        known = {path.name for path in own}
        examples = [path for path in find_searches(self.shipped) if path.name not in known]
        found = []
        for path in (*own, *examples):
            try:
                found.append(self._describe_entry(read_search(path)))
            except InputError:  # damaged, or removed meanwhile
                continue
        return found

    def describe(self, id: str) -> SearchDescription:
        """One search."""
        path = self._find(id)
        try:
            log = read_search(path)
        except InputError as error:
            raise ApiError(error.message, status=404) from error
        best, baseline = log.best, log.baseline
        return SearchDescription(
            **dict(self._describe_entry(log)),
            objectives=tuple(
                SearchObjective(name=each.name, direction=each.direction) for each in log.objectives
            ),
            parameters=tuple(_describe_parameter(log, name) for name in log.space),
            trials=tuple(_describe_trial(log, trial) for trial in log.trials[-MOST_TRIALS:]),
            best_trial=None if best is None else best.number,
            baseline_trial=None if baseline is None else baseline.number,
            pareto=tuple(trial.number for trial in log.pareto),
            confirmed=tuple(
                SearchConfirmation(
                    trial=each.trial,
                    runs=tuple(map(_describe_run, each.runs)),
                    values={name: _describe_estimate(found) for name, found in each.estimates().items()},
                    diverged=each.diverged,
                )
                for each in log.confirmed
            ),
            gains={name: _describe_estimate(gain) for name, gain in log.gains.items()},
            seconds=log.seconds,
            recipe=log.recipe[:LONGEST_RECIPE],
            best_recipe="" if best is None else _read_recipe(path, best.number),
        )

    def is_shipped(self, id: str) -> bool | None:
        """Whether a search is an example; None where there is no such search."""
        try:
            return self._find(id).parent == self.shipped
        except ApiError:
            return None

    def _find(self, id: str) -> Path:
        for folder in (self.folder, self.shipped):
            if names_folder(id) and is_search(folder / id):
                return folder / id
        raise ApiError("api.no_search", status=404, id=id[:80])

    def _describe_entry(self, log: SearchLog) -> SearchEntry:
        best, first = log.best, log.objectives[0].name
        found = None if best is None else best.estimate(first)
        return SearchEntry(
            id=log.folder.name,
            state=log.state,
            shipped=log.folder.parent == self.shipped,
            trained=sum(trial.state not in ("infeasible", "running") for trial in log.trials),
            wanted=log.wanted,
            objective=first,
            best=None if found is None else found.mean,
            updated=log.updated,
        )


def _describe_parameter(log: SearchLog, name: str) -> SearchParameter:
    where = log.space[name]
    shares: dict[str, float | None] = {
        each: found[name] for each, found in log.importance.items() if name in found
    }
    return SearchParameter(
        name=name,
        kind=where["kind"],
        values=tuple(map(_plain, where.get("values", ()))),
        low=where.get("low"),
        high=where.get("high"),
        log=bool(where.get("log", False)),
        own=_plain(log.own.get(name)),
        importance=shares,
    )


def _describe_trial(log: SearchLog, trial: Trial) -> SearchTrial:
    found = {each.name: trial.estimate(each.name) for each in log.objectives}
    return SearchTrial(
        number=trial.number,
        state=trial.state,
        parameters={name: _plain(value) for name, value in trial.parameters.items()},
        values={name: _describe_estimate(each) for name, each in found.items() if each is not None},
        runs=tuple(map(_describe_run, trial.runs)),
        reason=trial.reason,
        baseline=trial.baseline,
        started=trial.started,
        ended=trial.ended,
        steps=tuple(step for step, _ in trial.curve),
        scores=tuple(score for _, score in trial.curve),
    )


def _describe_run(run: TrialRun) -> SearchRun:
    return SearchRun(run=run.run, seed=run.seed, step=run.step, values=dict(run.values))


def _describe_estimate(found: Estimate) -> SearchEstimate:
    return SearchEstimate(mean=found.mean, low=found.low, high=found.high, count=found.count)


def _plain(value: Any) -> Value:
    return value if isinstance(value, bool | int | float | str | None) else json.dumps(value)


def _read_recipe(folder: Path, number: int) -> str:
    try:
        return (folder / "recipes" / f"{number:03d}.toml").read_text(encoding="utf-8")[:LONGEST_RECIPE]
    except (OSError, ValueError):
        return ""
