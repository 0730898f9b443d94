"""What a saved notebook shows where no kernel runs: a picture and its numbers, in plain HTML.

In:   a Recording and the selection of its widget, or a RunLog.
Out:  HTML without scripts that needs nothing from elsewhere.
"""

from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from html import escape

from glassformer.atlases import Atlas
from glassformer.errors import GlassformerError
from glassformer.messages import message
from glassformer.place import Place
from glassformer.recording import AttentionMap, Recording
from glassformer.render.choice import choose_head, label, label_rows
from glassformer.render.figures.figure import SCREEN, Figure, figure
from glassformer.render.terminal.curves import draw_run
from glassformer.runlog import RunLog

LONGEST = 512  # tokens a side that are drawn
CELLS = 24  # tokens a side whose weights are listed


def write_static(recording: Recording, chosen: Mapping[str, str], identity: str, language: str) -> str:
    """The head that is selected, its weights as a table, and what was recorded, as text."""
    parts = [f"<pre>{escape(repr(recording))}</pre>"]
    try:
        attention_map, head = _choose(recording, chosen)
        if max(attention_map.shape[1:]) <= LONGEST:
            parts.insert(0, _write_picture(_draw(recording, chosen, attention_map, head, language)))
            parts.append(_write_table(recording, attention_map, head, language))
    except GlassformerError:  # nothing that can be drawn here: no attention, no font
        pass
    return f'<div id="{identity}">{"".join(parts)}</div>'


def write_static_run(run: RunLog, identity: str, language: str) -> str:
    """The curves of a run, and the last value of each as a table."""
    parts = [f"<pre>{escape(draw_run(run, columns=100))}</pre>"]
    with suppress(GlassformerError):  # no curve yet, no font
        parts.insert(0, _write_picture(figure(run, language=language, width="page")))
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{curve.steps[-1]}</td><td>{curve.values[-1]:.6g}</td></tr>"
        for name, curve in run.scalars.items()
        if len(curve)
    )
    about = message("render.static_run", run=run.name).text(language)
    parts.append(f"<details><summary>{escape(about)}</summary><table><tbody>{rows}</tbody></table></details>")
    return f'<div id="{identity}">{"".join(parts)}</div>'


def write_static_atlas(atlas: Atlas, identity: str, language: str) -> str:
    """All heads by type, and what was found in words."""
    parts = [f"<pre>{escape(str(atlas))}</pre>"]
    with suppress(GlassformerError):  # no font
        parts.insert(0, _write_picture(figure(atlas, language=language, width="page")))
    return f'<div id="{identity}">{"".join(parts)}</div>'


def _write_picture(drawn: Figure) -> str:
    width, height = (round(inches * SCREEN) for inches in drawn.canvas.get_size_inches())
    data = b64encode(drawn.encode("png", 2 * SCREEN)).decode()
    about = escape(drawn.caption, quote=True)
    return f'<img src="data:image/png;base64,{data}" width="{width}" height="{height}" alt="{about}">'


def _choose(recording: Recording, chosen: Mapping[str, str]) -> tuple[AttentionMap, int]:
    head = chosen.get("head", "")
    number = int(head) if head.isdecimal() else None
    try:
        place = Place.parse(chosen["place"]) if "place" in chosen else None
        return choose_head(recording, place=place, head=number)
    except GlassformerError:
        return choose_head(recording)


def _draw(
    recording: Recording, chosen: Mapping[str, str], attention_map: AttentionMap, head: int, language: str
) -> Figure:
    """On the picture, or under the sound, where that view is open; else a heat map."""
    view = chosen.get("view")
    if view in ("picture", "sound") and getattr(attention_map.key, view) is not None:
        with suppress(GlassformerError):  # more words than a figure has panels
            return figure(recording, view, place=attention_map.place, head=head, language=language)
    return figure(recording, place=attention_map.place, head=head, language=language)


def _write_table(recording: Recording, attention_map: AttentionMap, head: int, language: str) -> str:
    """The weights of the first tokens; values that are exact to three digits."""
    rows = label_rows(recording, attention_map)[:CELLS]
    columns = [label(text) for text in attention_map.key.texts[:CELLS]]
    weights = attention_map.weights(head, queries=slice(0, len(rows)), keys=slice(0, len(columns)))
    title = message("render.head_of_map", place=attention_map.place, head=head).text(language)
    top = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{value:.3f}</td>' for value in values)}</tr>"
        for name, values in zip(rows, weights, strict=True)
    )
    about = message("render.static_table", head=title, rows=len(rows), columns=len(columns)).text(language)
    table = f"<table><thead><tr><th></th>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f"<details><summary>{escape(about)}</summary>{table}</details>"
