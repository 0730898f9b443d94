"""A run of any length as a small `RunLog`: what a terminal can draw, without reading the whole log.

In:   the folder of a run.
Out:  a `RunLog` with at most so many points of each curve: exact where there are no more, else mean values.
"""

from pathlib import Path

from glassformer.errors import InputError
from glassformer.runlog.log import (
    DATA,
    ENVIRONMENT,
    EVENTS,
    RECIPE,
    Curve,
    HeadHistory,
    RunLog,
    is_run,
    read_events,
    read_object,
)
from glassformer.runlog.run_index import HEADS, SCALARS, open_run

POINTS = 5_000


def read_thinned(folder: Path, statistic: str, points: int = POINTS) -> RunLog:
    """The log of a run in few points, with one statistic of its heads."""
    if not is_run(folder):
        raise InputError("runlog.no_run", folder=folder, file=EVENTS)
    events, damaged = read_events(folder)
    curves, heads = {}, {}
    if any((folder / name).is_file() for name in (SCALARS, HEADS)):
        with open_run(folder) as run:
            damaged += run.damaged
            for name, series in run.series_of(run.names, points=points).items():
                curves[name] = Curve(series.last, series.mean[:, 0])
            if any(statistic in statistics for statistics, _ in run.maps.values()):
                for place, series in run.heads_of(statistic, points=points // 10).items():
                    heads[place] = HeadHistory(series.last, {statistic: series.mean})
    recipe = folder / RECIPE
    return RunLog(
        name=folder.resolve().name,
        folder=folder,
        scalars=curves,
        heads=heads,
        events=events,
        recipe=recipe.read_text(encoding="utf-8") if recipe.is_file() else "",
        environment=read_object(folder / ENVIRONMENT),
        damaged=damaged,
        data=read_object(folder / DATA),
    )
