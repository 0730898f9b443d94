"""Curves of a training run: losses over steps, alarms marked.

In:   a RunLog; names of curves (loss and dev_loss, where none is chosen).
Out:  vector curves; where heads were watched and no curve was named, how widely they look, below.
"""

from typing import TYPE_CHECKING

import numpy as np

from glassformer.errors import InputError
from glassformer.messages import literal, message
from glassformer.place import Place
from glassformer.registry import suggestion
from glassformer.render.figures.figure import Sheet
from glassformer.render.figures.parts import write_caption, write_title
from glassformer.render.figures.style import head_colour
from glassformer.render.terminal.curves import name_state
from glassformer.runlog import HeadHistory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USUAL = ("loss", "dev_loss")


def draw(sheet: Sheet) -> None:
    """See the module."""
    log, names = sheet.log, sheet.choice.names or USUAL
    for name in sheet.choice.names or ():
        if name not in log.scalars:
            near = suggestion(name, log.scalars)
            raise InputError("render.figures.unknown_curve", run=log.name, curve=name, suggestion=near)
    curves = [(name, log.scalars[name]) for name in names if name in log.scalars and len(log.scalars[name])]
    if not curves:
        raise InputError("render.figures.no_curve", run=log.name)
    watched = (
        []
        if sheet.choice.names
        else [
            (place, history) for place, history in log.heads.items() if "entropy_share" in history.statistics
        ]
    )
    alarms = sorted({alarm.step for alarm in log.alarms})
    about = [message("render.figures.run", run=log.name, state=name_state(log), steps=log.last_step)]
    about += [message("render.figures.alarms", count=len(log.alarms))] if alarms else []
    about += [message("render.figures.watched_heads")] if watched else []
    sheet.caption = " ".join(map(sheet.text, about))
    maps = [sheet.text(place.as_message()) for place, _ in watched]
    step_label, spread = (sheet.text(message(f"render.figures.{name}")) for name in ("step", "spread"))
    sheet.choose_fonts(log.name, *maps, step_label, spread)
    count = 2 if watched else 1
    grid = sheet.canvas.subplots(count, 1, sharex=True, squeeze=False)
    sheet.set_size(1.9 * count + 0.4)
    axes = grid[0, 0]
    for step in alarms:
        axes.axvline(step, color="0.8", linewidth=0.5, zorder=0, gid="alarm")
    for place, (name, curve) in enumerate(curves):
        known = np.isfinite(curve.values)
        axes.plot(
            curve.steps[known],
            curve.values[known],
            color=head_colour(place),
            label=name.replace("_", " "),
            gid=name,
        )
    axes.set_ylabel(", ".join(name.replace("_", " ") for name, _ in curves[:2]))
    axes.legend()
    if watched:
        _draw_heads(grid[1, 0], watched, maps)
        grid[1, 0].set_ylabel(spread)
    grid[-1, 0].set_xlabel(step_label)
    write_title(sheet, axes, literal(log.name))
    write_caption(sheet)


def _draw_heads(axes: "Axes", watched: list[tuple[Place, HeadHistory]], names: list[str]) -> None:
    for place, ((_, history), name) in enumerate(zip(watched, names, strict=True)):
        shares = history.statistics["entropy_share"]  # (record, head)
        known = np.isfinite(shares)
        counts = known.sum(1)
        mean = np.where(counts > 0, np.where(known, shares, 0).sum(1) / np.maximum(counts, 1), np.nan)
        axes.plot(history.steps, mean, color=head_colour(place), label=name, gid=f"heads-{place}")
    axes.set_ylim(0, 1)
    axes.legend(ncols=2)
