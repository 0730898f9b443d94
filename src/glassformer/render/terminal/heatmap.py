"""Attention in a terminal: heat maps made of shaded blocks, a first look that needs no browser.

In:   a Recording.
Out:  text; cells are shaded, or coloured where `colour` is set.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glassformer.messages import get_language, message
from glassformer.place import Place, Reading
from glassformer.recording import AttentionMap, Recording
from glassformer.recording.axes import find_row_side
from glassformer.render.choice import (
    choose_head,
    describe_rows,
    label,
    label_part,
    label_rows,
    mean_over_rows,
)
from glassformer.render.terminal.colours import paint, paint_legend
from glassformer.render.terminal.tables import draw_mark, draw_table
from glassformer.render.terminal.text import NARROWEST, fit, measure, wrap

_BOUNDS = (0.0, 0.05, 0.2, 0.4, 0.7)
_SHADES = " ·░▒▓█"  # one more than bounds: exactly zero is blank
_CELL = 3  # characters per column of a heat map
_MARGIN = 18  # characters that the label of a row may take


def draw_recording(
    recording: Recording,
    *,
    place: Place | None = None,
    part: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    reading: Reading = "written",
    columns: int = 80,
    colour: bool = False,
) -> str:
    """One screen: how focused each head is, one of them drawn, what comes next, and the evidence.

    Rows of cross-attention are named by the word that is written, with `reading="entered"` by the one before.

    >>> print(gf.draw_recording(gf.record("zoo/bert", "The cat sleeps."), layer=2))
    How many tokens a head looks at...
    """
    if not recording.maps:
        return str(message("render.no_attention", model=recording.model))
    attention_map, chosen = choose_head(recording, place=place, part=part, layer=layer, head=head)
    rows = label_rows(recording, attention_map, reading)
    picture = draw_map(attention_map, chosen, rows=rows, columns=columns, colour=colour)
    if find_row_side(recording, attention_map) == "written":
        picture += "\n" + wrap(str(describe_rows(recording, attention_map, reading)), columns)
    label = message("render.evidence_label")
    evidence = wrap(f"{label}  {recording.evidence}", columns, hanging=measure(f"{label}  "))
    focus = draw_focus(recording, columns=columns, colour=colour)
    output = wrap(draw_output(recording), columns, hanging=2)
    return "\n\n".join(
        filter(None, (draw_mark(recording.evidence.mark, columns), focus, picture, output, evidence))
    )


def draw_focus(recording: Recording, *, columns: int = 80, colour: bool = False) -> str:
    """A table (map, head): over how many keys a head spreads its weight, exp of its mean entropy."""
    maps = [each for each in recording.maps if each.step is None]
    heads = max(each.heads for each in maps)
    rows = [("", *map(str, range(heads)))]
    for each in maps:
        spread = np.exp(mean_over_rows(each, each.statistics.entropy))  # (head,)
        cells = ["–" if np.isnan(keys) else f"{keys:.1f}" for keys in spread]
        rows.append((label_part(each.place, get_language()), *cells, *[""] * (heads - len(cells))))
    table = draw_table(rows, right=set(range(1, heads + 1)), columns=columns, colour=colour)
    return f"{wrap(str(message('render.focus')), columns)}\n{table}"


def draw_map(
    attention_map: AttentionMap,
    head: int,
    *,
    rows: Sequence[str] | None = None,
    columns: int = 80,
    colour: bool = False,
) -> str:
    """One head: a row for each token that looks, a column for each token that is looked at."""
    number = attention_map.require_head(head)
    title = message("render.head_of_map", place=attention_map.place, head=number)
    if attention_map.content == "signed":
        return wrap(str(message("render.signed", head=title)), columns)
    if not attention_map.has_weights:
        return wrap(str(message("render.only_statistics", head=title)), columns)
    queries, keys = rows or attention_map.query.texts, attention_map.key.texts
    margin = min(_MARGIN, max(columns, NARROWEST) // 3)
    shown = max((columns - margin) // _CELL, 1)
    weights = attention_map.weights(head, slice(0, min(shown, len(queries))), slice(0, min(shown, len(keys))))
    picture = draw_weights(queries[:shown], keys[:shown], weights, colour=colour, most=margin)
    legend = paint_legend() if colour else wrap(describe_shades(), columns, separator="   ")
    lines = [wrap(str(title), columns), picture, legend]
    if max(len(queries), len(keys)) > shown:
        cut = message("render.first_tokens", shown=shown, queries=len(queries), keys=len(keys))
        lines.append(wrap(str(cut), columns))
    return "\n".join(lines)


def draw_weights(
    queries: Sequence[str],
    keys: Sequence[str],
    weights: NDArray[np.floating],
    *,
    colour: bool = False,
    most: int = _MARGIN,
) -> str:
    """Weights (query, key) as blocks under the first letters of each key; labels take `most` characters."""
    margin = min(max((measure(label(query)) for query in queries), default=0) + 1, most)
    lines = [" " * margin + "".join(fit(fit(label(key), _CELL - 1), _CELL) for key in keys)]
    for query, row in zip(queries, weights, strict=True):
        name = fit(fit(label(query), margin - 1), margin)
        cells = (paint(float(weight)) if colour else shade(float(weight)) * _CELL for weight in row)
        lines.append(name + "".join(cells))
    return "\n".join(line.rstrip() for line in lines)


def draw_output(recording: Recording) -> str:
    """What the model finds most probable: a class, or the next token; empty where neither is known."""
    output = recording.output
    if output is None or (output.kind == "tokens" and output.stack != "decoder"):
        return ""
    likely = list(zip(output.texts(-1), output.probabilities[-1].tolist(), strict=True))[:5]
    named = [(text, share) for text, share in likely if share >= 0.005] or likely[:1]
    names = [f"{label(text)} {100 * share:.0f} %" for text, share in named]
    code = "render.next_token" if output.kind == "tokens" else "render.class"
    return f"{message(code)}  " + "   ".join(names)


def shade(weight: float) -> str:
    """The block for one weight; see `describe_shades`."""
    return _SHADES[int(np.searchsorted(_BOUNDS, weight, side="left" if weight <= 0 else "right"))]


def describe_shades() -> str:
    """The legend of the blocks."""
    texts = [message("render.under", bound=100 * bound) for bound in _BOUNDS[1:]]
    texts.append(message("render.at_least", bound=100 * _BOUNDS[-1]))
    return "   ".join(f"{block} {text}" for block, text in zip(_SHADES[1:], texts, strict=True))
