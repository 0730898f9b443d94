"""Rollout as a matrix: how much of each token, after a layer, comes from each token of the input.

In:   part and layer (the last layer of the first stack, where none is chosen); parameters: residual.
Out:  vector cells, or an image of more than 96 tokens. The numbers are those of the metric `rollout`.
"""

import numpy as np

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.metrics import Part, score
from glassformer.place import name_term
from glassformer.render.choice import name_part
from glassformer.render.figures import parts
from glassformer.render.figures.figure import Sheet


def draw(sheet: Sheet) -> None:
    """See the module."""
    choice = sheet.choice
    result = score(sheet.recording, "rollout", **choice.parameters)
    part = _choose(sheet, result.parts)
    assert part.place is not None
    values = np.ma.masked_invalid(part.values)
    rows, columns = (parts.name_tokens(texts) for texts in part.labels)
    largest = float(values.max()) or 1.0
    few = max(values.shape) <= parts.CELLS
    colours = sheet.choose_scale(largest, signed=False, power=1.0 if few else 0.5)
    about = message(
        "render.figures.rollout_caption", layer=part.place.layer, residual=result.parameters["residual"]
    )
    sheet.caption = " ".join((*map(sheet.text, (about, colours.about)), parts.describe_evidence(sheet)))
    title = sheet.text(
        message(
            "render.figures.rollout_title",
            model=sheet.recording.model,
            stack=name_term(part.place.stack),
            layer=part.place.layer,
        )
    )
    after, source = sheet.text("after_layer"), sheet.text("input_token")
    parts.draw_whole(sheet, values, rows, columns, colours, (title, after, source), "share")


def _choose(sheet: Sheet, found: tuple[Part, ...]) -> Part:
    choice = sheet.choice
    places = [part.place for part in found if part.place is not None]
    wanted = [place for place in places if choice.part in (None, name_part(place))]
    wanted = [place for place in wanted if place.stack == wanted[0].stack]
    wanted = [place for place in wanted if choice.layer in (None, place.layer)]
    if choice.place is not None:
        wanted = [place for place in places if place == choice.place]
    if not wanted:
        raise InputError("render.figures.no_rollout", places=[place.address for place in places])
    return next(part for part in found if part.place == wanted[-1])
