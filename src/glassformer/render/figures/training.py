"""Curves of a training run: losses over steps, alarms marked.

In:   a RunLog; names of curves (loss and dev_loss, where none is chosen).
Out:  vector curves; where heads were watched and no curve was named, how widely they look, below.
"""

from typing import Any

import numpy as np

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.registry import suggestion
from glassformer.render.figures.figure import Sheet
from glassformer.render.figures.parts import write_texts
from glassformer.render.figures.style import head_colour
from glassformer.render.terminal.curves import mean_spread, name_state

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
    watched = {} if sheet.choice.names else mean_spread(log)
    alarms = sorted({alarm.first_step for alarm in log.alarms})
    about = [message("render.figures.run", run=log.name, state=name_state(log), steps=log.last_step)]
    about += [message("render.figures.alarms", count=len(log.alarms))] if alarms else []
    about += [message("render.figures.watched_heads")] if watched else []
    sheet.caption = " ".join(map(sheet.text, about))
    maps = [sheet.text(place.as_message()) for place in watched]
    step_label, spread = sheet.text("step"), sheet.text("spread")
    sheet.choose_fonts(log.name, *maps, step_label, spread)
    count = 2 if watched else 1
    sheet.set_size(1.9 * count + 0.4)
    panels = sheet.make_panels(count, 1, sharex=True)
    axes = panels[0]
    for step in alarms:
        axes.axvline(step, color="0.8", linewidth=0.5, zorder=0, gid="alarm")
    for place, (name, curve) in enumerate(curves):
        known = np.isfinite(curve.values)
        look: dict[str, Any] = {"color": head_colour(place), "label": name.replace("_", " "), "gid": name}
        axes.plot(curve.steps[known], curve.values[known], marker=_choose_marker(int(known.sum())), **look)
    axes.set_ylabel(", ".join(name.replace("_", " ") for name, _ in curves[:2]))
    axes.legend()
    if watched:
        heads = panels[1]
        for place, ((steps, mean), name) in enumerate(zip(watched.values(), maps, strict=True)):
            look = {"color": head_colour(place), "label": name, "gid": f"heads-{place}"}
            heads.plot(steps, mean, marker=_choose_marker(len(steps)), **look)
        heads.set_ylim(0, 1)
        heads.legend(ncols=2)
        heads.set_ylabel(spread)
    panels[-1].set_xlabel(step_label)
    write_texts(sheet, axes, log.name)


def _choose_marker(points: int) -> str | None:
    """A dot for a single point, which makes no line."""
    return "." if points == 1 else None
