"""One head of two recordings, subtracted: the first minus the second, on a scale symmetric about zero.

In:   a recording, and another of the same tokens (`against`): another model, another checkpoint, or the same
      model after an edit; place (or part and layer), head.
Out:  a matrix, red where the first looks more, blue where the second does. The caption says so.
"""

import numpy as np

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.metrics.differences import require_alike
from glassformer.render.choice import describe_rows, label_rows
from glassformer.render.figures import parts
from glassformer.render.figures.figure import Sheet
from glassformer.render.figures.heatmap import PIXELS


def draw(sheet: Sheet) -> None:
    """See the module."""
    other = sheet.choice.against
    if other is None:
        raise InputError("render.figures.no_against")
    require_alike(sheet.recording, other)
    [(first, head)] = sheet.choose_heads(most=1)
    second = other.map(first.place)
    if max(first.shape[1:]) > PIXELS:
        raise InputError("render.figures.too_long", queries=first.shape[1], keys=first.shape[2], most=PIXELS)
    values = first.weights(head).astype(np.float64) - second.weights(head)
    largest = float(np.abs(values).max()) or 1.0
    colours = sheet.choose_scale(largest, signed=True)
    names = {"first": sheet.recording.model, "second": other.model}
    if names["first"] == names["second"]:
        names = {"first": sheet.text("first"), "second": sheet.text("second")}
    about = message("render.figures.difference_caption", **names)
    evidence = sheet.text(
        message(
            "render.figures.evidence_of_two",
            first=sheet.recording.evidence.text(sheet.language),
            second=other.evidence.text(sheet.language),
        )
    )
    sheet.caption = " ".join((*map(sheet.text, (about, colours.about)), evidence))
    place = message("render.head_of_map", place=first.place, head=head)
    title = sheet.text(message("render.figures.difference_title", head=place, **names))
    rows = parts.name_tokens(label_rows(sheet.recording, first, sheet.choice.reading))
    columns = parts.name_tokens(first.key.texts)
    query, key = sheet.text(describe_rows(sheet.recording, first, sheet.choice.reading)), sheet.text("key")
    parts.draw_whole(sheet, values, rows, columns, colours, (title, query, key), "first_minus_second")
