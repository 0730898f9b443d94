"""Two columns of tokens, joined by lines as dark as the weight is large; a colour for each head.

In:   place (or part and layer), one head or several.
Out:  vector lines; weights below one percent are left out, and the caption says how much that is.
"""

from typing import TYPE_CHECKING

import numpy as np

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.render.choice import describe_rows, label_rows
from glassformer.render.figures.figure import Sheet
from glassformer.render.figures.parts import describe_evidence, name_heads, name_tokens, write_texts
from glassformer.render.figures.style import head_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 128  # tokens on a side
WEAKEST = 0.01


def draw(sheet: Sheet) -> None:
    """See the module."""
    from matplotlib.collections import LineCollection

    chosen = sheet.choose_heads()
    attention_map, heads = chosen[0][0], [head for _, head in chosen]
    if any(each.place != attention_map.place for each, _ in chosen):
        raise InputError("render.figures.one_map", places=[each.place.address for each, _ in chosen])
    if attention_map.content == "signed":
        raise InputError("render.figures.signed_lines", place=attention_map.place)
    _, queries, keys = attention_map.shape
    if max(queries, keys) > LONGEST:
        raise InputError("render.figures.too_long", queries=queries, keys=keys, most=LONGEST)
    rows = name_tokens(label_rows(sheet.recording, attention_map, sheet.choice.reading))
    columns = name_tokens(attention_map.key.texts)
    weights = np.stack([attention_map.weights(head) for head in heads])  # (head, query, key)
    shown = weights >= WEAKEST
    left_out = float(weights[~shown].sum() / max(float(weights.sum()), 1e-12))
    caption = message("render.figures.lines_caption", weakest=WEAKEST, share=100 * left_out)
    sheet.caption = f"{sheet.text(caption)} {describe_evidence(sheet)}"
    title = name_heads(sheet, attention_map, heads)
    query, key = (
        sheet.text(describe_rows(sheet.recording, attention_map, sheet.choice.reading)),
        sheet.text("key"),
    )
    legend = {head: sheet.text(message("render.figures.head_number", head=head)) for head in heads}
    sheet.choose_fonts(*rows, *columns, title, query, key, *legend.values())
    sheet.set_size(max(queries, keys) * 0.14 + 1.5)
    [axes] = sheet.make_panels(1, 1)
    for head, matrix, visible in zip(heads, weights, shown, strict=True):
        places = np.argwhere(visible)
        segments = [((0.0, query), (1.0, key)) for query, key in places]
        strength = np.clip(matrix[visible], 0, 1)
        colours = [(*head_colour(head), float(opacity)) for opacity in strength]
        lines = LineCollection(
            segments, colors=colours, linewidths=1.1, label=legend[head], gid=f"head-{head}"
        )
        axes.add_collection(lines)
    for names, x, side in ((rows, -0.03, "right"), (columns, 1.03, "left")):
        for number, name in enumerate(names):
            axes.text(x, number, name, ha=side, va="center", fontsize="small")
    axes.set(xlim=(-0.6, 1.6), ylim=(max(queries, keys) - 0.4, -1.6))
    axes.text(-0.6, -1.1, query, ha="left", color="0.4", fontsize="small")
    axes.text(1.6, -1.1, key, ha="right", color="0.4", fontsize="small")
    axes.set_axis_off()
    if len(heads) > 1:
        _add_legend(sheet, axes, legend)
    write_texts(sheet, axes, title)


def _add_legend(sheet: Sheet, axes: "Axes", names: dict[int, str]) -> None:
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], color=head_colour(head), label=name) for head, name in names.items()]
    if sheet.owns_canvas:
        sheet.canvas.legend(handles=lines, loc="outside upper right", ncols=min(len(lines), 6))
    else:
        axes.legend(handles=lines)
