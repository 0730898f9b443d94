"""All heads at a glance: one small picture each, layers downwards, heads across.

In:   part, layer or place (all, where none is chosen); heads (all).
Out:  an image on one scale; each small picture is its thumbnail, the largest weight of each square of tokens.
"""

from collections.abc import Sequence

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
    heads = _choose_heads(sheet, maps)
    mosaic = build_mosaic(maps, heads)
    signed = any(each.content == "signed" for each in maps)
    largest = float(np.nanmax(np.abs(mosaic))) or 1.0
    colours = sheet.choose_scale(largest if signed else 1.0, signed=signed, power=1.0 if signed else 0.5)
    caption = sheet.text("signed_heads_caption" if signed else "heads_caption")
    sheet.caption = f"{sheet.text(colours.about)} {caption} {parts.describe_evidence(sheet)}"
    names = [label_part(each.place, sheet.language) for each in maps]
    title = sheet.text(message("render.figures.every_head", model=sheet.recording.model))
    axis_names = sheet.text("head"), sheet.text("layer")
    sheet.choose_fonts(title, *names, *axis_names)
    sheet.set_size(parts.TALLEST)
    [axes] = sheet.make_panels(1, 1)
    picture = axes.imshow(mosaic, **colours.options, interpolation="none", aspect="equal", gid="heads")
    centres = CELL / 2 - 0.5 + (CELL + GAP) * np.arange(max(len(heads), len(maps)))
    axes.set_xticks(centres[: len(heads)], [str(head) for head in heads])
    axes.set_yticks(centres[: len(maps)], names)
    axes.tick_params(length=0)
    parts.name_matrix(axes, *axis_names)
    parts.add_scale(sheet, axes, picture, colours, "value" if signed else "weight")
    parts.write_texts(sheet, axes, title)


def build_mosaic(maps: list[AttentionMap], heads: Sequence[int]) -> NDArray[np.float32]:
    """(pixel, pixel) weights, or signed values; NaN between pictures and where a map has no such head."""
    height, width = (count * (CELL + GAP) - GAP for count in (len(maps), len(heads)))
    mosaic = np.full((height, width), np.nan, dtype=np.float32)
    for row, each in enumerate(maps):
        thumbnails = each.statistics.thumbnail_max  # (head, query pixel, key pixel)
        down, across = (np.arange(CELL) * side // CELL for side in thumbnails.shape[1:])
        for column, head in enumerate(heads):
            if head >= each.heads:
                continue
            top, left = row * (CELL + GAP), column * (CELL + GAP)
            mosaic[top : top + CELL, left : left + CELL] = thumbnails[head][np.ix_(down, across)]
    return mosaic


def _choose_heads(sheet: Sheet, maps: list[AttentionMap]) -> list[int]:
    largest = max(maps, key=lambda each: each.heads)
    if sheet.choice.heads is None:
        return list(range(largest.heads))
    return [largest.require_head(head) for _, head in sheet.choice.heads]


def _choose(sheet: Sheet) -> list[AttentionMap]:
    choice, recording = sheet.choice, sheet.recording
    if choice.place is not None:
        return [recording.map(choice.place)]
    maps = [each for each in recording.maps if each.step is None]
    return choose_maps(maps, recording.model, part=choice.part, layer=choice.layer)
