"""Whether a trial should end early: because others were better at the same step, or by an alarm.

In:   the journal, a trial and its scores so far.
Out:  a `Verdict`, or None.

Optuna's pruners know one objective. Here they are shown the trials with the score that decides
which checkpoint is best, so that searches for several objectives are pruned, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.messages import Message, message
from glassformer.place import name_term
from glassformer.training.search.settings import Pruner
from glassformer.training.search.storage import FACTOR, import_optuna, open_storage

if TYPE_CHECKING:
    import optuna

PRUNED = "pruned"  # an attribute of a trial: why it ends early


@dataclass(frozen=True, slots=True)
class PruningPlan:
    """How trials are judged: sent to the process that trains one."""

    pruner: Pruner
    direction: str  # of the score, "minimize" or "maximize"
    every: int  # steps between evaluations
    steps: int  # of a whole run
    prune_on: tuple[str, ...]  # causes of alarms
    protected: bool = False  # its scores count for others, but it is never pruned: the recipe's own values


class TrialJudge:
    """Judges one trial while it trains: the `judge` of its run."""

    def __init__(self, folder: Path, study: str, number: int, plan: PruningPlan) -> None:
        self.plan = plan
        self.name = study
        self.number = number
        optuna = import_optuna()
        self.storage = open_storage(folder)
        self.study = optuna.load_study(study_name=study, storage=self.storage)
        self.id = self._trials()[number]._trial_id

    def __call__(self, step: int, score: float | None, alarms: Mapping[str, Any]) -> Message | None:
        """After an evaluation or a look at the heads: why the run should end, or None."""
        reason = self._find_alarm(step, alarms)
        if reason is None and score is not None:
            self.storage.set_trial_intermediate_value(self.id, step, score)
            if self.plan.pruner != "none" and self._is_worse() and not self.plan.protected:
                reason = message("training.search.pruned", pruner=self.plan.pruner, step=step)
        if reason is not None:
            self.storage.set_trial_user_attr(self.id, PRUNED, reason.to_json())
        return reason

    def find_verdict(self) -> Message | None:
        """What was decided before this process was started."""
        known = self._trials()[self.number].user_attrs.get(PRUNED)
        return None if known is None else Message.from_json(known)

    def _find_alarm(self, step: int, alarms: Mapping[str, Any]) -> Message | None:
        for cause in () if self.plan.protected else self.plan.prune_on:
            if cause in alarms:
                topic = name_term(cause.replace("_", " "))
                return message("training.search.pruned_by_alarm", topic=topic, step=step)
        return None

    def _is_worse(self) -> bool:
        trials = self._trials()
        shadow = _make_shadow(self.name, trials, self.plan.direction)
        trial = shadow.get_trials(deepcopy=False)[self.number]
        verdict: bool = make_pruner(self.plan).prune(shadow, trial)
        before = trials[self.number].system_attrs
        for key, value in shadow.get_trials()[self.number].system_attrs.items():
            if key not in before:  # the rungs that it has reached
                self.storage.set_trial_system_attr(self.id, key, value)
        return verdict

    def _trials(self) -> "list[optuna.trial.FrozenTrial]":
        return self.study.get_trials(deepcopy=False)


def make_pruner(plan: PruningPlan) -> Any:
    """Optuna's pruner; its resource is the number of steps."""
    pruners = import_optuna().pruners
    if plan.pruner == "hyperband":
        return pruners.HyperbandPruner(plan.every, max(plan.steps, plan.every), FACTOR)
    if plan.pruner == "halving":
        return pruners.SuccessiveHalvingPruner(plan.every, FACTOR)
    if plan.pruner == "median":
        return pruners.MedianPruner(n_startup_trials=4)
    return pruners.NopPruner()


def _make_shadow(name: str, trials: "list[optuna.trial.FrozenTrial]", direction: str) -> "optuna.Study":
    """The same trials in a study of one objective, in memory."""
    optuna = import_optuna()
    shadow: Any = optuna.create_study(study_name=name, direction=direction)
    for trial in trials:
        ended = trial.state == optuna.trial.TrialState.COMPLETE
        shadow.add_trial(
            optuna.trial.create_trial(
                state=trial.state,
                value=trial.values[0] if ended and trial.values else None,
                intermediate_values=trial.intermediate_values,
                system_attrs=trial.system_attrs,
            )
        )
    return shadow
