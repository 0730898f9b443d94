"""A search in a terminal: its trials, what mattered, the best configuration and why to believe it.

In:   a SearchLog.
Out:  text.
"""

from typing import Any

from glassformer.messages import message
from glassformer.render.terminal.tables import draw_table
from glassformer.render.terminal.text import wrap
from glassformer.runlog.intervals import Estimate, estimate
from glassformer.runlog.search import SearchLog, Trial

BAR = 20  # characters of the longest bar


def draw_search(log: SearchLog, *, columns: int = 80, colour: bool = False) -> str:
    """Everything that is known about a search so far."""
    trained = sum(trial.state not in ("infeasible", "running") for trial in log.trials)
    state = message(f"render.search.states.{log.state}")
    head = message(
        "render.search.head",
        name=log.name,
        state=state,
        trained=trained,
        wanted=log.wanted,
        minutes=log.seconds / 60,
    )
    parts = [wrap(str(head), columns), _draw_trials(log, columns, colour), _draw_importance(log, columns)]
    parts += [_draw_best(log, columns, colour), _draw_evidence(log, columns)]
    return "\n\n".join(filter(None, parts))


def _draw_trials(log: SearchLog, columns: int, colour: bool) -> str:
    """A line for each trial, the best first, those without a value at the end."""
    names = [objective.name for objective in log.objectives]
    labels = {name: str(message(f"render.search.columns.{name}")) for name in ("trial", "state", "reason")}
    header = (labels["trial"], labels["state"], *names, *log.space, labels["reason"])
    best = {trial.number for trial in log.pareto}
    rows = [header]
    ended = sorted(log.complete, key=lambda trial: _order(log, trial))
    for trial in [*ended, *(each for each in log.trials if each not in ended)]:
        mark = "*" if trial.number in best else "="[: trial.baseline]
        values = [format_estimate(trial.estimate(name)) for name in names]
        chosen = [_format(trial.parameters.get(name)) for name in log.space]
        reason = "" if trial.reason is None else str(trial.reason)
        state = str(message(f"render.search.states.{trial.state}"))
        rows.append((f"{trial.number}{mark}", state, *values, *chosen, reason))
    return draw_table(rows, columns=columns, colour=colour)


def _order(log: SearchLog, trial: Trial) -> float:
    first = log.objectives[0]
    found = trial.estimate(first.name)
    return 0.0 if found is None else -first.sign * found.mean


def _draw_importance(log: SearchLog, columns: int) -> str:
    parts = []
    for name, shares in log.importance.items():
        most = max(shares.values(), default=0.0)
        rows = [
            (setting, f"{share:.0%}", "█" * round(BAR * share / most) if most else "")
            for setting, share in shares.items()
        ]
        if rows:
            title = wrap(str(message("render.search.importance", name=name)), columns)
            parts.append(f"{title}\n{draw_table(rows, right={1}, columns=columns, header=False)}")
    return "\n\n".join(parts)


def _draw_best(log: SearchLog, columns: int, colour: bool) -> str:
    """The best configuration beside the recipe's own."""
    best, baseline = log.best, log.baseline
    if best is None:
        return ""
    name = log.objectives[0].name
    lines = []
    for code, trial in (("best", best), ("own", baseline)):
        if trial is not None:
            value = format_estimate(trial.estimate(name))
            lines.append(str(message(f"render.search.{code}", number=trial.number, name=name, value=value)))
    titles = [str(message(f"render.search.{code}")) for code in ("setting", "best_values", "own_values")]
    rows = [tuple(titles)]
    for setting in log.space:
        own = log.own.get(setting)
        rows.append((setting, _format(best.parameters.get(setting, own)), _format(own)))
    table = draw_table(rows, columns=columns, colour=colour)
    recipe = message("render.search.recipe", file=log.folder / "recipes" / f"{best.number:03d}.toml")
    runs = message("render.search.runs", runs=[run.run for run in best.runs])
    return "\n".join((*(wrap(line, columns) for line in lines), table, str(recipe), str(runs)))


def _draw_evidence(log: SearchLog, columns: int) -> str:
    lines = []
    if len(log.objectives) > 1 and log.pareto:
        lines.append(message("render.search.front", trials=[trial.number for trial in log.pareto]))
    for each in {each.trial: each for each in (*log.confirmed, *log.unstable)}.values():
        if each.diverged:
            count, runs = each.diverged, len(each.runs)
            lines.append(message("render.search.diverged", number=each.trial, count=count, runs=runs))
    for name, gain in log.gains.items():
        best, own = (format_estimate(estimate(each.values(name))) for each in log.confirmed)
        code = "gain" if gain.half is not None else "gain_without_interval"
        numbers: dict[str, Any] = {"mean": gain.mean, "low": gain.low, "high": gain.high, "count": gain.count}
        lines.append(message(f"render.search.{code}", name=name, best=best, own=own, **numbers))
    if not log.confirmed and log.best is not None and len(log.best.runs) < 2:
        lines.append(message("render.search.one_seed"))
    return "\n".join(wrap(str(line), columns) for line in lines)


def format_estimate(found: Estimate | None) -> str:
    """A mean with its interval; – where there is none."""
    if found is None:
        return "–"
    return f"{found.mean:.4g}" if found.half is None else f"{found.mean:.4g} ± {found.half:.2g}"


def _format(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
