"""What a saved notebook shows of a recording where no kernel runs: a picture and its numbers, in plain HTML.

In:   a Recording, and the selection of its widget.
Out:  HTML without scripts that needs nothing from elsewhere.
"""

from base64 import b64encode
from collections.abc import Mapping
from html import escape

from glassformer.errors import GlassformerError
from glassformer.messages import message
from glassformer.place import Place
from glassformer.recording import AttentionMap, Recording
from glassformer.render.choice import choose_head, label, label_rows
from glassformer.render.figures.figure import SCREEN, figure

LONGEST = 512  # tokens a side that are drawn
CELLS = 24  # tokens a side whose weights are listed


def write_static(recording: Recording, chosen: Mapping[str, str], identity: str, language: str) -> str:
    """The head that is selected as a heat map, its weights as a table, and what was recorded, as text."""
    parts = [f"<pre>{escape(repr(recording))}</pre>"]
    try:
        attention_map, head = _choose(recording, chosen)
        if max(attention_map.shape[1:]) <= LONGEST:
            drawn = figure(recording, place=attention_map.place, head=head, language=language)
            width, height = (round(inches * SCREEN) for inches in drawn.canvas.get_size_inches())
            data = b64encode(drawn.encode("png", 2 * SCREEN)).decode()
            size = f'width="{width}" height="{height}"'
            about = escape(drawn.caption, quote=True)
            parts.insert(0, f'<img src="data:image/png;base64,{data}" {size} alt="{about}">')
            parts.append(_write_table(recording, attention_map, head, language))
    except GlassformerError:  # nothing that can be drawn here: no attention, no font
        pass
    return f'<div id="{identity}">{"".join(parts)}</div>'


def _choose(recording: Recording, chosen: Mapping[str, str]) -> tuple[AttentionMap, int]:
    head = chosen.get("head", "")
    number = int(head) if head.isdecimal() else None
    try:
        place = Place.parse(chosen["place"]) if "place" in chosen else None
        return choose_head(recording, place=place, head=number)
    except GlassformerError:
        return choose_head(recording)


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
