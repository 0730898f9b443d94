"""The arithmetic of each operation, for one number at a time.

In:   a Cell.
Out:  Working.
"""

import math
from collections.abc import Callable

import numpy as np

from glassformer.show.walk.arrays import soften
from glassformer.show.walk.types import Reading
from glassformer.show.walk.working import Cell, Numbers, Working
from glassformer.show.writing import make_visible

WAVELENGTH = 10_000.0  # as in the model


def look_up(cell: Cell) -> Working:
    """A row of a table: of a token's id, of a position, of a segment, or of a distance."""
    table = cell.parameter(cell.step.parameters.weight)
    name = cell.step.parameters.weight or ""
    if cell.step.output.endswith("position_bias"):
        row, column = _find_bucket(cell), cell.head or 0
    elif cell.step.inputs:
        row, column = int(cell.array(cell.step.inputs[0])[cell.row]), cell.column
    elif cell.step.output.endswith("segments"):
        row, column = _find_row(table, cell.array(cell.step.output)[cell.row]), cell.column
    else:
        row, column = cell.row, cell.column
    value = float(table[row, column])
    return Working(value, numbers={"row": float(row)}, reads=[Reading(name=name, row=row, column=column)])


def make_waves(cell: Cell) -> Working:
    """Sine or cosine of position times frequency, as section 3.5 of the paper has it."""
    width = cell.array(cell.step.output).shape[-1]
    if cell.step.words["order"] == "halves":
        pair, sine = cell.column % (width // 2), cell.column < width // 2
    else:
        pair, sine = cell.column // 2, cell.column % 2 == 0
    frequency = WAVELENGTH ** (-2 * pair / width)
    angle = cell.row * frequency
    value = math.sin(angle) if sine else math.cos(angle)
    numbers = {"position": float(cell.row), "frequency": frequency, "angle": angle, "sine": float(sine)}
    return Working(value, numbers={**numbers})


def scale(cell: Cell) -> Working:
    """Times a fixed number."""
    (name,) = cell.step.inputs
    factor = cell.step.numbers["scale" if "scale" in cell.step.numbers else "factor"]
    before = cell.value(name)
    return Working(
        before * factor,
        left=np.array([before]),
        right=np.array([factor]),
        sum=before * factor,
        reads=[cell.read(name, cell.row, cell.column)],
    )


def add(cell: Cell) -> Working:
    """Arrays, cell by cell; the last of two may have a learnt factor."""
    values = np.array([cell.value(name) for name in cell.step.inputs])
    factors = np.ones(len(values))
    if cell.step.parameters.weight is not None:
        factors[-1] = float(cell.parameter(cell.step.parameters.weight))
    total = float((values * factors).sum())
    return Working(
        total,
        left=values,
        right=factors,
        labels=cell.step.inputs,
        sum=total,
        reads=[cell.read(name, cell.row, cell.column) for name in cell.step.inputs],
    )


def norm(cell: Cell) -> Working:
    """(x - mean) / deviation, times a gain, plus a shift."""
    (name,) = cell.step.inputs
    parameters, features = cell.step.parameters, cell.vector(name)
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
    total = float(left @ right)
    reads = [cell.read(name, cell.row), Reading(name=parameters.weight or "", row=column)]
    return Working(total + (bias or 0.0), left=left, right=right, sum=total, bias=bias, reads=reads)


def turn(cell: Cell) -> Working:
    """Feature i and feature i + k/2 turn together, by an angle that grows with the position."""
    (name,) = cell.step.inputs
    vector = cell.vector(name)
    half = len(vector) // 2
    pair = cell.column % half
    angle = float(np.float32(cell.row) * np.float32(WAVELENGTH ** (-pair / half)))
    sine = -math.sin(angle) if cell.column < half else math.sin(angle)
    partner = pair + half if cell.column < half else pair
    left, right = vector[[cell.column, partner]], np.array([math.cos(angle), sine])
    total = float(left @ right)
    labels = (str(cell.column), str(partner))
    return Working(
        total,
        left=left,
        right=right,
        labels=labels,
        sum=total,
        numbers={"angle": angle, "position": float(cell.row)},
        reads=[cell.read(name, cell.row, cell.column), cell.read(name, cell.row, partner)],
    )


def compare(cell: Cell) -> Working:
    """A query with a key: a product, or one of the other similarities as a sum over features."""
    queries, keys = cell.step.inputs
    left, right = cell.vector(queries), cell.vector(keys, cell.column)
    numbers: dict[str, float | None] = {}
    factor = cell.step.numbers.get("scale", 1.0)
    match cell.step.operation:
        case "cosine":
            lengths = [max(float(np.linalg.norm(each)), 1e-12) for each in (left, right)]
            numbers = {"query_length": lengths[0], "key_length": lengths[1]}
            left, right = left / lengths[0], right / lengths[1]
        case "bilinear":
            left = left @ cell.parameter(cell.step.parameters.weight)[cell.head or 0].astype(np.float64)
        case "additive":
            left, right = _combine(cell, left, right)
    total = float(left @ right)
    if "scale" in cell.step.numbers:
        numbers["scale"] = factor
    reads = [cell.read(queries, cell.row), cell.read(keys, cell.column)]
    return Working(total * factor, left=left, right=right, sum=total, numbers=numbers, reads=reads)


def mask(cell: Cell) -> Working:
    """A query sees itself and what came before; anything later becomes minus infinity."""
    (name,) = cell.step.inputs
    allowed = cell.column <= cell.row
    before = cell.value(name)
    return Working(
        before if allowed else -math.inf,
        numbers={"input": before, "allowed": float(allowed)},
        reads=[cell.read(name, cell.row, cell.column)],
    )


def softmax(cell: Cell) -> Working:
    """exp of a score as a share of all: keys of one query, words of one position."""
    (name,) = cell.step.inputs
    scores = cell.vector(name)
    best = cell.step.numbers.get("best_keys")
    if best is not None and best < len(scores):
        lowest = np.sort(scores)[-int(best)]
        scores = np.where(scores >= lowest, scores, -np.inf)
    highest = float(scores.max())
    powers = np.exp(scores - highest)
    weights = soften(scores)
    axis = cell.step.axes[-1]
    return Working(
        float(weights[cell.column]),
        left=scores,
        right=powers,
        products=weights,
        labels=cell.texts(axis) if axis in ("source", "target") else _name_words(cell, len(scores)),
        sum=float(powers.sum()),
        numbers={
            "score": float(scores[cell.column]),
            "highest": highest,
            "power": float(powers[cell.column]),
        },
        reads=[cell.read(name, cell.row)],
    )


def mix(cell: Cell) -> Working:
    """Values of all keys, each as much as its weight says."""
    weights, values = cell.step.inputs
    left = cell.vector(weights)
    right = cell.matrix(values)[:, cell.column].astype(np.float64)
    total = float(left @ right)
    place = cell.arrays.map(cell.step.stack or "", cell.step.layer or 0, cell.step.kind)
    labels = None if place is None else cell.texts(place.key.side)
    reads = [cell.read(weights, cell.row), cell.read(values, None, cell.column)]
    return Working(total, left=left, right=right, labels=labels, sum=total, reads=reads)


def join(cell: Cell) -> Working:
    """Heads side by side: nothing is computed."""
    (name,) = cell.step.inputs
    width = cell.array(name).shape[-1]
    head, column = divmod(cell.column, width)
    value = float(cell.array(name)[head, cell.row, column])
    reads = [Reading(name=name, head=head, row=cell.row, column=column)]
    return Working(value, numbers={"head": float(head)}, reads=reads)


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
    total = float(values @ shares)
    texts = cell.texts("source")
    reads = [cell.read(name, None, cell.column)]
    return Working(total, left=values, right=shares, labels=texts, sum=total, reads=reads)


def choose(cell: Cell) -> Working:
    """The id of the likeliest word, of the second, and so on."""
    (name,) = cell.step.inputs
    chances = cell.vector(name)
    order = np.argsort(-chances, kind="stable")
    word = int(order[cell.column])
    numbers: dict[str, float | None] = {"probability": float(chances[word]), "rank": float(cell.column)}
    return Working(float(word), numbers=numbers, reads=[cell.read(name, cell.row, word)])


def _gelu(x: float) -> float:
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))


def _gelu_tanh(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _silu(x: float) -> float:
    return x / (1 + math.exp(-x)) if x > -700 else 0.0


ACTIVATIONS: dict[str, Callable[[float], float]] = {
    "relu": lambda x: max(x, 0.0),
    "gelu": _gelu,
    "gelu-tanh": _gelu_tanh,
    "silu": _silu,
    "tanh": math.tanh,
}

OPERATIONS: dict[str, Callable[[Cell], Working]] = {
    "lookup": look_up,
    "waves": make_waves,
    "scale": scale,
    "add": add,
    "norm": norm,
    "split": split,
    "product": multiply,
    "turn": turn,
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
}


def _combine(cell: Cell, query: Numbers, key: Numbers) -> tuple[Numbers, Numbers]:
    """v and tanh(W q + U k)."""
    parameters, head = cell.step.parameters, cell.head or 0
    weight, key_weight, vector = (
        cell.parameter(name)[head].astype(np.float64)
        for name in (parameters.weight, parameters.key_weight, parameters.vector)
    )
    return vector, np.tanh(weight @ query + key_weight @ key)


def _find_row(table: Numbers, vector: Numbers) -> int:
    """Which row of a small table this is."""
    return int(np.abs(table.astype(np.float64) - vector).sum(axis=1).argmin())


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


def _name_words(cell: Cell, count: int) -> list[str]:
    """Texts of the words that the recording names; numbers for the others."""
    recording = cell.arrays.recording
    known = {} if recording.output is None else dict(recording.output.vocabulary)
    if cell.step.axes[-1] == "vocabulary":
        for tokens in filter(None, (recording.source, recording.target)):
            known |= dict(zip(tokens.ids.tolist(), tokens.texts, strict=True))
    return [make_visible(known[number]) if number in known else str(number) for number in range(count)]
