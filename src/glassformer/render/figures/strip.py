"""Attention being learnt: one head on one text, at several steps of a training run, on one scale.

In:   a RunLog with probes (recordings that were made while it trained); place (or part and layer), a head;
      steps (some of those recorded, evenly over the run); the number of the text.
Out:  a panel for each step.
"""

import numpy as np

from glassformer import bundle
from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.recording import AttentionMap, Recording
from glassformer.render.choice import choose_head, describe_rows, label_rows
from glassformer.render.figures import parts
from glassformer.render.figures.figure import Sheet
from glassformer.render.figures.heatmap import read_weights
from glassformer.runlog import Probe, find_probes

_PANEL = 1.1  # inches that a panel needs
_LEGIBLE = 12  # tokens that can be named beside a panel of that size


def draw(sheet: Sheet) -> None:
    """See the module."""
    probes = _choose_probes(sheet)
    recordings = [bundle.open(probe.path) for probe in probes]
    maps, head = _choose_maps(sheet, recordings)
    matrices = [read_weights(each, head)[0] for each in maps]
    largest = max(float(values.max()) for values in matrices) or 1.0
    colours = sheet.choose_scale(largest, signed=False)
    run, place = sheet.log.name, maps[0].place
    last = recordings[-1]
    drawn = message("render.head_of_map", place=place, head=head)
    title = sheet.text(message("render.figures.one_head_of", model=run, head=drawn))
    names = [sheet.text(message("render.figures.at_step", step=probe.step)) for probe in probes]
    sheet.caption = " ".join(
        sheet.text(each)
        for each in (
            message("render.figures.strip_caption", run=run, steps=[probe.step for probe in probes]),
            colours.about,
        )
    )
    rows = parts.name_tokens(label_rows(last, maps[-1], sheet.choice.reading))
    columns = parts.name_tokens(maps[-1].key.texts)
    few = max(len(rows), len(columns)) <= _LEGIBLE
    query, key = sheet.text(describe_rows(last, maps[-1], sheet.choice.reading)), sheet.text("key")
    sheet.choose_fonts(title, query, key, *names, *(parts.drawn_labels(rows, columns) if few else ()))
    across = max(1, min(len(probes), int(sheet.width / _PANEL)))
    down = -(-len(probes) // across)
    sheet.set_size(parts.TALLEST)
    panels = sheet.make_panels(down, across)
    for number, axes in enumerate(panels):
        if number >= len(probes):
            axes.remove()
            continue
        picture = parts.draw_matrix(axes, matrices[number], rows, columns, colours, vectors=True)
        first = number % across == 0
        parts.name_matrix(axes, key if number < across else "", query if first else "")
        sheet.headings.append((axes, axes.set_title(names[number])))
        axes.tick_params(labeltop=few and number < across, labelleft=few and first, length=0)
    used = panels[: len(probes)]
    parts.add_scale(sheet, used if len(used) > 1 else used[0], picture, colours, "weight")
    parts.write_texts(sheet, used[0], title)


def _choose_probes(sheet: Sheet) -> list[Probe]:
    """The steps that were asked for, or as many as fit beside each other, evenly over those there are."""
    run, choice = sheet.log, sheet.choice
    texts = sorted({probe.text for probe in find_probes(run.folder)})
    if not texts:
        raise InputError("render.figures.no_probes", run=run.name)
    text = texts[0] if choice.text is None else choice.text
    known = {probe.step: probe for probe in find_probes(run.folder) if probe.text == text}
    if not known:
        raise InputError("render.figures.no_probe_text", run=run.name, text=text, texts=texts)
    for step in choice.steps or ():
        if step not in known:
            raise InputError("render.figures.no_probe_step", run=run.name, step=step, steps=list(known))
    if choice.steps:
        return [known[step] for step in choice.steps]
    count = max(2, int(sheet.width / _PANEL))
    places = np.linspace(0, len(known) - 1, min(count, len(known))).round().astype(int)
    return [list(known.values())[place] for place in dict.fromkeys(places.tolist())]


def _choose_maps(sheet: Sheet, recordings: list[Recording]) -> tuple[list[AttentionMap], int]:
    """The map of every step, and the head: without a wish, the one that is most focused in the end."""
    choice = sheet.choice
    if choice.heads is not None and len(choice.heads) > 1:
        raise InputError("render.figures.one_head", heads=[head for _, head in choice.heads])
    place, head = (None, None) if choice.heads is None else choice.heads[0]
    found, number = choose_head(
        recordings[-1], part=choice.part, layer=choice.layer, head=head, place=place or choice.place
    )
    return [recording.map(found.place) for recording in recordings], number
