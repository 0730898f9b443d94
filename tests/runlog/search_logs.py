"""A small search, written by hand."""

from pathlib import Path

from glassformer.messages import message
from glassformer.runlog.search import Confirmation, Objective, SearchLog, Trial, TrialRun


def make_search(folder: Path) -> SearchLog:
    """The recipe's own configuration, a better and a smaller one, a bad one, one pruned, one not possible."""

    def runs(number: int, *values: tuple[float, float], first: int = 1) -> tuple[TrialRun, ...]:
        return tuple(
            TrialRun(f"s-{number:03d}", first + place, 100, {"loss": loss, "parameters": size})
            for place, (loss, size) in enumerate(values)
        )

    reason = message("training.search.pruned", pruner="halving", step=20)
    return SearchLog(
        name="s",
        folder=folder,
        recipe="[search]\n",
        objectives=(Objective("loss", "minimize"), Objective("parameters", "minimize")),
        space={"model.heads": {"kind": "choice", "values": [2, 4]}},
        own={"model.heads": 2},
        trials=(
            Trial(0, "complete", {"model.heads": 2}, runs(0, (2.0, 100.0), (2.2, 100.0)), baseline=True),
            Trial(1, "complete", {"model.heads": 4}, runs(1, (1.5, 120.0), (1.6, 120.0))),
            Trial(2, "pruned", {"model.heads": 4}, runs(2, (3.0, 50.0)), reason),
            Trial(3, "infeasible", {"model.heads": 3}, reason=message("training.search.same_objectives")),
            Trial(4, "complete", {"model.heads": 2}, runs(4, (2.5, 50.0), (2.5, 50.0))),
            Trial(5, "complete", {"model.heads": 2}, runs(5, (2.6, 130.0), (2.6, 130.0))),
        ),
        importance={"loss": {"model.heads": 1.0}},
        confirmed=(
            Confirmation(1, runs(1, (1.5, 120.0), (1.7, 120.0), first=3)),
            Confirmation(0, runs(0, (2.0, 100.0), (2.0, 100.0), first=3)),
        ),
        wanted=5,
        seconds=90.0,
        finished=True,
        updated=5.0,
    )
