"""The arithmetic of each operation, for one number at a time; that of attention is in attention_cells.py,
that of recurrent cells in recurrent_cells.py, that of pictures and sounds in media_cells.py.

In:   a Cell.
Out:  Working.
"""

import math
from collections.abc import Callable

import numpy as np

from glassformer.walk.attention_cells import compare, fall, join, mask, mix, softmax, turn
from glassformer.walk.functions import ACTIVATIONS
from glassformer.walk.media_cells import convolve, cut, find_loudness, prepend, transform
from glassformer.walk.recurrent_cells import (
    blend,
    concatenate,
    find_end,
    pass_gate,
    release,
    remember,
    repeat,
    shift,
)
from glassformer.walk.types import Reading
from glassformer.walk.working import WAVELENGTH, Cell, Numbers, Working, find_place


def look_up(cell: Cell) -> Working:
    """A row of a table: of a token's id, of a position, of a segment, or of a distance."""
    table = cell.parameter(cell.step.parameters.weight)
    name = cell.step.parameters.weight or ""
    if cell.step.output.endswith("position_bias"):
        row, column = _find_bucket(cell), cell.head or 0
    elif cell.step.inputs:
        row, column = int(cell.array(cell.step.inputs[0])[cell.row]), cell.column
    elif cell.step.output.endswith("segments"):  # the row that is nearest: ids of segments are not kept
        apart = np.abs(table.astype(np.float64) - cell.array(cell.step.output)[cell.row])
        row, column = int(apart.sum(axis=1).argmin()), cell.column
    else:
        row, column = cell.row, cell.column
    value = float(table[row, column])
    return Working(value, numbers={"row": float(row)}, reads=[Reading(name=name, row=row, column=column)])


def make_waves(cell: Cell) -> Working:
    """Sine or cosine of position times frequency, as section 3.5 of the paper has it."""
    width, position, column = cell.array(cell.step.output).shape[-1], cell.row, cell.column
    if cell.step.words["order"] == "grid":  # half of the features for the row, half for the column
        width //= 2
        place, column = find_place(cell), column % width
        if place is None:
            return Working(0.0)  # a class token has no place
        position = place[cell.column // width]
    if cell.step.words["order"] == "halves":
        pair, sine = column % (width // 2), column < width // 2
    else:
        pair, sine = column // 2, column % 2 == 0
    frequency = WAVELENGTH ** (-2 * pair / width)
    angle = position * frequency
    value = math.sin(angle) if sine else math.cos(angle)
    numbers = {"position": float(position), "frequency": frequency, "angle": angle, "sine": float(sine)}
    return Working(value, numbers=numbers)


def scale(cell: Cell) -> Working:
    """Times a fixed number."""
    (name,) = cell.step.inputs
    factor = cell.step.numbers["scale" if "scale" in cell.step.numbers else "factor"]
    reads = [cell.read(name, cell.row, cell.column)]
    return Working.add_up(np.array([cell.value(name)]), np.array([factor]), reads)


def add(cell: Cell) -> Working:
    """Arrays, cell by cell; the last of two may have a learnt factor."""
    values = np.array([cell.value(name) for name in cell.step.inputs])
    factors = np.ones(len(values))
    if cell.step.parameters.weight is not None:
        factors[-1] = float(cell.parameter(cell.step.parameters.weight))
    reads = [cell.read(name, cell.row, cell.column) for name in cell.step.inputs]
    return Working.add_up(values, factors, reads, cell.step.inputs)


def norm(cell: Cell) -> Working:
    """(x - mean) / deviation, times a gain, plus a shift; or by the root of the mean square alone."""
    (name,) = cell.step.inputs
    parameters, features = cell.step.parameters, cell.vector(name)
    if cell.step.words.get("over") == "squares":
        return _norm_by_squares(cell, features)
    if parameters.mean is not None:
        mean = float(cell.parameter(parameters.mean)[cell.column])
        variance = float(cell.parameter(parameters.variance)[cell.column])
    else:
        mean, variance = float(features.mean()), float(features.var())
    before = float(features[cell.column])
    deviation = math.sqrt(variance + cell.step.numbers["epsilon"])
    gain = float(cell.parameter(parameters.weight)[cell.column])
    shift = float(cell.parameter(parameters.bias)[cell.column])
    standard = (before - mean) / deviation
    return Working(
        standard * gain + shift,
        numbers={
            "input": before,
            "mean": mean,
            "variance": variance,
            "deviation": deviation,
            "standard": standard,
            "gain": gain,
        },
        bias=shift,
        sum=standard * gain,
        reads=[cell.read(name, cell.row)],
    )


def _norm_by_squares(cell: Cell, features: Numbers) -> Working:
    """x / √(mean of x²), times a gain (RMS norm)."""
    before = float(features[cell.column])
    square = float((features**2).mean())
    root = math.sqrt(square + cell.step.numbers["epsilon"])
    gain = float(cell.parameter(cell.step.parameters.weight)[cell.column])
    numbers = {"input": before, "root": root, "standard": before / root, "gain": gain}
    return Working(before / root * gain, numbers=numbers, reads=[cell.read(cell.step.inputs[0], cell.row)])


def split(cell: Cell) -> Working:
    """A part of a longer vector, unchanged."""
    (name,) = cell.step.inputs
    width = cell.array(cell.step.output).shape[-1]
    column = (cell.head or 0) * width + cell.column
    value = float(cell.vector(name)[column])
    return Working(value, reads=[Reading(name=name, row=cell.row, column=column)])


def multiply(cell: Cell) -> Working:
    """A row of the input with a row of the weight (output, input), plus the bias of that output."""
    (name,) = cell.step.inputs
    parameters = cell.step.parameters
    output = cell.array(cell.step.output)
    column = cell.column + (parameters.columns[0] if parameters.columns else 0)
    if output.ndim == 3:
        column += (cell.head or 0) * output.shape[-1]
    left = cell.vector(name)
    right = cell.parameter(parameters.weight)[column].astype(np.float64)
    bias = None if parameters.bias is None else float(cell.parameter(parameters.bias)[column])
    reads = [cell.read(name, cell.row), Reading(name=parameters.weight or "", row=column)]
    return Working.add_up(left, right, reads, bias=bias)


def activate(cell: Cell) -> Working:
    """What the activation makes of a number."""
    (name,) = cell.step.inputs
    before = cell.value(name)
    value = ACTIVATIONS[cell.step.words["function"]](before)
    return Working(value, numbers={"input": before}, reads=[cell.read(name, cell.row, cell.column)])


def pool(cell: Cell) -> Working:
    """One vector of many: the first or last token's, the mean, the largest."""
    (name,) = cell.step.inputs
    values = cell.array(name)[:, cell.column].astype(np.float64)
    how = cell.step.words["how"]
    if how == "mean":
        shares: Numbers = np.full(len(values), 1 / len(values))
    else:
        chosen = {"first": 0, "last": len(values) - 1, "max": int(values.argmax())}[how]
        shares = np.eye(len(values))[chosen]
    return Working.add_up(values, shares, [cell.read(name, None, cell.column)], cell.texts("source"))


def choose(cell: Cell) -> Working:
    """The id of the likeliest word, of the second, and so on."""
    (name,) = cell.step.inputs
    chances = cell.vector(name)
    order = np.argsort(-chances, kind="stable")
    word = int(order[cell.column])
    numbers = {"probability": float(chances[word]), "rank": float(cell.column)}
    return Working(float(word), numbers=numbers, reads=[cell.read(name, cell.row, word)])


OPERATIONS: dict[str, Callable[[Cell], Working]] = {
    "lookup": look_up,
    "waves": make_waves,
    "scale": scale,
    "add": add,
    "norm": norm,
    "split": split,
    "product": multiply,
    "turn": turn,
    "fall": fall,
    "dot": compare,
    "cosine": compare,
    "bilinear": compare,
    "additive": compare,
    "divide": scale,
    "mask": mask,
    "softmax": softmax,
    "mix": mix,
    "join": join,
    "activate": activate,
    "pool": pool,
    "choose": choose,
    "before": shift,
    "gate": pass_gate,
    "blend": blend,
    "remember": remember,
    "release": release,
    "concat": concatenate,
    "ends": find_end,
    "repeat": repeat,
    "cut": cut,
    "prepend": prepend,
    "fourier": transform,
    "mel": find_loudness,
    "convolve": convolve,
}


def _find_bucket(cell: Cell) -> int:
    """The bucket of a distance (T5): exact when near, logarithmic when far."""
    numbers = cell.step.numbers
    buckets, distance, start = int(numbers["buckets"]), cell.column - cell.row, 0
    if numbers["causal"]:
        distance = max(-distance, 0)
    else:
        buckets //= 2
        start, distance = (buckets if distance > 0 else 0), abs(distance)
    exact = buckets // 2
    if distance < exact:
        return start + distance
    share = math.log(distance / exact) / math.log(numbers["farthest"] / exact)
    return start + min(exact + int(share * (buckets - exact)), buckets - 1)
