"""Two columns of tokens, joined by lines as dark as the weight is large; a colour for each head.

In:   part, layer, one head or several.
Out:  vector lines; weights below one percent are left out, and the caption says how much that is.
"""

import numpy as np

from glassformer.errors import InputError
from glassformer.render.figures.figure import Sheet
from glassformer.render.figures.parts import name_tokens, write_caption, write_title
from glassformer.render.figures.style import head_colour
from glassformer.render.terminal.heatmap import choose_head, name_rows

LONGEST = 128  # tokens on a side
WEAKEST = 0.01


def draw(sheet: Sheet) -> None:
    """See the module."""
    from matplotlib.collections import LineCollection

    choice = sheet.choice
    first = choice.heads[0] if choice.heads else None
    attention_map, best = choose_head(sheet.recording, part=choice.part, layer=choice.layer, head=first)
    heads = [attention_map.require_head(head) for head in choice.heads or (best,)]
    _, queries, keys = attention_map.shape
    if max(queries, keys) > LONGEST:
        raise InputError(
            f"The map has {queries} × {keys} tokens. Wanted at most {LONGEST} on a side for lines. "
            "Choose the view heatmap."
        )
    rows = name_tokens(name_rows(sheet.recording, attention_map))
    columns = name_tokens(attention_map.key.texts)
    weights = np.stack([attention_map.weights(head) for head in heads])  # (head, query, key)
    shown = weights >= WEAKEST
    left_out = float(weights[~shown].sum() / max(float(weights.sum()), 1e-12))
    sheet.caption = (
        f"Opacity is the weight; weights under {WEAKEST:g} are left out, {100 * left_out:.1f} % of all. "
        f"Evidence: {sheet.recording.evidence}."
    )
    sheet.use_letters(*rows, *columns)
    axes = sheet.canvas.add_subplot()
    sheet.set_size(max(queries, keys) * 0.14 + 0.9)
    for head, matrix, visible in zip(heads, weights, shown, strict=True):
        places = np.argwhere(visible)
        segments = [((0.0, query), (1.0, key)) for query, key in places]
        strength = np.clip(matrix[visible], 0, 1)
        colours = [(*head_colour(head), float(opacity)) for opacity in strength]
        lines = LineCollection(
            segments, colors=colours, linewidths=1.1, label=f"head {head}", gid=f"head-{head}"
        )
        axes.add_collection(lines)
    for names, x, side in ((rows, -0.03, "right"), (columns, 1.03, "left")):
        for place, name in enumerate(names):
            axes.text(x, place, name, ha=side, va="center", fontsize=6)
    axes.set_xlim(-0.6, 1.6)
    axes.set_ylim(max(queries, keys) - 0.4, -1.6)
    axes.text(-0.03, -1.1, "query: looks", ha="right", color="0.4", fontsize=6)
    axes.text(1.03, -1.1, "key: is looked at", ha="left", color="0.4", fontsize=6)
    axes.set_axis_off()
    if len(heads) > 1:
        from matplotlib.lines import Line2D

        keys_of = [Line2D([], [], color=head_colour(head), label=f"head {head}") for head in heads]
        sheet.canvas.legend(handles=keys_of, loc="outside upper right", ncols=min(len(heads), 6))
    named = ", ".join(str(head) for head in heads)
    write_title(
        sheet, axes, f"{sheet.recording.model}: {attention_map.name}, head{'s' * (len(heads) > 1)} {named}"
    )
    write_caption(sheet, sheet.caption)
