"""One trial in the process that trains it: a run for each seed, judged while it learns.

In:   a `TrialTask`: the recipe of the trial, the names of its runs, how it is judged.
Out:  a `TrialOutcome`. A task that is started again, because its process was lost, continues its runs.
"""

import itertools
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glassformer.errors import ConfigurationError, TrainingError
from glassformer.messages import Message, message
from glassformer.runlog import BEST, RunLog, is_run, read_run
from glassformer.runlog.search import TrialRun
from glassformer.training.changes import find_incomparable, read_saved
from glassformer.training.checkpoints import Checkpoints
from glassformer.training.evaluate import evaluate
from glassformer.training.loop import Judge
from glassformer.training.recipe import locked, read_recipe, train
from glassformer.training.search.pruning import PruningPlan, TrialJudge

PATIENCE = 60.0  # seconds until a lost process has let go of a run
DEV = "dev_"
COSTS = ("parameters", "seconds", "tokens")


@dataclass(frozen=True, slots=True)
class TrialTask:
    """Everything that a process needs to know."""

    folder: Path  # of the search
    study: str
    number: int
    recipe: Path
    runs: Path
    seeds: tuple[tuple[str, int], ...]  # names of runs and seeds
    objectives: tuple[str, ...]
    pruning: PruningPlan | None  # None: never pruned
    also_on: str | None = None  # a split to evaluate the best checkpoint on
    device: str | None = None


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """What came of a trial."""

    runs: tuple[TrialRun, ...]
    pruned: Message | None = None
    infeasible: Message | None = None
    failed: Message | None = None


def run_trial(task: TrialTask) -> TrialOutcome:
    """Train all runs of a trial that have not ended yet; only the first one may be pruned."""
    judge = None
    if task.pruning is not None:
        judge = TrialJudge(task.folder, task.study, task.number, task.pruning)
        if (verdict := judge.find_verdict()) is not None:
            return TrialOutcome(_describe_ended(task, task.seeds[0]), pruned=verdict)
    found: list[TrialRun] = []
    try:
        for place, (name, seed) in enumerate(task.seeds):
            ending = _train(task, name, seed, judge if place == 0 else None)
            if ending == "pruned" and judge is not None:
                return TrialOutcome(_describe_ended(task, (name, seed)), pruned=judge.find_verdict())
            if ending in ("interrupted", "alarm"):  # its scores are those of an unfinished run
                step = read_run(task.runs / name).last_step
                raise TrainingError(message(f"training.search.stopped.{ending}", run=name, step=step))
            found.append(_describe(task, name, seed))
    except ConfigurationError as error:
        return TrialOutcome(tuple(found), infeasible=error.message)
    except TrainingError as error:
        if error.message.code == "training.not_finite":
            return TrialOutcome(tuple(found), pruned=error.message)
        return TrialOutcome(tuple(found), failed=error.message)
    return TrialOutcome(tuple(found))


def _train(task: TrialTask, name: str, seed: int, judge: Judge | None) -> str:
    """Start or continue a run; how it ended."""
    folder = task.runs / name
    end = time.monotonic() + PATIENCE
    changes: dict[str, Any] = {"train.seed": seed}
    if task.device is not None:
        changes["train.device"] = task.device
    settings = read_recipe(task.recipe, changes).settings()
    while True:
        try:
            if is_run(folder):
                _check_own(folder, settings)
                if (ending := _find_ending(folder, settings)) is not None:
                    return ending
                if not Checkpoints(folder).steps():
                    _remove_lost(folder)
            if is_run(folder):
                return train(None, resume=True, name=name, runs=task.runs, silent=True, judge=judge).ending
            return train(task.recipe, changes, name=name, runs=task.runs, silent=True, judge=judge).ending
        except TrainingError as error:
            if error.message.code != "training.recipe.in_use" or time.monotonic() > end:
                raise
            time.sleep(0.2)


def _find_ending(folder: Path, settings: Mapping[str, Any]) -> str | None:
    """How a run ended whose process was lost afterwards; None: it is to be continued."""
    log = read_run(folder)
    if settings["monitor.on_alarm"] == "stop" and log.alarms:
        return "alarm"  # also where the process was lost before it wrote that it stops
    if log.state == "finished":
        return "finished"
    why = log.events[-1].topic if log.state == "stopped" else ""
    return why if why == "no_improvement" else None


def _check_own(folder: Path, settings: Mapping[str, Any]) -> None:
    """Refuse a run that only has the name of the trial's."""
    changed = find_incomparable(read_saved(folder), settings)
    if changed:
        raise TrainingError("training.search.other_run", folder=folder, names=changed)


def _remove_lost(folder: Path) -> None:
    """Remove a run whose process was lost before its first checkpoint."""
    with locked(folder, first=True):
        if not Checkpoints(folder).steps():
            shutil.rmtree(folder)


def _describe_ended(task: TrialTask, run: tuple[str, int]) -> tuple[TrialRun, ...]:
    """The run that was pruned, if it has any score."""
    if not is_run(task.runs / run[0]):
        return ()
    return (_describe(task, *run),)


def _describe(task: TrialTask, name: str, seed: int) -> TrialRun:
    folder = task.runs / name
    log = read_run(folder)
    values = measure_run(log, task.objectives)
    if task.also_on is not None:
        scores = evaluate(folder, task.also_on, device=task.device or "auto")
        values |= {f"{task.also_on}_{name}": score for name, score in scores.items()}
    return TrialRun(name, seed, log.last_step, values)


def measure_run(log: RunLog, objectives: tuple[str, ...]) -> dict[str, float]:
    """The objectives of a run, which are scores of its best checkpoint, and in any case what it cost."""
    best = next((event for event in reversed(log.events) if event.kind == BEST), None)
    values: dict[str, float] = {}
    for name in dict.fromkeys((*objectives, *COSTS)):
        if name == "parameters":
            values[name] = float(log.environment["parameters"])
        elif name == "seconds":
            values[name] = count_seconds(log)
        elif name == "tokens":
            values[name] = float(log.scalars["tokens"].values[-1])
        elif best is not None:
            if name == best.topic and best.value is not None:
                values[name] = best.value
            elif (score := _score_at(log, name, best.step)) is not None:
                values[name] = score
    return values


def count_seconds(log: RunLog) -> float:
    """The time that the steps of a run took, evaluations between them too, without pauses before resuming."""
    if "time" not in log.scalars:
        return 0.0
    curve = log.scalars["time"]
    resumed = {event.step + 1 for event in log.events if event.kind == "resumed"}
    times = list(zip(curve.steps.tolist(), curve.values.tolist(), strict=True))
    return sum(
        later - earlier for (_, earlier), (step, later) in itertools.pairwise(times) if step not in resumed
    )


def _score_at(log: RunLog, name: str, step: int) -> float | None:
    if DEV + name not in log.scalars:
        return None
    curve = log.scalars[DEV + name]
    return dict(zip(curve.steps.tolist(), curve.values.tolist(), strict=True)).get(step)
