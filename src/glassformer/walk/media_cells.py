"""The arithmetic of pictures and sounds, for one number at a time: cut, prepend, Fourier, mel, convolve.

In:   a Cell.
Out:  Working.
"""

import math

import numpy as np

from glassformer.walk.types import Reading
from glassformer.walk.working import Cell, Numbers, Working

WINDOW = 2.5  # hops that the window of one column is long
FLOOR = 8.0  # powers of ten below a full tone that count as silence


def cut(cell: Cell) -> Working:
    """A pixel of a patch: a byte, minus a mean, divided by a deviation; usually from -1 to 1."""
    (name,) = cell.step.inputs
    numbers = cell.step.numbers
    size, grid = int(numbers["size"]), int(numbers["grid"])
    channel, place = divmod(cell.column, size * size)
    row = cell.row // grid * size + place // size
    column = cell.row % grid * size + place % size
    at = channel * grid * size + row  # the planes of colours lie one below the other
    byte = float(cell.array(name)[at, column])
    known = cell.step.parameters
    mean, deviation = (float(cell.parameter(each)[channel]) for each in (known.mean, known.vector))
    found = {"byte": byte, "pixel_mean": mean, "pixel_deviation": deviation}
    found |= {"picture_row": float(row), "picture_column": float(column)}
    if numbers["channels"] > 1:
        found["channel"] = float(channel)
    reads = [Reading(name=name, row=at, column=column)]
    return Working((byte / 255 - mean) / deviation, numbers=found, reads=reads)


def prepend(cell: Cell) -> Working:
    """A learned vector in front; all others move one row down."""
    (name,) = cell.step.inputs
    first = cell.step.parameters.weight or ""
    if cell.row == 0:
        value = float(cell.parameter(first)[cell.column])
        return Working(value, reads=[Reading(name=first, column=cell.column)])
    value = float(cell.array(name)[cell.row - 1, cell.column])
    return Working(value, reads=[cell.read(name, cell.row - 1, cell.column)])


def transform(cell: Cell) -> Working:
    """The power of a frequency in a stretch of sound: samples under a Hann window, times a cosine and a sine;
    the terms are those of the cosine."""
    (name,) = cell.step.inputs
    hop = int(cell.step.numbers["hop"])
    size, length = measure_transform(hop)
    start = cell.row * hop - (size - hop) // 2 + (size - length) // 2  # of the stretch that is heard
    samples = cell.array(name)
    heard = np.zeros(length)
    inside = slice(max(0, start), max(0, min(len(samples), start + length)))
    heard[inside.start - start : inside.stop - start] = samples[inside]
    heard *= 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length)
    angle = 2 * np.pi * cell.column * np.arange(length) / size
    cosine, sine = float(heard @ np.cos(angle)), float(heard @ np.sin(angle))
    working = Working.add_up(heard, np.cos(angle), [])
    working.result = (cosine**2 + sine**2) / (length / 4) ** 2
    working.reads = [Reading(name=name, column=inside.start)]
    rate = cell.step.numbers["rate"]
    working.numbers = {
        "hertz": cell.column * rate / size,
        "cosine": cosine,
        "sine": sine,
        "from_second": max(0, start) / rate,
        "to_second": min(len(samples), start + length) / rate,
    }
    return working


def find_loudness(cell: Cell) -> Working:
    """The power in a band of frequencies, on a scale of powers of ten: 0 is silence, 2 a full tone."""
    (name,) = cell.step.inputs
    power, numbers = cell.vector(name), cell.step.numbers
    bands = cell.array(cell.step.output).shape[-1]
    size, _ = measure_transform(int(numbers["hop"]))
    corners = find_bands(bands, numbers["rate"])
    left, middle, right = corners[cell.column : cell.column + 3]
    hertz = np.arange(len(power)) * numbers["rate"] / size
    share = np.minimum((hertz - left) / (middle - left), (right - hertz) / (right - middle)).clip(0)
    labels = [f"{each:.0f} Hz" for each in hertz]
    working = Working.add_up(power, share, [cell.read(name, cell.row)], labels)
    working.result = (math.log10(max(working.result, 10**-FLOOR)) + FLOOR) / 4
    working.numbers = {"from_hertz": float(left), "to_hertz": float(right)}
    return working


def convolve(cell: Cell) -> Working:
    """Three rows, the middle one of which is this row's own, with a matrix for each of them."""
    (name,) = cell.step.inputs
    rows = cell.array(name)
    weight = cell.parameter(cell.step.parameters.weight)[cell.column].astype(np.float64)  # (input, tap)
    middle = cell.row * int(cell.step.numbers["stride"])
    taps = [(tap, middle + tap - 1) for tap in range(3) if 0 <= middle + tap - 1 < len(rows)]
    left = np.concatenate([rows[row].astype(np.float64) for _, row in taps])
    right = np.concatenate([weight[:, tap] for tap, _ in taps])
    labels = [f"{row}, {feature}" for _, row in taps for feature in range(rows.shape[-1])]
    bias = float(cell.parameter(cell.step.parameters.bias)[cell.column])
    return Working.add_up(left, right, [cell.read(name, middle)], labels, bias)


def measure_transform(hop: int) -> tuple[int, int]:
    """Samples of a Fourier transform, and how many of them are heard; the others are silence around them."""
    length = round(WINDOW * hop)
    return 1 << max(5, (length - 1).bit_length()), length


def find_bands(bands: int, rate: float) -> Numbers:
    """Corners of the triangles in hertz: a band goes from one to the next but one."""
    highest = 2595 * math.log10(1 + rate / 2 / 700)
    corners: Numbers = 700 * (10 ** (np.linspace(0, highest, bands + 2) / 2595) - 1)
    return corners
