"""Attention in a terminal: heat maps made of shaded blocks, a first look that needs no browser.

In:   a Recording.
Out:  text; cells are shaded, or painted where `colour` is asked for. Wide (Chinese, Japanese, Korean)
      characters are counted as two.
"""

import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.recording import AttentionMap, Recording
from glassformer.render.terminal.colours import paint, paint_legend

LEGEND = "· under 5 %   ░ under 20 %   ▒ under 40 %   ▓ under 70 %   █ 70 % and more"
_BOUNDS = (0.0, 0.05, 0.2, 0.4, 0.7)
_SHADES = " ·░▒▓█"  # one more than bounds: exactly nothing is blank
_CELL = 3  # characters per column of a heat map
_MARGIN = 18  # characters a query's name may take
NARROWEST = 16  # columns that anything can be drawn in


def draw_recording(
    recording: Recording,
    *,
    part: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    columns: int = 80,
    colour: bool = False,
) -> str:
    """One screen: how focused each head is, one of them drawn, what comes next, and the evidence."""
    if not recording.maps:
        return f"{recording.model} computes no attention: there is nothing to draw."
    attention_map, chosen = choose_head(recording, part=part, layer=layer, head=head)
    rows = name_rows(recording, attention_map)
    picture = draw_map(attention_map, chosen, rows=rows, columns=columns, colour=colour)
    evidence = wrap(f"Evidence:  {recording.evidence}", columns, hanging=11)
    focus = draw_focus(recording, columns=columns)
    output = wrap(draw_output(recording), columns, hanging=2)
    return "\n\n".join(filter(None, (focus, picture, output, evidence)))


def draw_focus(recording: Recording, *, columns: int = 80) -> str:
    """A table (map, head): over how many keys a head spreads its weight, exp of its mean entropy.

    Heads that do not fit beside the others follow below them.
    """
    maps = [each for each in recording.maps if each.step is None]
    names = [f"{name_part(each)} {each.layer}" for each in maps]
    heads = max(each.heads for each in maps)
    margin = max(measure(name) for name in names) + 2
    about = "How many tokens a head looks at (exp of its mean entropy), by layer and head"
    lines = [wrap(about, columns)]
    spreads = [np.exp(_mean_rows(each, each.statistics.entropy)) for each in maps]  # each (head,)
    cells = [["–" if np.isnan(keys) else f"{keys:.1f}" for keys in spread] for spread in spreads]
    room = max(columns - margin, 0)
    width = max(len(cell) for row in cells for cell in row) + 1
    width = 6 if width < 6 and 6 * heads <= room else width
    beside = max(room // width, 1)
    for first in range(0, heads, beside):
        numbers = range(first, min(first + beside, heads))
        lines.append(" " * margin + "".join(f"{head:{width}d}" for head in numbers))
        for name, row in zip(names, cells, strict=True):
            shown = row[first : first + beside]
            if shown:
                lines.append(fit(name, margin) + "".join(f"{cell:>{width}}" for cell in shown))
    return "\n".join(lines)


def draw_map(
    attention_map: AttentionMap,
    head: int,
    *,
    rows: Sequence[str] | None = None,
    columns: int = 80,
    colour: bool = False,
) -> str:
    """One head: a row for each token that looks, a column for each token that is looked at."""
    title = wrap(f"{attention_map.name}, head {attention_map.require_head(head)}", columns)
    if not attention_map.has_weights:
        return wrap(f"{title}: only its statistics were recorded.", columns)
    queries, keys = rows or attention_map.query.texts, attention_map.key.texts
    margin = min(_MARGIN, max(columns, NARROWEST) // 3)
    shown = max((columns - margin) // _CELL, 1)
    weights = attention_map.weights(head, slice(0, min(shown, len(queries))), slice(0, min(shown, len(keys))))
    picture = draw_weights(queries[:shown], keys[:shown], weights, colour=colour, most=margin)
    lines = [title, picture, paint_legend() if colour else wrap(LEGEND, columns, parts="   ")]
    if max(len(queries), len(keys)) > shown:
        lines.append(wrap(f"The first {shown} tokens of {len(queries)} × {len(keys)}.", columns))
    return "\n".join(lines)


def draw_weights(
    queries: Sequence[str],
    keys: Sequence[str],
    weights: NDArray[np.floating],
    *,
    colour: bool = False,
    most: int = _MARGIN,
) -> str:
    """Weights (query, key) as blocks under the first letters of each key; names take `most` characters."""
    margin = min(max((measure(label(query)) for query in queries), default=0) + 1, most)
    lines = [" " * margin + "".join(fit(fit(label(key), _CELL - 1), _CELL) for key in keys)]
    for query, row in zip(queries, weights, strict=True):
        name = fit(fit(label(query), margin - 1), margin)
        cells = (paint(float(weight)) if colour else shade(float(weight)) * _CELL for weight in row)
        lines.append(name + "".join(cells))
    return "\n".join(line.rstrip() for line in lines)


def draw_output(recording: Recording) -> str:
    """What the model finds most likely: a class, or the word after the last; empty where neither is known."""
    output = recording.output
    if output is None or (output.kind == "tokens" and output.stack != "decoder"):
        return ""
    likely = list(zip(output.texts(-1), output.probabilities[-1].tolist(), strict=True))[:5]
    named = [(text, share) for text, share in likely if share >= 0.005] or likely[:1]
    names = [f"{label(text)} {100 * share:.0f} %" for text, share in named]
    return f"{'Next word' if output.kind == 'tokens' else 'Class'}:  " + "   ".join(names)


def choose_head(
    recording: Recording, *, part: str | None = None, layer: int | None = None, head: int | None = None
) -> tuple[AttentionMap, int]:
    """The head that was asked for; of those left open, the one with least entropy for the keys it may see.

    `part` is encoder, decoder or cross; where nothing is said, a translator's cross-attention goes first.
    """
    parts = sorted({name_part(each) for each in recording.maps})
    wanted = "cross" if part is None and "cross" in parts else part
    maps = [
        each
        for each in recording.maps
        if (wanted is None or name_part(each) == wanted) and (layer is None or each.layer == layer)
    ]
    if not maps:
        if wanted not in (None, *parts):
            raise InputError(f"{recording.model} has no {wanted} attention; choose {' or '.join(parts)}.")
        layers = sorted({each.layer for each in recording.maps if wanted in (None, name_part(each))})
        others = " or ".join(name for name in parts if name != wanted)
        raise InputError(
            f"There is no layer {layer} of {wanted or recording.model}; choose a layer from {layers[0]} to "
            f"{layers[-1]}{f', or another part: {others}' if wanted and others else ''}."
        )
    heads = [range(each.heads) if head is None else (each.require_head(head),) for each in maps]
    places = [(place, number) for place, numbers in enumerate(heads) for number in numbers]
    spreads = [_spread(each) for each in maps]
    place, number = min(places, key=lambda pair: float(spreads[pair[0]][pair[1]]))
    return maps[place], number


def name_part(attention_map: AttentionMap) -> str:
    """Encoder, decoder or cross: what attention happens in this map."""
    return "cross" if attention_map.kind == "cross" else attention_map.stack


def name_rows(recording: Recording, attention_map: AttentionMap) -> list[str]:
    """Names for the rows of a map: in cross-attention a word that was read, and the one it led to."""
    read = [label(text) for text in attention_map.query.texts]
    if attention_map.kind != "cross" or not read:
        return read
    last = label(recording.output.texts(-1)[0]) if recording.output else "…"
    return [f"{word} → {following}" for word, following in zip(read, [*read[1:], last], strict=True)]


def label(text: str) -> str:
    """A token without the spaces around it; one that is nothing else, and what cannot be printed, as ␣."""
    stripped = text.strip(" ") or "␣"
    return "".join(character if character.isprintable() else "␣" for character in stripped)


def measure(text: str) -> int:
    """How many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    marks = sum(unicodedata.combining(character) > 0 for character in text)
    return len(text) + wide - marks


def fit(text: str, width: int) -> str:
    """Exactly `width` columns: cut, then filled with spaces."""
    while measure(text) > width:
        text = text[:-1]
    return text + " " * (width - measure(text))


def wrap(text: str, columns: int, *, hanging: int = 0, indent: int = 0, parts: str = " ") -> str:
    """A long line as several, the later ones set in by `hanging`; cut between parts, or where it must be."""
    columns = max(columns, NARROWEST)
    margin = " " * min(indent, columns // 4)
    if measure(margin + text) <= columns:
        return margin + text
    later = margin + " " * min(hanging, columns // 4)
    lines, start = [margin], margin
    for part in text.split(parts):
        if lines[-1] != start and measure(lines[-1] + parts + part) <= columns:
            lines[-1] += parts + part
        elif part:
            first, *others = chop(part, columns - len(later))
            if lines[-1] == start:
                lines[-1] += first
            else:
                start = later
                lines.append(later + first)
            lines += [later + other for other in others]
    return "\n".join(lines)


def chop(text: str, width: int) -> list[str]:
    """Pieces no wider than this: for what has no place to be cut at."""
    pieces = [text]
    while measure(pieces[-1]) > max(width, 2):
        count = len(fit(pieces[-1], max(width, 2)).rstrip())
        pieces[-1:] = [pieces[-1][:count], pieces[-1][count:]]
    return pieces


def shade(weight: float) -> str:
    """The block for one weight; see LEGEND."""
    return _SHADES[int(np.searchsorted(_BOUNDS, weight, side="left" if weight <= 0 else "right"))]


def _spread(attention_map: AttentionMap) -> NDArray[np.float64]:
    """(head,) mean entropy as a share of the largest possible."""
    largest = np.log(np.maximum(attention_map.statistics.allowed, 2))  # (head, query)
    shares = _mean_rows(attention_map, attention_map.statistics.entropy / largest)
    return np.where(np.isnan(shares), np.inf, shares)  # a head without a row is the last choice


def _mean_rows(attention_map: AttentionMap, values: NDArray[np.floating]) -> NDArray[np.float64]:
    """(head,) the mean over real rows that look at any key; NaN where there is none (a silenced head)."""
    statistics = attention_map.statistics
    counted = statistics.rows & (statistics.allowed > 0) & (statistics.peak > 0)  # (head, query)
    total = np.where(counted, values, 0.0).sum(axis=1, dtype=np.float64)
    return np.where(counted.any(axis=1), total / np.maximum(counted.sum(axis=1), 1), np.nan)
