"""All heads at a glance: one small picture each, layers downwards, heads across.

In:   part (all, where none is chosen).
Out:  an image; each small picture is its thumbnail, the largest weight of each square of tokens.
"""

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.recording import AttentionMap
from glassformer.render.figures.figure import Sheet
from glassformer.render.figures.parts import add_scale, colour_table, write_caption, write_title
from glassformer.render.terminal.heatmap import name_part

CELL = 64  # pixels a side
GAP = 6


def draw(sheet: Sheet) -> None:
    """See the module."""
    maps = _choose(sheet)
    heads = max(each.heads for each in maps)
    mosaic = build_mosaic(maps, heads)
    sheet.caption = (
        "Colours are square roots of weights; each pixel is the largest weight of its square of tokens. "
        f"Evidence: {sheet.recording.evidence}."
    )
    names = [f"{name_part(each)} {each.layer}" for each in maps]
    sheet.use_letters(sheet.recording.model)
    axes = sheet.canvas.add_subplot()
    sheet.set_size(min((sheet.width - 1.3) * len(maps) / heads + 0.9, 10.0))
    picture = axes.imshow(
        mosaic, cmap=colour_table(), vmin=0, vmax=1, interpolation="none", aspect="equal", gid="heads"
    )
    centres = CELL / 2 - 0.5 + (CELL + GAP) * np.arange(max(heads, len(maps)))
    axes.set_xticks(centres[:heads], [str(head) for head in range(heads)])
    axes.set_yticks(centres[: len(maps)], names)
    axes.tick_params(length=0)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("head")
    axes.set_ylabel("layer")
    axes.spines[["left", "bottom"]].set_visible(False)
    bar = add_scale(sheet, axes, picture, "weight")
    bar.set_ticks([0, 0.5, 1], labels=["0", "0.25", "1"])
    write_title(sheet, axes, f"{sheet.recording.model}: every head")
    write_caption(sheet, sheet.caption)


def build_mosaic(maps: list[AttentionMap], heads: int) -> NDArray[np.float32]:
    """(pixel, pixel) square roots of weights; NaN between the small pictures."""
    height, width = (count * (CELL + GAP) - GAP for count in (len(maps), heads))
    mosaic = np.full((height, width), np.nan, dtype=np.float32)
    for row, each in enumerate(maps):
        thumbnails = np.sqrt(each.statistics.thumbnail_max)  # (head, query pixel, key pixel)
        down, across = (np.arange(CELL) * side // CELL for side in thumbnails.shape[1:])
        for head in range(each.heads):
            top, left = row * (CELL + GAP), head * (CELL + GAP)
            mosaic[top : top + CELL, left : left + CELL] = thumbnails[head][np.ix_(down, across)]
    return mosaic


def _choose(sheet: Sheet) -> list[AttentionMap]:
    part, layer = sheet.choice.part, sheet.choice.layer
    maps = [
        each
        for each in sheet.recording.maps
        if each.step is None
        and (part is None or name_part(each) == part)
        and (layer is None or each.layer == layer)
    ]
    if not maps:
        places = sorted({(name_part(each), each.layer) for each in sheet.recording.maps if each.step is None})
        there = ", ".join(f"{name} layer {at}" for name, at in places) or "none"
        raise InputError(
            f"There is no {f'{part} ' if part else ''}map{'' if layer is None else f' in layer {layer}'}. "
            f"There are: {there}. Choose one of these."
        )
    return maps
