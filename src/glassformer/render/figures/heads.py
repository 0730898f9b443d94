"""All heads at a glance: one small picture each, layers downwards, heads across.

In:   part, layer or place (all, where none is chosen).
Out:  an image; each small picture is its thumbnail, the largest weight of each square of tokens.
"""

import numpy as np
from numpy.typing import NDArray

from glassformer.messages import message
from glassformer.recording import AttentionMap
from glassformer.render.choice import choose_maps, label_part
from glassformer.render.figures import parts
from glassformer.render.figures.figure import Sheet

CELL = 64  # pixels a side
GAP = 6


def draw(sheet: Sheet) -> None:
    """See the module."""
    maps = _choose(sheet)
    heads = max(each.heads for each in maps)
    mosaic = build_mosaic(maps, heads)
    signed = any(each.content == "signed" for each in maps)
    caption = sheet.text("signed_heads_caption" if signed else "heads_caption")
    sheet.caption = f"{caption} {parts.describe_evidence(sheet)}"
    names = [label_part(each.place, sheet.language) for each in maps]
    title = sheet.text(message("render.figures.every_head", model=sheet.recording.model))
    axis_names = sheet.text("head"), sheet.text("layer")
    sheet.choose_fonts(title, *names, *axis_names)
    axes = sheet.canvas.add_subplot()
    sheet.set_size(min((sheet.width - 1.3) * len(maps) / heads + 0.9, 10.0))
    largest = float(np.nanmax(np.abs(mosaic))) or 1.0
    colours = parts.choose_scale(largest if signed else 1.0, signed=signed)
    picture = axes.imshow(mosaic, **colours, interpolation="none", aspect="equal", gid="heads")
    centres = CELL / 2 - 0.5 + (CELL + GAP) * np.arange(max(heads, len(maps)))
    axes.set_xticks(centres[:heads], [str(head) for head in range(heads)])
    axes.set_yticks(centres[: len(maps)], names)
    axes.tick_params(length=0)
    parts.name_matrix(axes, *axis_names)
    bar = parts.add_scale(sheet, axes, picture, "value" if signed else "weight")
    if not signed:
        bar.set_ticks([0, 0.5, 1], labels=["0", "0.25", "1"])
    parts.write_texts(sheet, axes, title)


def build_mosaic(maps: list[AttentionMap], heads: int) -> NDArray[np.float32]:
    """(pixel, pixel) square roots of weights, or signed values as they are; NaN between pictures."""
    height, width = (count * (CELL + GAP) - GAP for count in (len(maps), heads))
    mosaic = np.full((height, width), np.nan, dtype=np.float32)
    for row, each in enumerate(maps):
        thumbnails = each.statistics.thumbnail_max  # (head, query pixel, key pixel)
        if each.content == "weights":
            thumbnails = np.sqrt(thumbnails)
        down, across = (np.arange(CELL) * side // CELL for side in thumbnails.shape[1:])
        for head in range(each.heads):
            top, left = row * (CELL + GAP), head * (CELL + GAP)
            mosaic[top : top + CELL, left : left + CELL] = thumbnails[head][np.ix_(down, across)]
    return mosaic


def _choose(sheet: Sheet) -> list[AttentionMap]:
    choice, recording = sheet.choice, sheet.recording
    if choice.place is not None:
        return [recording.map(choice.place)]
    maps = [each for each in recording.maps if each.step is None]
    return choose_maps(maps, recording.model, part=choice.part, layer=choice.layer)
