"""All heads of a model by one number of a study.

In:   a Study; `metric`: one that it measured, or "effects": what silencing each head does to the outcome.
Out:  a row for each layer, a column for each head, on one scale.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.place import Place
from glassformer.registry import suggestion
from glassformer.render.choice import label_part
from glassformer.render.figures import parts
from glassformer.render.figures.figure import Sheet

USUAL, EFFECTS = "entropy", "effects"
_ROW = 0.22  # inches


def draw(sheet: Sheet) -> None:
    """See the module."""
    study = sheet.study
    heads = study.table("heads").to_pylist() if study.has("heads") else []
    effects = study.table("effects").to_pylist() if study.has("effects") else []
    of_heads = [row for row in effects if row["head"] is not None]
    known = (*dict.fromkeys(row["metric"] for row in heads), *([EFFECTS] if of_heads else []))
    if not known:
        raise InputError("render.figures.study_without_heads", folder=study.folder)
    name = sheet.choice.metric or (USUAL if USUAL in known else known[0])
    if name not in known:
        raise InputError("render.figures.unknown_number", name=name, suggestion=suggestion(name, known))
    chosen = of_heads if name == EFFECTS else [row for row in heads if row["metric"] == name]
    shown = name.replace("_", " ")
    if name == EFFECTS:
        shown = sheet.text(message("render.figures.study_effects", outcome=effects[0]["outcome"]))
    _draw_cells(sheet, chosen, shown)


def _draw_cells(sheet: Sheet, rows: Iterable[Mapping[str, Any]], name: str) -> None:
    values = {(Place(row["stack"], row["kind"], row["layer"]), row["head"]): row["value"] for row in rows}
    places = list(dict.fromkeys(place for place, _ in values))
    labels = [label_part(place, sheet.language) for place in places]
    columns = [str(head) for head in range(max(head for _, head in values) + 1)]
    cells = np.full((len(places), len(columns)), np.nan)
    for (place, head), value in values.items():
        cells[places.index(place), head] = value
    study = sheet.study
    title = f"{study.model}: {name}"
    sheet.caption = sheet.text(
        message("render.figures.study_caption", model=study.model, texts=study.texts, tokens=study.tokens)
    )
    axis_names = sheet.text("head"), sheet.text("layer")
    sheet.choose_fonts(title, *labels, *axis_names)
    sheet.set_size(max(1.4, _ROW * len(labels)) + 1.1)
    [axes] = sheet.make_panels(1, 1)
    found = np.ma.masked_invalid(cells)
    colours = sheet.choose_scale(float(np.abs(found).max() or 1.0), signed=bool((found < 0).any()))
    picture = parts.draw_matrix(axes, found, labels, columns, colours, vectors=True)
    parts.add_scale(sheet, axes, picture, colours, "value")
    axes.tick_params(axis="x", rotation=0)
    parts.name_matrix(axes, *axis_names)
    parts.write_texts(sheet, axes, title)
