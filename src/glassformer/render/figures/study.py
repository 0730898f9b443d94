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
    study = sheet.study
    counts: dict[str, Any] = {"model": study.model, "texts": study.texts, "tokens": study.tokens}
    if name == EFFECTS:
        usual = effects[0]  # without edits
        outcome, value = usual["outcome"], _write_interval(usual)
        shown = sheet.text(message("render.figures.study_effects", outcome=outcome))
        caption = message("render.figures.study_effects_caption", outcome=outcome, value=value, **counts)
    else:
        caption = message("render.figures.study_caption", **counts)
    _draw_cells(sheet, chosen, shown, sheet.text(caption))


def _write_interval(row: Mapping[str, Any]) -> str:
    """A value with its interval, which a single text does not have."""
    value, low, high = (f"{row[name]:.3g}" for name in ("value", "low", "high"))
    return value if np.isnan(row["low"]) else f"{value} [{low}, {high}]"


def _draw_cells(sheet: Sheet, rows: Iterable[Mapping[str, Any]], name: str, caption: str) -> None:
    values = {(Place(row["stack"], row["kind"], row["layer"]), row["head"]): row["value"] for row in rows}
    places = list(dict.fromkeys(place for place, _ in values))
    labels = [label_part(place, sheet.language) for place in places]
    columns = [str(head) for head in range(max(head for _, head in values) + 1)]
    cells = np.full((len(places), len(columns)), np.nan)
    for (place, head), value in values.items():
        cells[places.index(place), head] = value
    title = f"{sheet.study.model}: {name}"
    empty = [sheet.text("study_empty")] if np.isnan(cells).any() else []
    sheet.caption = " ".join([caption, *empty])
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
