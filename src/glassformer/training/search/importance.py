"""How much each setting matters for an objective, by PED-ANOVA on the trials that ended.

In:   a study.
Out:  by objective and setting, shares that sum to 1; nothing where there are too few trials.
"""

import warnings
from typing import TYPE_CHECKING

from glassformer.runlog.search import Objective
from glassformer.training.search.storage import import_optuna

if TYPE_CHECKING:
    import optuna

FEWEST = 8  # complete trials


def measure_importance(
    study: "optuna.Study", objectives: tuple[Objective, ...]
) -> dict[str, dict[str, float]]:
    """The importance of every setting that differs between trials."""
    optuna = import_optuna()
    state = optuna.trial.TrialState.COMPLETE
    complete = [trial for trial in study.get_trials(deepcopy=False, states=(state,)) if trial.params]
    if len(complete) < FEWEST:
        return {}
    found: dict[str, dict[str, float]] = {}
    for place, objective in enumerate(objectives):
        single = optuna.create_study(direction=objective.direction)
        for trial in complete:
            single.add_trial(
                optuna.trial.create_trial(
                    value=trial.values[place], params=trial.params, distributions=trial.distributions
                )
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            evaluator = optuna.importance.PedAnovaImportanceEvaluator()
            shares = optuna.importance.get_param_importances(single, evaluator=evaluator)
        found[objective.name] = {name: float(share) for name, share in shares.items()}
    return found
