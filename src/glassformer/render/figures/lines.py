"""Two columns of tokens, joined by lines as dark as the weight is large; a colour for each head.

In:   place (or part and layer), one head or several.
Out:  vector lines; weights below one percent are left out, and the caption says how much that is.
"""

import numpy as np

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.render.choice import describe_rows, label_rows
from glassformer.render.figures.figure import Sheet
from glassformer.render.figures.parts import describe_evidence, name_heads, name_tokens, write_texts
from glassformer.render.figures.style import head_colour

LONGEST = 128  # tokens on a side
WEAKEST = 0.01


def draw(sheet: Sheet) -> None:
    """See the module."""
    from matplotlib.collections import LineCollection

    choice = sheet.choice
    first = choice.heads[0] if choice.heads else None
    attention_map, best = sheet.choose_head(first)
    heads = [attention_map.require_head(head) for head in choice.heads or (best,)]
    if attention_map.content == "signed":
        raise InputError("render.figures.signed_lines", place=attention_map.place)
    _, queries, keys = attention_map.shape
    if max(queries, keys) > LONGEST:
        raise InputError("render.figures.too_long", queries=queries, keys=keys, most=LONGEST)
    rows = name_tokens(label_rows(sheet.recording, attention_map, choice.reading))
    columns = name_tokens(attention_map.key.texts)
    weights = np.stack([attention_map.weights(head) for head in heads])  # (head, query, key)
    shown = weights >= WEAKEST
    left_out = float(weights[~shown].sum() / max(float(weights.sum()), 1e-12))
    caption = message("render.figures.lines_caption", weakest=WEAKEST, share=100 * left_out)
    sheet.caption = f"{sheet.text(caption)} {describe_evidence(sheet)}"
    title = name_heads(sheet, attention_map, heads)
    query, key = sheet.text(describe_rows(sheet.recording, attention_map, choice.reading)), sheet.text("key")
    legend = {head: sheet.text(message("render.figures.head_number", head=head)) for head in heads}
    sheet.choose_fonts(*rows, *columns, title, query, key, *legend.values())
    axes = sheet.canvas.add_subplot()
    sheet.set_size(max(queries, keys) * 0.14 + 0.9)
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
            axes.text(x, number, name, ha=side, va="center", fontsize=6)
    axes.set(xlim=(-0.6, 1.6), ylim=(max(queries, keys) - 0.4, -1.6))
    axes.text(-0.03, -1.1, query, ha="right", color="0.4", fontsize=6)
    axes.text(1.03, -1.1, key, ha="left", color="0.4", fontsize=6)
    axes.set_axis_off()
    if len(heads) > 1:
        from matplotlib.lines import Line2D

        keys_of = [Line2D([], [], color=head_colour(head), label=legend[head]) for head in heads]
        sheet.canvas.legend(handles=keys_of, loc="outside upper right", ncols=min(len(heads), 6))
    write_texts(sheet, axes, title)
