"""The search itself: asks for configurations, has them trained, and writes what came of them.

In:   a recipe with a table [search].
Out:  a folder `runs/<name>/`: journal.log (all that Optuna knows), search.json (the results), a recipe for
      each trial. Each run of a trial is an ordinary one beside it, `runs/<name>-007`.

A search that was killed continues from its journal: trials that were running are trained further, under the
same numbers and with the same values.
"""

import itertools
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from glassformer.engine import Engine, Resources, Result, open_engine
from glassformer.errors import ConfigurationError, GlassformerError, TrainingError
from glassformer.messages import Message, literal, message
from glassformer.runlog import RECIPE, read_run
from glassformer.runlog.alive import Heartbeat
from glassformer.runlog.search import (
    Confirmation,
    Objective,
    SearchLog,
    Trial,
    TrialRun,
    TrialState,
    find_searches,
    is_search,
    read_search,
    write_search,
)
from glassformer.settings import read_toml, write_toml
from glassformer.tasks.task import Task, read_task
from glassformer.training.changes import Overrides, find_incomparable, override, read_overrides
from glassformer.training.checkpoints import Checkpoints
from glassformer.training.loop import choose_score
from glassformer.training.plugins import PLUGINS, find_plugins
from glassformer.training.recipe import SEARCH, Recipe, check_name, locked, make_recipe
from glassformer.training.search import settings as tables
from glassformer.training.search.importance import measure_importance
from glassformer.training.search.pruning import PRUNED, PruningPlan
from glassformer.training.search.settings import SearchSettings, Space
from glassformer.training.search.space import Configurations
from glassformer.training.search.storage import (
    JOURNAL,
    encode_values,
    import_optuna,
    list_values,
    open_study,
    suggest,
)
from glassformer.training.search.trial import TrialOutcome, TrialTask, run_trial

LOOK = 1.0  # seconds between looks at trials that run
ASKED = 3  # configurations that the sampler is asked for until one is possible and new
TRIES = 500  # configurations that are drawn at random after that
RECIPES = "recipes"  # of trials, in the folder of the search
# Attributes of trials and of the study in the journal
RUNS, BASELINE, OUTSIDE, INFEASIBLE, FAILED, SAME, CONFIRMED = (
    "runs",
    "baseline",
    "outside",
    "infeasible",
    "failed",
    "same_as",
    "confirmed",
)


def search(  # noqa: PLR0913 - options of one verb
    recipe: str | Path | None = None,
    space: Mapping[str, Any] | None = None,
    *,
    overrides: Overrides = (),
    resume: bool = False,
    name: str | None = None,
    runs: str | Path = "runs",
    jobs: int | None = None,
    engine: str | Engine = "local",
    address: str | None = None,
    silent: bool = False,
) -> SearchLog:
    """Find the best configuration of a recipe, whose table [search] says where to look.

    `space` adds to that table or replaces parts of it: {"model.heads": [2, 4, 8], "trials": 30}. `jobs`
    trials are trained at the same time. The search is a folder in `runs`, its trials are runs beside it; with
    `resume` the search of this name continues, also with more `trials`. Needs Optuna (the extra `search`).

    >>> changes = {"train.steps": 2, "task.folder": ".", "task.path": "README.md"}  # any text of yours
    >>> space = {"model.heads": [2, 4], "train.rate": {"low": 1e-4, "high": 1e-2, "log": True}, "trials": 2}
    >>> found = gf.search("recipes/first.toml", space, overrides=changes, name="heads", silent=True)
    >>> sorted(found.best.parameters)
    ['model.heads', 'train.rate']
    """
    import_optuna()
    file = None if recipe is None else Path(recipe)
    if file is None and not (resume and name):
        raise TrainingError("training.search.no_recipe")
    name = check_name(name or f"{file.stem if file else ''}-search")
    folder = Path(runs) / name
    saved = _find_saved(folder, resume=resume)
    read = read_toml(saved if saved is not None and file is None else file or "")
    for key, value in read_overrides(overrides):
        override(read, key, value)
    table = read.setdefault("search", {})
    if not isinstance(table, dict):
        raise ConfigurationError("training.search.no_space")
    table |= space or {}
    settings, where = tables.read_search(table)
    if saved is not None:
        _check_same(saved, settings, where)
    if PLUGINS in read:  # recipes of trials are in another folder
        read[PLUGINS] = find_plugins(read[PLUGINS], Path() if file is None else file.parent)
    configurations = Configurations(Path(RECIPE) if file is None else file, read, settings, where)
    if saved is not None:
        _check_comparable(saved, configurations.recipe)
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with locked(folder, first=True):
            _save_recipe(folder, read)
            if saved is None:  # from here on it can be resumed
                write_search(_make_empty(folder, settings, where, configurations))
            configurations.prepare(folder)
            with Heartbeat(folder):
                work = _Search(folder, settings, where, configurations, silent=silent)
                return _run(work, engine, jobs, address)
    except GlassformerError:
        if new and not (folder / JOURNAL).exists():
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _run(work: "_Search", engine: str | Engine, jobs: int | None, address: str | None) -> SearchLog:
    if not isinstance(engine, str):
        return work.go(engine, jobs)
    with open_engine(engine, jobs=jobs, address=address) as opened:
        return work.go(opened, jobs)


class _Search:
    """One call of `search`."""

    def __init__(
        self,
        folder: Path,
        settings: SearchSettings,
        space: Space,
        configurations: Configurations,
        *,
        silent: bool,
    ) -> None:
        self.folder = folder
        self.runs = folder.parent
        self.name = folder.name
        self.settings = settings
        self.space = space
        self.configurations = configurations
        self.silent = silent
        self.recipe = configurations.recipe
        self.score, self.objectives = _find_objectives(self.recipe, settings)
        directions = [objective.direction for objective in self.objectives]
        self.study = open_study(folder, self.name, list(directions), settings)
        self.before = read_search(folder).seconds if is_search(folder) else 0.0
        self.started = time.monotonic()
        self.flying: dict[str, int] = {}  # tasks that were submitted: by key, the number of the trial
        self.exhausted = False
        self.log = self._write()

    # The course of a search

    def go(self, engine: Engine, jobs: int | None) -> SearchLog:
        """Train trials until the budget is spent, then the best one and the recipe's own with new seeds."""
        jobs = jobs or engine.slots
        self.resources = _share(engine, jobs)
        self._begin(engine)
        while True:
            while len(self.flying) < jobs and self._wants_more():
                self._submit_next(engine)
            if not self.flying:
                break
            result = engine.wait(LOOK)
            if result is not None:
                self._finish(result)
            elif self._has_news():
                self.log = self._write()
        self._confirm(engine)
        self.log = self._write(finished=True)
        return self.log

    def _begin(self, engine: Engine) -> None:
        """The recipe's own values are the first trial; trials that were running continue."""
        optuna = import_optuna()
        trials = self.study.get_trials(deepcopy=False)
        if not any(BASELINE in trial.user_attrs for trial in trials):
            inside = self.configurations.own_is_inside()
            values = encode_values(self.configurations.own, self.space) if inside else {}
            self.study.enqueue_trial(
                values, user_attrs={BASELINE: True} | ({} if inside else {OUTSIDE: True})
            )
        for frozen in trials:
            if frozen.state == optuna.trial.TrialState.RUNNING:
                self._submit(engine, optuna.trial.Trial(self.study, frozen._trial_id))

    def _wants_more(self) -> bool:
        minutes = self.settings.minutes
        if self.exhausted or (minutes is not None and self._seconds() > 60 * minutes):
            return False
        return sum(_counts(trial) for trial in self.log.trials) < self.settings.trials

    def _submit_next(self, engine: Engine) -> None:
        """Train a configuration that is possible and new; where there is none left, the search ends.

        The sampler may ask again and again for the best one that is known; then one is drawn at random.
        """
        tries = 0 if self.settings.sampler == "grid" and self.log.trials else ASKED
        for _ in range(tries):
            if self._submit(engine, self.study.ask()):
                self.log = self._write()
                return
        values = next(self._draw(), None)
        if values is None:
            self.exhausted = True
            return
        self.study.enqueue_trial(encode_values(values, self.space))
        self._submit(engine, self.study.ask())
        self.log = self._write()

    def _draw(self) -> Iterator[dict[str, Any]]:
        """Configurations that are possible and new: of the grid in order, or at random."""
        drawn = self._walk_grid() if self.settings.sampler == "grid" else self._draw_at_random()
        for values in drawn:
            if self._find_same(-1, values) is None and self.configurations.find_problem(values) is None:
                yield values

    def _walk_grid(self) -> Iterator[dict[str, Any]]:
        lists = [list_values(where) for where in self.space.values()]
        for values in itertools.product(*lists):
            yield dict(zip(self.space, values, strict=True))

    def _draw_at_random(self) -> Iterator[dict[str, Any]]:
        random = Random(f"{self.settings.seed} {len(self.study.get_trials(deepcopy=False))}")
        for _ in range(TRIES):
            yield {name: where.draw(random) for name, where in self.space.items()}

    def _submit(self, engine: Engine, trial: Any) -> bool:
        """Have a trial trained, unless its values are impossible or known."""
        optuna = import_optuna()
        attributes = trial.user_attrs
        values = {} if OUTSIDE in attributes else suggest(trial, self.space)
        baseline = BASELINE in attributes
        problem = self.configurations.find_problem(values)
        if problem is not None:
            if baseline:
                raise ConfigurationError("training.search.own_not_possible", problem=problem)
            trial.set_user_attr(INFEASIBLE, problem.to_json())
            self.study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
            return False
        same = None if OUTSIDE in attributes else self._find_same(trial.number, values)
        if same is not None:
            trial.set_user_attr(SAME, same)
            self.study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
            return False
        seeds = self._seeds(trial.number, range(self.settings.seeds))
        task = self._make_task(trial.number, values, seeds, self._plan_pruning(baseline))
        key = f"{self.name} trial {trial.number}"
        engine.submit(key, run_trial, task, resources=self.resources)
        self.flying[key] = trial.number
        return True

    def _finish(self, result: Result) -> None:
        """Write the outcome of a trial to the journal, last of all that it has ended."""
        optuna = import_optuna()
        number = self.flying.pop(result.key)
        states = optuna.trial.TrialState
        if result.error is not None:
            outcome = TrialOutcome((), failed=_describe_error(result.error))
        else:
            outcome = result.value
        trial = self.study.get_trials(deepcopy=False)[number]
        storage, id = self.study._storage, trial._trial_id
        storage.set_trial_user_attr(id, RUNS, [_run_to_json(run) for run in outcome.runs])
        for key, text in (
            (PRUNED, outcome.pruned),
            (INFEASIBLE, outcome.infeasible),
            (FAILED, outcome.failed),
        ):
            if text is not None:
                storage.set_trial_user_attr(id, key, text.to_json())
        if outcome.pruned is not None and len(self.objectives) == 1:
            self.study.tell(number, state=states.PRUNED)
        elif outcome.pruned or outcome.infeasible or outcome.failed:
            self.study.tell(number, state=states.FAIL)
        else:
            found = Trial(number, "complete", {}, outcome.runs)
            values = [found.estimate(objective.name) for objective in self.objectives]
            if all(values):
                self.study.tell(number, [value.mean for value in values if value])
            else:
                missing = [
                    each.name for each, value in zip(self.objectives, values, strict=True) if not value
                ]
                text = message("training.search.no_value", names=missing)
                storage.set_trial_user_attr(id, FAILED, text.to_json())
                self.study.tell(number, state=states.FAIL)
        self._tidy(outcome)
        self._say(number)

    def _tidy(self, outcome: TrialOutcome) -> None:
        """Remove what only a run that goes on would need."""
        for run in () if self.settings.keep_states or outcome.failed else outcome.runs:
            Checkpoints(self.runs / run.run).remove_states()

    def _confirm(self, engine: Engine) -> None:
        """Train the best configuration and the recipe's own again, each with the same new seeds.

        Where a run of the best one diverges, the next one is the best, and is trained again.
        """
        while self.settings.confirm and self.log.best is not None:
            best = self.log.best
            self._confirm_best(engine)
            if self.log.best == best:
                return
            self._tell(message("training.search.not_the_best", number=best.number))

    def _confirm_best(self, engine: Engine) -> None:
        chosen = dict.fromkeys(
            trial.number
            for trial in (self.log.best, self.log.baseline)
            if trial is not None and trial.state == "complete"
        )
        known = self.study.user_attrs
        first = self.settings.seeds
        submitted: dict[str, tuple[str, int]] = {}
        for number in chosen:
            trial = self.log.trials[_place(self.log, number)]
            for name, seed in self._seeds(number, range(first, first + self.settings.confirm)):
                if f"{CONFIRMED} {number} {seed}" not in known:
                    task = self._make_task(number, trial.parameters, ((name, seed),), None)
                    task = replace(task, also_on=self.settings.confirm_on)
                    key = f"{CONFIRMED} {number} {seed}"
                    submitted[key] = name, seed
                    engine.submit(key, run_trial, task, resources=self.resources)
        self._tell(message("training.search.confirming", trials=list(chosen), seeds=self.settings.confirm))
        while engine.keys:
            result = engine.wait()
            if result is None:
                break
            outcome: TrialOutcome = result.get()
            for problem in (outcome.failed, outcome.infeasible):
                if problem is not None:
                    raise TrainingError("training.search.not_confirmed", problem=problem)
            if outcome.pruned is None:
                run = outcome.runs[0]
            else:  # it diverged, and would again: a run without scores
                name, seed = submitted[result.key]
                self._tell(message("training.search.diverged", run=name, problem=outcome.pruned))
                run = TrialRun(name, seed, read_run(self.runs / name).last_step, {})
            self.study.set_user_attr(result.key, _run_to_json(run))
            self.log = self._write()

    # Parts of tasks

    def _make_task(
        self,
        number: int,
        values: Mapping[str, Any],
        seeds: tuple[tuple[str, int], ...],
        pruning: PruningPlan | None,
    ) -> TrialTask:
        path = self.folder / RECIPES / f"{number:03d}.toml"
        path.parent.mkdir(exist_ok=True)
        head = str(message("training.search.recipe_head", number=number, search=self.name).text("en"))
        new = path.with_name(f".{path.name}")
        new.write_text(f"# {head}\n\n{self.configurations.make_recipe(values).text}", encoding="utf-8")
        os.replace(new, path)
        objectives = tuple(objective.name for objective in self.objectives)
        return TrialTask(self.folder, self.name, number, path, self.runs, seeds, objectives, pruning)

    def _seeds(self, number: int, places: range) -> tuple[tuple[str, int], ...]:
        """The names of runs of a trial, and their seeds."""
        first = self.recipe.train.seed
        stem = f"{self.name}-{number:03d}"
        return tuple(
            (stem if not place else f"{stem}-seed{first + place}", first + place) for place in places
        )

    def _plan_pruning(self, protected: bool) -> PruningPlan:
        train = self.recipe.train
        return PruningPlan(
            self.settings.pruner,
            self.score.direction,
            train.evaluate_every,
            train.steps,
            tuple(self.settings.prune_on),
            protected,
        )

    def _find_same(self, number: int, values: Mapping[str, Any]) -> int | None:
        """Another trial with these values that is running or has ended well."""
        wanted = json.dumps(dict(values), sort_keys=True)
        for trial in self.log.trials:
            known = json.dumps(dict(trial.parameters), sort_keys=True)
            if (
                trial.number != number
                and trial.state in ("running", "complete", "pruned")
                and known == wanted
            ):
                return trial.number
        return None

    # Results

    def _write(self, *, finished: bool = False) -> SearchLog:
        """All that is known as search.json."""
        trials = [
            _describe_trial(trial, self.space)
            for trial in self.study.get_trials(deepcopy=False)
            if SAME not in trial.user_attrs and trial.state.name != "WAITING"
        ]
        confirmed: dict[int, list[TrialRun]] = {}
        for key, value in self.study.user_attrs.items():
            word, _, rest = key.partition(" ")
            if word == CONFIRMED:
                confirmed.setdefault(int(rest.split()[0]), []).append(_read_run(value))
        log = SearchLog(
            name=self.name,
            folder=self.folder,
            recipe=(self.folder / RECIPE).read_text(encoding="utf-8"),
            objectives=self.objectives,
            space={name: where.to_json() for name, where in self.space.items()},
            own=self.configurations.own,
            trials=tuple(trials),
            importance=measure_importance(self.study, self.objectives),
            wanted=self.settings.trials,
            seconds=self._seconds(),
            finished=finished,
            updated=time.time(),
        )
        found = {
            number: Confirmation(number, tuple(sorted(runs, key=lambda run: run.seed)))
            for number, runs in confirmed.items()
        }
        log = replace(log, unstable=tuple(each for each in found.values() if each.diverged))
        # the best one first, then the recipe's own; those of an earlier, shorter search do not count
        chosen = [each.number for each in (log.best, log.baseline) if each is not None]
        log = replace(
            log,
            confirmed=tuple(found[number] for number in dict.fromkeys(chosen) if number in found),
        )
        write_search(log)
        return log

    def _has_news(self) -> bool:
        """Whether trials have scores that search.json does not have."""
        known = {trial.number: len(trial.curve) for trial in self.log.trials}
        trials = self.study.get_trials(deepcopy=False)
        return any(len(trial.intermediate_values) > known.get(trial.number, 0) for trial in trials)

    def _seconds(self) -> float:
        return self.before + time.monotonic() - self.started

    def _say(self, number: int) -> None:
        self.log = self._write()
        trial = self.log.trials[_place(self.log, number)]
        done = sum(_counts(each) and each.state != "running" for each in self.log.trials)
        found = trial.estimate(self.objectives[0].name) if trial.state == "complete" else None
        best = self.log.best
        top = None if best is None else best.estimate(self.objectives[0].name)
        values = [f"{name}={value}" for name, value in _round(trial.parameters).items()]
        self._tell(
            message(
                f"training.search.ended.{trial.state}",
                number=number,
                done=done,
                wanted=self.settings.trials,
                name=self.objectives[0].name,
                value=None if found is None else found.mean,
                best=None if top is None else top.mean,
                best_number=None if best is None else best.number,
                reason=trial.reason,
                values=values,
            )
        )

    def _tell(self, text: Message) -> None:
        if not self.silent:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()


def _find_saved(folder: Path, *, resume: bool) -> Path | None:
    """The recipe of a search that is resumed; the folder of a new one must be free."""
    if resume:
        if not is_search(folder):
            known = [path.name for path in find_searches(folder.parent)]
            raise TrainingError("training.search.none", name=folder.name, folder=folder.parent, known=known)
        return folder / RECIPE
    if is_search(folder):
        raise TrainingError("training.search.exists", folder=folder, name=folder.name)
    if folder.is_dir() and any(
        not path.name.startswith(".") and path.name != RECIPE for path in folder.iterdir()
    ):
        raise TrainingError("training.search.folder_in_use", folder=folder)
    run = re.compile(rf"{re.escape(folder.name)}-\d{{3,}}(-seed-?\d+)?")
    taken = sorted(path.name for path in folder.parent.glob("*") if run.fullmatch(path.name))
    if taken:
        raise TrainingError("training.search.runs_exist", folder=folder.parent, name=taken[0])
    return None


def _check_same(saved: Path, settings: SearchSettings, space: Space) -> None:
    """A search is resumed in the same space, for the same objectives; its budget may be another."""
    before, where = tables.read_search(read_toml(saved)["search"])
    fixed = ("objectives", "seeds", "limits", "sampler")
    changed = [name for name in fixed if getattr(before, name) != getattr(settings, name)]
    changed += [name for name in {**where, **space} if where.get(name) != space.get(name)]
    if changed:
        raise TrainingError("training.search.changed", folder=saved.parent, names=changed)


def _check_comparable(saved: Path, recipe: Recipe) -> None:
    """All other settings that scores depend on stay, too."""
    before = {name: table for name, table in read_toml(saved).items() if name != SEARCH}
    changed = find_incomparable(make_recipe(saved, "", before).settings(), recipe.settings())
    if changed:
        raise TrainingError("training.search.changed", folder=saved.parent, names=changed)


def _save_recipe(folder: Path, read: Mapping[str, Any]) -> None:
    new = folder / f".{RECIPE}"
    new.write_text(write_toml(read), encoding="utf-8")
    os.replace(new, folder / RECIPE)


def _make_empty(
    folder: Path, settings: SearchSettings, space: Space, configurations: Configurations
) -> SearchLog:
    """A search that has not begun."""
    return SearchLog(
        name=folder.name,
        folder=folder,
        recipe=(folder / RECIPE).read_text(encoding="utf-8"),
        objectives=_find_objectives(configurations.recipe, settings)[1],
        space={name: where.to_json() for name, where in space.items()},
        own={},
        trials=(),
        wanted=settings.trials,
        updated=time.time(),
    )


def _find_objectives(recipe: Recipe, settings: SearchSettings) -> tuple[Objective, tuple[Objective, ...]]:
    """The score that decides which checkpoint is best, and what is searched for."""
    kind, _ = read_task(recipe.tables["task"])
    score, sign = choose_score(kind, recipe.train.best_by)
    decides = Objective(score, _direction(sign))
    wanted = tuple(
        decides if name in ("score", score) else _make_objective(kind, name) for name in settings.objectives
    )
    return decides, wanted


def _make_objective(task: type[Task], name: str) -> Objective:
    if name in tables.OBJECTIVES:  # what a run costs
        return Objective(name, "minimize")
    return Objective(name, _direction(choose_score(task, name)[1]))


def _direction(sign: int) -> Any:
    return "maximize" if sign > 0 else "minimize"


def _share(engine: Engine, jobs: int) -> Resources:
    """Each trial has its part of the CPUs and GPUs of the engine."""
    return Resources(cpus=max(1, engine.cpus // jobs), gpus=min(1.0, engine.gpus / jobs))


def _counts(trial: Trial) -> bool:
    """Whether a trial is part of the budget: what cannot be trained costs nothing."""
    return trial.state != "infeasible"


def _place(log: SearchLog, number: int) -> int:
    return next(place for place, trial in enumerate(log.trials) if trial.number == number)


def _describe_trial(trial: Any, space: Space) -> Trial:
    attributes = trial.user_attrs
    state: TrialState
    if trial.state.name == "RUNNING":
        state = "running"
    elif PRUNED in attributes:
        state = "pruned"
    elif INFEASIBLE in attributes:
        state = "infeasible"
    else:
        state = "complete" if trial.state.name == "COMPLETE" else "failed"
    reason = next((attributes[key] for key in (PRUNED, INFEASIBLE, FAILED) if key in attributes), None)
    started, ended = trial.datetime_start, trial.datetime_complete
    return Trial(
        number=trial.number,
        state=state,
        parameters={name: _decode(trial.params[name], space[name]) for name in space if name in trial.params},
        runs=tuple(map(_read_run, attributes.get(RUNS, ()))),
        reason=None if reason is None else Message.from_json(reason),
        baseline=BASELINE in attributes,
        started=None if started is None else started.timestamp(),
        ended=None if ended is None else ended.timestamp(),
        curve=tuple(sorted(trial.intermediate_values.items())),
    )


def _decode(value: Any, where: Any) -> Any:
    """A value of the journal as it is in the recipe."""
    if isinstance(where, tables.Choice):
        return next(
            (each for each in where.values if encode_values({"": each}, {"": where})[""] == value), value
        )
    return value


def _run_to_json(run: TrialRun) -> dict[str, Any]:
    return {"run": run.run, "seed": run.seed, "step": run.step, "values": dict(run.values)}


def _read_run(data: Mapping[str, Any]) -> TrialRun:
    return TrialRun(data["run"], data["seed"], data["step"], data["values"])


def _describe_error(error: Exception) -> Message:
    if isinstance(error, GlassformerError):
        return error.message
    return literal(f"{type(error).__name__}: {error}")


def _round(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: f"{each:.4g}" if isinstance(each, float) else each for name, each in values.items()}
