"""One head as a matrix, or several beside each other: a row for each token that looks, a column for each key.

In:   place (or part and layer), a head or several; vmax, cmap, scale.
Out:  vector cells up to 96 tokens; above that an image on a square-root scale, one pixel a token up to
      1,024 tokens, and means of squares beyond. Several heads share one scale.
"""

import numpy as np
from numpy.typing import NDArray

from glassformer.messages import message
from glassformer.recording import AttentionMap, count_pixels, tile
from glassformer.render.choice import describe_rows, label_rows
from glassformer.render.figures import parts
from glassformer.render.figures.figure import Sheet

PIXELS = 1024  # a side
_PANEL = 1.5  # inches that a panel of several needs


def draw(sheet: Sheet) -> None:
    """See the module."""
    chosen = sheet.choose_heads()
    matrices = [read_weights(each, head) for each, head in chosen]
    level = max(found for _, found in matrices)
    masked = [
        np.ma.array(values, mask=np.broadcast_to(_masked(each, head, found), values.shape))
        for (each, head), (values, found) in zip(chosen, matrices, strict=True)
    ]
    signed = any(each.content == "signed" for each, _ in chosen)
    rows = [parts.name_tokens(label_rows(sheet.recording, each, sheet.choice.reading)) for each, _ in chosen]
    columns = [parts.name_tokens(each.key.texts) for each, _ in chosen]
    few = level == 0 and max(max(values.shape) for values in masked) <= parts.CELLS
    largest = max(float(np.abs(values).max()) for values, _ in matrices) or 1.0
    colours = sheet.choose_scale(largest, signed=signed, power=1.0 if few else 0.5)
    sheet.caption = _describe(sheet, [each for each, _ in chosen], level, colours)
    one_map = len({each.place for each, _ in chosen}) == 1
    title, names = _name(sheet, chosen, one_map=one_map)
    query = sheet.text(describe_rows(sheet.recording, chosen[0][0], sheet.choice.reading))
    key = sheet.text("key")
    labels = [name for each in (*rows, *columns) for name in parts.drawn_labels(each)]
    sheet.choose_fonts(*labels, *names, title, query, key)
    across = max(1, min(len(chosen), int(sheet.width / _PANEL)))
    down = -(-len(chosen) // across)
    sheet.set_size(parts.TALLEST)  # what is not needed is taken away again
    panels = sheet.make_panels(down, across)
    for place, axes in enumerate(panels):
        if place >= len(chosen):
            axes.remove()
            continue
        picture = parts.draw_matrix(axes, masked[place], rows[place], columns[place], colours, vectors=few)
        parts.name_matrix(axes, key if place < across else "", query if place % across == 0 else "")
        if len(chosen) > 1:
            sheet.headings.append((axes, axes.set_title(names[place])))
            if one_map and place >= across:
                axes.xaxis.set_tick_params(labeltop=False)
            if one_map and place % across:
                axes.yaxis.set_tick_params(labelleft=False)
    used = panels[: len(chosen)]
    kind = "value" if signed else "mean_weight" if level else "weight"
    parts.add_scale(sheet, used if len(used) > 1 else used[0], picture, colours, kind)
    parts.write_texts(sheet, used[0], title)


def _name(sheet: Sheet, chosen: list[tuple[AttentionMap, int]], *, one_map: bool) -> tuple[str, list[str]]:
    """The title of the figure, and one for each panel."""
    heads = [head for _, head in chosen]
    if one_map:
        numbers = [message("render.figures.head_number", head=head) for head in heads]
        return parts.name_heads(sheet, chosen[0][0], heads), [sheet.text(each) for each in numbers]
    title = message("render.figures.chosen_heads", model=sheet.recording.model)
    places = [message("render.head_of_map", place=each.place, head=head) for each, head in chosen]
    return sheet.text(title), [sheet.text(each) for each in places]


def read_weights(attention_map: AttentionMap, head: int) -> tuple[NDArray[np.float32], int]:
    """The whole head, one pixel for 2**level tokens so that it fits."""
    _, queries, keys = attention_map.shape
    longest = max(queries, keys)
    level = next(level for level in range(64) if count_pixels(longest, level) <= PIXELS)
    if level == 0:
        return attention_map.weights(head), 0
    return tile(attention_map, head, level, 0, 0, size=PIXELS), level


def _masked(attention_map: AttentionMap, head: int, level: int) -> NDArray[np.bool_]:
    """Masked cells, left empty: read from the scores where they were recorded, never guessed."""
    if level == 0 and attention_map.has_scores:
        return np.isneginf(attention_map.scores(head))
    return np.zeros((), dtype=bool)


def _describe(sheet: Sheet, maps: list[AttentionMap], level: int, colours: parts.Colours) -> str:
    sums = all(
        each.relaxed is None and each.sink_weights is None and each.content == "weights" for each in maps
    )
    pixels = sheet.text(message("render.figures.pixels", side=2**level)) if level else ""
    rows = sheet.text("rows_sum_to_one") if sums and not level else ""
    about = sheet.text(colours.about)
    return " ".join(filter(None, (pixels, about, rows, parts.describe_evidence(sheet))))
