"""One head of two recordings, subtracted: the first minus the second, on a scale symmetric about zero.

In:   a recording, and another (`against`): of another model or checkpoint, of another text (aligned by
      words), or of the same model after an edit; place (or part and layer), head.
Out:  a matrix, red where the first looks more, blue where the second does. The caption says so, and what of
      the two texts was left out.
"""

import numpy as np

from glassformer.comparison.difference import make_difference
from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.render.choice import describe_rows, label_rows
from glassformer.render.figures import parts
from glassformer.render.figures.figure import Sheet
from glassformer.render.figures.heatmap import PIXELS


def draw(sheet: Sheet) -> None:
    """See the module."""
    other = sheet.choice.against
    if other is None:
        raise InputError("render.figures.no_against")
    found = make_difference(sheet.recording, other)
    [(chosen, head)] = sheet.choose_heads(most=1)
    first = found.recording.map(chosen.place)
    if max(first.shape[1:]) > PIXELS:
        raise InputError("render.figures.too_long", queries=first.shape[1], keys=first.shape[2], most=PIXELS)
    values = first.weights(head).astype(np.float64)
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
    aligned = [part for each in found.alignments.values() if not each.identical for part in each.evidence]
    sheet.caption = " ".join((*map(sheet.text, (about, colours.about, *aligned)), evidence))
    place = message("render.head_of_map", place=first.place, head=head)
    title = sheet.text(message("render.figures.difference_title", head=place, **names))
    whole = sheet.recording if found.identical else found.recording
    rows = parts.name_tokens(label_rows(whole, first, sheet.choice.reading))
    columns = parts.name_tokens(first.key.texts)
    query, key = sheet.text(describe_rows(whole, first, sheet.choice.reading)), sheet.text("key")
    parts.draw_whole(sheet, values, rows, columns, colours, (title, query, key), "first_minus_second")
