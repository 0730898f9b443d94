"""The arithmetic of attention, for one number at a time: turn, compare, mask, softmax, mix, join.

In:   a Cell.
Out:  Working.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from glassformer.recording.visible import make_visible
from glassformer.walk.arrays import soften
from glassformer.walk.types import Reading
from glassformer.walk.working import WAVELENGTH, Cell, Numbers, Working, find_place


def turn(cell: Cell) -> Working:
    """Feature i and feature i + k/2 turn together, by an angle that grows with the position."""
    (name,) = cell.step.inputs
    vector = cell.vector(name)
    half = len(vector) // 2
    pair = cell.column % half
    position, turning, pairs = cell.row, pair, half
    if cell.step.words.get("order") == "grid":  # half of the pairs turn with the row, half with the column
        pairs = half // 2
        position, turning = (find_place(cell) or (0, 0))[pair // pairs], pair % pairs
    angle = float(np.float32(position) * np.float32(WAVELENGTH ** (-turning / pairs)))
    sine = -math.sin(angle) if cell.column < half else math.sin(angle)
    partner = pair + half if cell.column < half else pair
    reads = [cell.read(name, cell.row, column) for column in (cell.column, partner)]
    turned = np.array([math.cos(angle), sine])
    labels = (str(cell.column), str(partner))
    working = Working.add_up(vector[[cell.column, partner]], turned, reads, labels)
    return replace(working, numbers={"angle": angle, "position": float(position)})


def fall(cell: Cell) -> Working:
    """Minus the head's slope times the distance (ALiBi)."""
    heads, head, distance = len(cell.array(cell.step.output)), cell.head or 0, abs(cell.row - cell.column)
    smaller = 2 ** (heads.bit_length() - 1)
    # Slopes are powers of 2^(-8/heads); heads beyond a power of two take every second of twice as many.
    power = -8 * (head + 1) / smaller if head < smaller else -4 * (2 * (head - smaller) + 1) / smaller
    slope = 2.0**power
    return Working(-slope * distance, numbers={"slope": slope, "distance": float(distance)})


def compare(cell: Cell) -> Working:
    """A query with a key: a product, or one of the other similarities as a sum over features."""
    queries, keys = cell.step.inputs
    left, right = cell.vector(queries), cell.vector(keys, cell.column)
    head, parameters = cell.head or 0, cell.step.parameters
    numbers: Mapping[str, float] = {}
    match cell.step.operation:
        case "cosine":
            lengths = [max(float(np.linalg.norm(each)), 1e-12) for each in (left, right)]
            numbers = {"query_length": lengths[0], "key_length": lengths[1]}
            left, right = left / lengths[0], right / lengths[1]
        case "bilinear":
            left = left @ cell.parameter(parameters.weight)[head].astype(np.float64)
        case "additive":  # v and tanh(W q + U k)
            names = (parameters.weight, parameters.key_weight, parameters.vector)
            of_query, of_key, vector = (cell.parameter(each)[head].astype(np.float64) for each in names)
            left, right = vector, np.tanh(of_query @ left + of_key @ right)
    reads = [cell.read(queries, cell.row), cell.read(keys, cell.column)]
    working = Working.add_up(left, right, reads)
    if "scale" in cell.step.numbers:  # a model of transformers: scaled and masked in one step
        hidden = cell.value(cell.step.output) == -math.inf
        numbers = {**cell.step.numbers, "allowed": float(not hidden)}
        scaled = working.result * numbers["scale"]
        working.result = -math.inf if hidden else _cap(scaled, numbers.get("cap"))
    return replace(working, numbers=numbers)


def mask(cell: Cell) -> Working:
    """A query sees itself and what came before, with a window near keys only; the others become minus
    infinity."""
    (name,) = cell.step.inputs
    numbers = cell.step.numbers
    allowed = cell.column <= cell.row or not numbers.get("causal", 1.0)
    allowed = allowed and abs(cell.row - cell.column) < numbers.get("window", math.inf)
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
    if "best_keys" in cell.step.numbers:
        scores = _keep_best(scores, int(cell.step.numbers["best_keys"]), cell.vector(cell.step.output))
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
    place = cell.arrays.map(cell.step.stack or "", cell.step.layer or 0, cell.step.kind)
    labels = None if place is None else cell.texts(place.key.side)
    reads = [cell.read(weights, cell.row), cell.read(values, None, cell.column)]
    return Working.add_up(left, right, reads, labels)


def join(cell: Cell) -> Working:
    """Heads side by side: nothing is computed."""
    (name,) = cell.step.inputs
    width = cell.array(name).shape[-1]
    head, column = divmod(cell.column, width)
    value = float(cell.array(name)[head, cell.row, column])
    reads = [Reading(name=name, head=head, row=cell.row, column=column)]
    return Working(value, numbers={"head": float(head)}, reads=reads)


def _cap(score: float, cap: float | None) -> float:
    """c · tanh(x / c), where a model has a soft cap."""
    return score if cap is None else cap * math.tanh(score / cap)


def _keep_best(scores: Numbers, count: int, weights: Numbers) -> Numbers:
    """Minus infinity for all but the k best; of equal ones, those that the network took."""
    order = np.lexsort((-weights, -scores))  # by score, and then by weight
    kept = np.full_like(scores, -np.inf)
    kept[order[:count]] = scores[order[:count]]
    return kept


def _name_words(cell: Cell, count: int) -> list[str]:
    """Texts of the words that the recording names; numbers for the others."""
    recording = cell.arrays.recording
    known = {} if recording.output is None else dict(recording.output.vocabulary)
    if cell.step.axes[-1] == "vocabulary":
        for tokens in filter(None, (recording.source, recording.target)):
            known |= dict(zip(tokens.ids.tolist(), tokens.texts, strict=True))
    return [make_visible(known[number]) if number in known else str(number) for number in range(count)]
