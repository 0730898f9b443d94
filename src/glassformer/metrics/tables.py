"""Scores as rows: one value a line, with its place.

In:   a Score.
Out:  dictionaries; a pandas DataFrame where pandas is installed.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.errors import InputError

if TYPE_CHECKING:
    import pandas

    from glassformer.metrics.scores import Score


def list_rows(score: "Score") -> Iterator[dict[str, Any]]:
    """Every value: metric, stack, kind, layer, step, then its place along each axis."""
    for part in score.parts:
        place = {} if part.place is None else part.place._asdict()
        for index in np.ndindex(part.values.shape):
            axes = {
                name: part.labels[axis][number] if axis < len(part.labels) and part.labels[axis] else number
                for axis, (name, number) in enumerate(zip(_name_axes(part.axes), index, strict=True))
            }
            yield {"metric": score.name, **place, **axes, "value": float(part.values[index])}


def make_frame(score: "Score") -> "pandas.DataFrame":
    """All values as a table; undefined ones are NaN."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise InputError("metrics.no_pandas") from error
    frame = pandas.DataFrame(list(list_rows(score)))
    if "step" in frame and frame["step"].isna().all():
        frame = frame.drop(columns="step")
    return frame


def _name_axes(axes: tuple[str, ...]) -> list[str]:
    """Axes of one name get numbers: head, head 2."""
    return [
        name if axes[:place].count(name) == 0 else f"{name} {axes[:place].count(name) + 1}"
        for place, name in enumerate(axes)
    ]
