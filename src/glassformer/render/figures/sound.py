"""Attention under the waveform: words, or heads, over time.

In:   place (or part and layer); of words that listen one head, else one head or several.
Out:  the wave, and below it a row for each word, with a dot at its largest weight: the alignment path; or a
      row for each head, the mean over all frames. Lines are the true boundaries of words, where they are
      known, and the caption counts the dots within them.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.recording import AttentionMap, Sound
from glassformer.render.choice import label_rows
from glassformer.render.figures import parts
from glassformer.render.figures.figure import Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 0.16  # inches of a word
WAVE = 0.55  # inches
ROWS = 64  # words or heads of one figure
TOLERANCE = 0.08  # seconds around a word within which a peak counts


def draw(sheet: Sheet) -> None:
    """See the module."""
    attention_map, sound = _choose(sheet)
    names, weights, heads = _read_rows(sheet, attention_map)
    if len(names) > ROWS:
        raise InputError("render.figures.too_many_panels", count=len(names), most=ROWS)
    cross = attention_map.kind == "cross"
    order, edges = divide_time(sound)
    peaks = find_peaks(sound, weights, order)
    colours = sheet.choose_scale(float(weights[:, order].max()) or 1.0, signed=False)
    about = message("render.figures.sound_of_words" if cross else "render.figures.sound_of_heads")
    said = [about, *(_count_hits(sheet, attention_map, sound, peaks) if cross else ()), colours.about]
    sheet.caption = " ".join((*map(sheet.text, said), parts.describe_evidence(sheet)))
    title, seconds = parts.name_heads(sheet, attention_map, heads), sheet.text("seconds")
    sheet.choose_fonts(*names, *(word.text for word in sound.words), title, seconds)
    sheet.set_size(WAVE + ROW * len(names) + 1.3)
    above, below = sheet.canvas.subplots(2, 1, sharex=True, height_ratios=[WAVE, ROW * len(names)])
    _draw_wave(above, sound)
    rows = np.arange(len(names) + 1) - 0.5
    mesh = below.pcolormesh(edges, rows, weights[:, order], **colours.options, gid="weights")
    below.invert_yaxis()
    if cross:
        below.plot(peaks, np.arange(len(names)), ".", color="0.1", markersize=3, gid="peaks")
    _draw_boundaries(above, below, sound)
    below.set_yticks(np.arange(len(names)), names)
    below.tick_params(axis="y", length=0)
    below.set(xlabel=seconds, xlim=(0, sound.seconds))
    parts.add_scale(sheet, [above, below], mesh, colours, "weight")
    parts.write_texts(sheet, above, title)


def _choose(sheet: Sheet) -> tuple[AttentionMap, Sound]:
    """One map whose keys are frames."""
    if not sheet.owns_canvas:
        raise InputError("render.figures.one_panel", count=2)
    chosen = sheet.choose_heads()
    attention_map = chosen[0][0]
    if any(each.place != attention_map.place for each, _ in chosen):
        raise InputError("render.figures.one_map", places=[each.place.address for each, _ in chosen])
    sound = attention_map.key.sound
    if sound is None or (sound.spans < 0).all():
        raise InputError("render.figures.no_frames", place=attention_map.place)
    if attention_map.content == "signed":
        raise InputError("render.figures.signed_lines", place=attention_map.place)
    return attention_map, sound


def _read_rows(sheet: Sheet, attention_map: AttentionMap) -> tuple[list[str], NDArray[np.float64], list[int]]:
    """Names of the rows, their weights (row, key), and the heads that they are of."""
    if attention_map.kind == "cross":
        head = sheet.choose_heads(most=1)[0][1]
        names = parts.name_tokens(label_rows(sheet.recording, attention_map, sheet.choice.reading))
        return names, attention_map.weights(head).astype(np.float64), [head]
    every = sheet.choice.heads is None
    heads = list(range(attention_map.heads)) if every else [head for _, head in sheet.choose_heads()]
    names = [sheet.text(message("render.figures.head_number", head=head)) for head in heads]
    weights = [attention_map.weights(head).astype(np.float64).mean(axis=0) for head in heads]
    return names, np.stack(weights), heads


def _draw_boundaries(above: "Axes", below: "Axes", sound: Sound) -> None:
    """When each word is spoken, where that is known."""
    for word in sound.words:
        for axes in (above, below):
            for second in (word.start, word.end):
                axes.axvline(second, color="0.4", linewidth=0.5, linestyle=(0, (2, 2)), gid="boundary")
        above.text((word.start + word.end) / 2, 1.05, word.text, ha="center", va="bottom", fontsize="small")


def divide_time(sound: Sound) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The frames in the order of time, and the seconds between them: each has what is nearest to it."""
    middles = sound.spans.mean(axis=1)
    heard = np.flatnonzero(sound.spans[:, 0] >= 0)
    order = heard[np.argsort(middles[heard], kind="stable")]
    between = [(one + other) / 2 for one, other in pairwise(middles[order])]
    first, last = sound.spans[order[0], 0], sound.spans[order[-1], 1]
    return order, np.array([first, *between, last])


def find_peaks(sound: Sound, weights: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    """The second (row,) at which each row has its largest weight, of all keys that are frames."""
    return sound.spans[order[weights[:, order].argmax(axis=1)]].mean(axis=1)


def _count_hits(
    sheet: Sheet, attention_map: AttentionMap, sound: Sound, peaks: NDArray[np.float64]
) -> tuple[Message, ...]:
    """How many words have their largest weight where they are spoken; nothing where that is not known."""
    rows = [text.strip().lower() for text in label_rows(sheet.recording, attention_map, "written")]
    spoken = [word.text.strip().lower() for word in sound.words]
    words = [(row, text) for row, text in enumerate(rows) if text in spoken]
    if sheet.choice.reading != "written" or not spoken or [text for _, text in words] != spoken:
        return ()
    hits = sum(
        word.start - TOLERANCE <= peaks[row] <= word.end + TOLERANCE
        for (row, _), word in zip(words, sound.words, strict=True)
    )
    near = round(1000 * TOLERANCE)
    return (message("render.figures.sound_hits", hits=hits, words=len(words), tolerance=near),)


def _draw_wave(axes: "Axes", sound: Sound) -> None:
    """The outline of the wave: the lowest and the highest sample of each of many stretches."""
    stretches = np.array_split(sound.samples.astype(np.float64), min(len(sound.samples), 1200))
    loudest = max(1.0, float(np.abs(sound.samples.astype(np.float64)).max()))
    time = np.linspace(0, sound.seconds, len(stretches))
    low, high = (np.array([pick(part) for part in stretches]) / loudest for pick in (np.min, np.max))
    axes.fill_between(time, low, high, color="0.35", linewidth=0.2, gid="wave")
    axes.set(ylim=(-1, 1), yticks=[])
    axes.spines[:].set_visible(False)
    axes.tick_params(axis="x", length=0, labelbottom=False)
