"""Training runs in a terminal: a list of them, curves drawn in dots, alarms, and how heads changed.

In:   RunLogs, RunOverviews.
Out:  text.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glassformer.messages import Message, message
from glassformer.place import Place, name_term
from glassformer.render.terminal.tables import draw_table
from glassformer.render.terminal.text import measure, wrap
from glassformer.runlog import Alarm, Curve, RunLog, RunOverview

ALARMS = 12  # the last ones that are shown
SPREAD = "entropy_share"  # the statistic of heads that is drawn
HEIGHT = 10  # lines of a curve
_MARGIN = 10  # characters left of a curve
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # of a braille character, by place
_BARS = "▁▂▃▄▅▆▇█"


def draw_runs(runs: Sequence[RunOverview], *, columns: int = 80, colour: bool = False) -> str:
    """A table, one line for each run."""
    if not runs:
        return str(message("render.runs.none"))
    names = ("run", "state", "step", "loss", "best_score", "alarms")
    rows = [tuple(str(message(f"render.runs.columns.{name}")) for name in names)]
    for run in runs:
        best = find_best(run)
        score = "–" if best is None else f"{best[0]} {best[1]:.4g}"
        loss = "–" if not run.loss else "nan" if run.loss[-1] is None else f"{run.loss[-1]:.4g}"
        state = str(name_state(run))
        rows.append((run.name, state, str(run.last_step), loss, score, str(run.alarms or "–")))
    return draw_table(rows, right={2, 3, 5}, columns=columns, colour=colour)


def name_state(log: RunLog | RunOverview) -> Message:
    """How a run stands: open, finished …"""
    return message(f"render.runs.states.{log.state}", default=log.state)


def draw_run(log: RunLog, *, columns: int = 80) -> str:
    """One run: where it stands, its losses, its heads, its alarms."""
    parts = [wrap(str(_describe(log)), columns)]
    for name in ("loss", "dev_loss"):
        if name in log.scalars and len(log.scalars[name]) > 1:
            parts.append(f"{name}\n{draw_curve(log.scalars[name], columns=columns)}")
    parts += [_list_scores(log, columns), _draw_heads(log, columns), _draw_alarms(log, columns)]
    return "\n\n".join(filter(None, (*parts, wrap(_draw_end(log), columns))))


def _describe(log: RunLog) -> Message:
    about = log.environment
    code = "render.runs.head" if about else "render.runs.head_without_environment"
    size, device = about.get("parameters", 0), about.get("device", "?")
    state, step = name_state(log), log.last_step
    return message(code, name=log.name, state=state, step=step, parameters=size, device=device)


def draw_curve(curve: Curve, *, columns: int = 80, height: int = HEIGHT) -> str:
    """Values over steps in dots, two by four a character; each column of dots is the mean of its steps."""
    known = np.isfinite(curve.values)
    if not known.any():
        return f"  {message('render.runs.no_value')}"
    steps, values = curve.steps[known], curve.values[known]
    width = max(columns - _MARGIN - 2, 8)
    level = _pool(steps, values, 2 * width)  # (dot column,), NaN where no step falls
    low, high = float(np.nanmin(level)), float(np.nanmax(level))
    span = high - low or 1.0
    dots = np.zeros((4 * height, 2 * width), dtype=bool)
    where = np.flatnonzero(np.isfinite(level))
    filled = np.interp(np.arange(where[0], where[-1] + 1), where, level[where])  # straight lines over gaps
    rows = np.rint((high - filled) / span * (4 * height - 1)).astype(int)
    for place, (row, before) in enumerate(zip(rows, [rows[0], *rows[:-1]], strict=True), int(where[0])):
        dots[min(row, before) : max(row, before) + 1, place] = True
    cells = (dots.reshape(height, 4, width, 2) * _DOTS[:, None, :]).sum((1, 3))  # (line, character)
    labels = {0: high, height // 2: high - span * (height // 2) / (height - 1), height - 1: low}
    lines = [
        (f"{labels[line]:>{_MARGIN - 1}.4g} " if line in labels else " " * _MARGIN)
        + "┤"
        + "".join(chr(0x2800 + int(cell)) if cell else " " for cell in row).rstrip()
        for line, row in enumerate(cells)
    ]
    first, last = str(int(steps[0])), str(int(steps[-1]))
    lines.append(" " * (_MARGIN + 1) + first + last.rjust(max(width - len(first), 1)))
    return "\n".join(lines)


def draw_spark(shares: NDArray[np.float64], width: int) -> str:
    """A curve from 0 to 1 in one line of bars; a gap where nothing is known."""
    level = _pool(np.arange(len(shares)), shares, min(width, len(shares)))
    places = np.clip(level * len(_BARS), 0, len(_BARS) - 1)
    return "".join(" " if math.isnan(place) else _BARS[int(place)] for place in places)


def find_best(run: RunOverview) -> tuple[str, float] | None:
    """The score that decides which checkpoint is best; by default the lowest held-out loss."""
    if run.score_name is not None and run.score is not None:
        return f"dev_{run.score_name}", run.score
    return None if run.best_dev_loss is None else ("dev_loss", run.best_dev_loss)


def _pool(steps: NDArray[np.int64], values: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Mean values of `bins` equal stretches of steps; NaN where there is none."""
    reach = max(int(steps[-1]) - int(steps[0]), 1)
    known = np.isfinite(values)
    place = np.minimum((steps[known] - steps[0]) * bins // (reach + 1), bins - 1)
    counts = np.bincount(place, minlength=bins)
    sums = np.bincount(place, weights=values[known], minlength=bins)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _list_scores(log: RunLog, columns: int) -> str:
    """Every score of held-out text: now, and its range over the run."""
    names = [name for name in log.scalars if name.startswith(("dev_", "averaged_"))]
    lines = []
    for name in names:
        known = log.scalars[name].values[np.isfinite(log.scalars[name].values)]
        if len(known):
            now, lowest, highest = float(known[-1]), float(known.min()), float(known.max())
            line = message("render.runs.score", name=name, now=now, lowest=lowest, highest=highest)
            lines.append(wrap(str(line), columns, hanging=2))
    return "\n".join(lines)


def _draw_heads(log: RunLog, columns: int) -> str:
    """How evenly the heads of each map look, over time: from single tokens to everywhere."""
    spreads = {str(place): mean for place, (_, mean) in mean_spread(log).items()}
    if not spreads:
        return ""
    width = columns - max(map(measure, spreads)) - 18
    rows = []
    for name, mean in spreads.items():
        now = f"  {message('render.runs.now', value=float(mean[-1]))}" if math.isfinite(mean[-1]) else ""
        rows.append((name, draw_spark(mean, max(width, 8)) + now))
    about = wrap(str(message("render.runs.heads")), columns)
    return f"{about}\n{draw_table(rows, columns=columns, header=False)}"


def mean_spread(log: RunLog) -> dict[Place, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """For each map that was watched, its steps and how evenly its heads look: the mean share of entropy."""
    found = {}
    for place, history in log.heads.items():
        if SPREAD in history.statistics:
            shares = history.statistics[SPREAD]  # (record, head)
            found[place] = history.steps, np.ma.masked_invalid(shares).mean(1).filled(np.nan)
    return found


def _draw_alarms(log: RunLog, columns: int) -> str:
    alarms = log.alarms
    if not alarms:
        return ""
    code = "render.runs.last_alarms" if len(alarms) > ALARMS else "render.runs.alarms"
    lines = [message(code, count=len(alarms), shown=ALARMS)]
    lines += [_describe_alarm(alarm) for alarm in alarms[-ALARMS:]]
    return "\n".join(
        wrap(str(line), columns, indent=2 if number else 0, hanging=2) for number, line in enumerate(lines)
    )


def _describe_alarm(alarm: Alarm) -> Message:
    topic = name_term(alarm.topic)
    if alarm.passed_at is None:
        return message("render.runs.alarm", step=alarm.first_step, topic=topic, text=alarm)
    first, last = alarm.first_step, alarm.last_step
    return message("render.runs.passed_alarm", first=first, last=last, topic=topic, text=alarm)


def _draw_end(log: RunLog) -> str:
    ends = [event.as_message() for event in log.events if event.kind in ("finished", "stopped", "failed")]
    end = str(ends[-1]) if ends and log.state not in ("running", "killed") else ""
    damage = str(message("render.runs.damaged", count=log.damaged)) if log.damaged else ""
    return "\n".join(filter(None, (end, damage)))
