"""One head as a matrix: a row for each token that looks, a column for each that is looked at.

In:   place (or part and layer), head.
Out:  vector cells up to 96 tokens; above that an image on a square-root scale, one pixel a token up to
      1,024 tokens, and means of squares beyond.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glassformer.messages import message
from glassformer.recording import AttentionMap, count_pixels, tile
from glassformer.render.choice import describe_rows, label_rows
from glassformer.render.figures import parts
from glassformer.render.figures.figure import Sheet

if TYPE_CHECKING:
    from matplotlib.collections import QuadMesh
    from matplotlib.image import AxesImage

CELLS = 96  # tokens a side that are drawn as vectors
PIXELS = 1024  # a side


def draw(sheet: Sheet) -> None:
    """See the module."""
    attention_map, head = sheet.choose_head(sheet.choice.head)
    weights, level = read_weights(attention_map, head)
    rows = parts.name_tokens(label_rows(sheet.recording, attention_map, sheet.choice.reading))
    columns = parts.name_tokens(attention_map.key.texts)
    sheet.caption = _describe(sheet, attention_map, level)
    title = parts.name_heads(sheet, attention_map, [head])
    query = sheet.text(describe_rows(sheet.recording, attention_map, sheet.choice.reading))
    key = sheet.text("key")
    labels = [name for names in (rows, columns) if len(names) <= parts.LABELS for name in names]
    sheet.choose_fonts(*labels, title, query, key)
    axes = sheet.canvas.add_subplot()
    queries, keys = weights.shape
    letters = [max(map(len, names)) if len(names) <= parts.LABELS else 4 for names in (rows, columns)]
    beside, above = (0.9 + 0.05 * count for count in letters)  # inches for names and the colour bar
    sheet.set_size(min((sheet.width - beside) * queries / keys + above, 10.0))
    extent = (-0.5, len(columns) - 0.5, len(rows) - 0.5, -0.5)  # in tokens
    hidden = np.ma.array(weights, mask=np.broadcast_to(_masked(attention_map, head, level), weights.shape))
    few = level == 0 and max(weights.shape) <= CELLS
    signed = attention_map.content == "signed"
    largest = float(np.abs(weights).max()) or 1.0
    colours = parts.choose_scale(largest, signed=signed, power=1.0 if few else 0.5)
    picture: QuadMesh | AxesImage
    if few:
        edges = np.arange(keys + 1) - 0.5, np.arange(queries + 1) - 0.5
        picture = axes.pcolormesh(*edges, hidden, **colours, gid="weights")
        axes.invert_yaxis()
    else:
        picture = axes.imshow(hidden, **colours, extent=extent, interpolation="none", gid="weights")
    axes.set_aspect("equal")
    parts.label_axis(axes, "x", columns)
    parts.label_axis(axes, "y", rows)
    parts.name_matrix(axes, key, query)
    parts.add_scale(sheet, axes, picture, "value" if signed else "mean_weight" if level else "weight")
    parts.write_texts(sheet, axes, title)


def read_weights(attention_map: AttentionMap, head: int) -> tuple[NDArray[np.float32], int]:
    """The whole head, one pixel for 2**level tokens so that it fits."""
    _, queries, keys = attention_map.shape
    longest = max(queries, keys)
    level = next(level for level in range(64) if count_pixels(longest, level) <= PIXELS)
    if level == 0:
        return attention_map.weights(head), 0
    return tile(attention_map, head, level, 0, 0, size=PIXELS), level


def _masked(attention_map: AttentionMap, head: int, level: int) -> NDArray[np.bool_]:
    """Masked cells, left empty: read from the scores where they were recorded, never guessed."""
    if level == 0 and attention_map.has_scores:
        return np.isneginf(attention_map.scores(head))
    return np.zeros((), dtype=bool)


def _describe(sheet: Sheet, attention_map: AttentionMap, level: int) -> str:
    unchanged = attention_map.relaxed is None and attention_map.sink_weights is None
    sums = unchanged and attention_map.content == "weights"
    pixels = sheet.text(message("render.figures.pixels", side=2**level)) if level else ""
    rows = sheet.text("rows_sum_to_one") if sums and not level else ""
    return " ".join(filter(None, (pixels, rows, parts.describe_evidence(sheet))))
